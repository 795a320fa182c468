import { Fault } from '@skerry/fault'

export const operators = ['==', '!=', '=lt=', '=le=', '=gt=', '=ge='] as const
export type Operator = (typeof operators)[number]

export interface Comparison {
  readonly field: string
  readonly is: Operator
  /** The parts between its wildcards; a single part has no wildcard. */
  readonly value: readonly string[]
  /** Its position in the text, from 1. */
  readonly column: number
}

/** A filter as data. Client input never becomes SQL. */
export type Filter =
  | { readonly any: readonly Filter[] }
  | { readonly all: readonly Filter[] }
  | Comparison

const DEPTH_MAX = 16
const LENGTH_MAX = 4096

/**
 * status==POWERED_ON;(name==a*,name==b): `;` is "and" and binds tighter than `,`, which is "or". A backslash escapes the
 * next character. `encoded`: values are percent-encoded once more, as older clients do to hide parentheses in names.
 */
export function parseFilter(text: string, { encoded = false } = {}): Filter {
  if (text.length > LENGTH_MAX) {
    throw new Fault('invalid', `a filter can have at most ${LENGTH_MAX} characters`)
  }
  const reader = new FilterReader(text, encoded)
  const filter = reader.any(0)
  reader.end()
  return filter
}

class FilterReader {
  readonly #text: string
  readonly #encoded: boolean
  #at = 0

  constructor(text: string, encoded: boolean) {
    this.#text = text
    this.#encoded = encoded
  }

  any(depth: number): Filter {
    const parts = [this.#all(depth)]
    while (this.#take(',')) parts.push(this.#all(depth))
    return parts.length === 1 ? (parts[0] as Filter) : { any: parts }
  }

  end(): void {
    if (this.#at < this.#text.length) throw this.#wrong('expected the end of the filter')
  }

  #all(depth: number): Filter {
    const parts = [this.#term(depth)]
    while (this.#take(';')) parts.push(this.#term(depth))
    return parts.length === 1 ? (parts[0] as Filter) : { all: parts }
  }

  #term(depth: number): Filter {
    if (depth > DEPTH_MAX) throw this.#wrong('parentheses nested too deeply')
    if (!this.#take('(')) return this.#comparison()
    const inside = this.any(depth + 1)
    if (!this.#take(')')) throw this.#wrong('expected a closing parenthesis')
    return inside
  }

  #comparison(): Comparison {
    const column = this.#at + 1
    const rest = this.#text.slice(this.#at)
    const field = /^[A-Za-z]\w*/.exec(rest)?.[0]
    if (field === undefined) throw this.#wrong('expected the name of an attribute')
    const is = operators.find((each) => rest.startsWith(each, field.length))
    this.#at += field.length
    if (is === undefined) throw this.#wrong(`expected one of ${operators.join(' ')}`)
    this.#at += is.length
    const value = this.#value()
    if (value.some((part) => part.includes('\0'))) {
      throw new Fault(
        'invalid',
        `filter, column ${column}: a value must not contain the character U+0000`,
      )
    }
    return { field, is, value, column }
  }

  #value(): readonly string[] {
    const parts = ['']
    for (;;) {
      const next = this.#text[this.#at]
      if (next === undefined || '(),;'.includes(next)) return this.#decoded(parts)
      this.#at += 1
      if (next === '*') parts.push('')
      else if (next !== '\\') parts.push(parts.pop() + next)
      else {
        const escaped = this.#text[this.#at]
        if (escaped === undefined) throw this.#wrong('expected a character after \\')
        this.#at += 1
        parts.push(parts.pop() + escaped)
      }
    }
  }

  #decoded(parts: readonly string[]): readonly string[] {
    if (!this.#encoded) return parts
    try {
      return parts.map((part) => decodeURIComponent(part))
    } catch {
      throw this.#wrong(
        'the value before it is not percent-encoded, although filterEncoded is true',
      )
    }
  }

  #take(sign: string): boolean {
    if (this.#text[this.#at] !== sign) return false
    this.#at += 1
    return true
  }

  #wrong(expected: string): Fault {
    return new Fault('invalid', `filter, column ${this.#at + 1}: ${expected}`)
  }
}
