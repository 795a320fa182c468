/**
 * Regular expressions of other people, matched in time that grows with pattern times text, whatever both are: all ways are gone at
 * once, one character after the other, and none is ever gone back. What can not be done so (references to groups, looking around)
 * is not taken.
 */
export interface Pattern {
  /** How much one character costs. */
  readonly states: number
  /** Is there a part of the text that fits? */
  fits(text: string): boolean
}

const MOST_STATES = 2000
const MOST_DEPTH = 50

type Test = (character: number) => boolean
type Part =
  | { readonly is: 'one'; readonly test: Test }
  | { readonly is: 'edge'; readonly at: 'start' | 'end' }
  | { readonly is: 'all'; readonly parts: readonly Part[] }
  | { readonly is: 'any'; readonly parts: readonly Part[] }
  | { readonly is: 'repeat'; readonly part: Part; readonly least: number; readonly most: number }

class Wrong extends Error {}

/** The pattern, or why it is none that we take. */
export function readPattern(source: string): Pattern | string {
  try {
    return compile(new Reader(source).whole())
  } catch (error) {
    if (error instanceof Wrong) return error.message
    throw error
  }
}

const classes: Readonly<Record<string, Test>> = {
  d: (c) => c >= 48 && c <= 57,
  w: (c) => (c >= 48 && c <= 57) || (c >= 65 && c <= 90) || c === 95 || (c >= 97 && c <= 122),
  s: (c) => /\s/.test(String.fromCodePoint(c)),
}
const controls: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13, 0: 0 }
const isLineEnd: Test = (c) => c === 10 || c === 13 || c === 0x2028 || c === 0x2029

/** Reads the syntax that JSON Schema recommends, and a little more. */
class Reader {
  private readonly signs: readonly string[]
  private at = 0

  constructor(source: string) {
    this.signs = Array.from(source)
  }

  whole(): Part {
    const part = this.choice(0)
    if (this.at < this.signs.length) throw new Wrong(`a ) too many at character ${this.at + 1}`)
    return part
  }

  private choice(depth: number): Part {
    if (depth > MOST_DEPTH) throw new Wrong(`more than ${MOST_DEPTH} groups inside of each other`)
    const parts = [this.sequence(depth)]
    while (this.take('|')) parts.push(this.sequence(depth))
    return parts.length === 1 ? parts[0]! : { is: 'any', parts }
  }

  private sequence(depth: number): Part {
    const parts: Part[] = []
    while (this.at < this.signs.length && this.sign !== '|' && this.sign !== ')')
      parts.push(this.repeated(this.single(depth)))
    return { is: 'all', parts }
  }

  private single(depth: number): Part {
    const sign = this.next()
    if (sign === '^') return { is: 'edge', at: 'start' }
    if (sign === '$') return { is: 'edge', at: 'end' }
    if (sign === '.') return { is: 'one', test: (c) => !isLineEnd(c) }
    if (sign === '[') return { is: 'one', test: this.set() }
    if (sign === '(') return this.group(depth)
    if (sign === '\\') return { is: 'one', test: this.escape() }
    if ('*+?{}]'.includes(sign)) throw new Wrong(`nothing before ${sign} at character ${this.at}`)
    return { is: 'one', test: equals(sign.codePointAt(0) ?? 0) }
  }

  private group(depth: number): Part {
    if (this.take('?') && !this.take(':'))
      throw new Wrong('of groups with (? only (?: is taken: no looking around, no names')
    const part = this.choice(depth + 1)
    if (!this.take(')')) throw new Wrong('a ) is missing')
    return part
  }

  private repeated(part: Part): Part {
    const [least, most] = this.times() ?? []
    if (least === undefined || most === undefined) return part
    if (part.is === 'edge') throw new Wrong('^ and $ can not be repeated')
    // Whether as much or as little as possible makes no difference to whether it fits.
    this.take('?')
    if (this.times() !== undefined) throw new Wrong(`nothing to repeat at character ${this.at}`)
    return { is: 'repeat', part, least, most }
  }

  private times(): readonly [least: number, most: number] | undefined {
    if (this.take('*')) return [0, Infinity]
    if (this.take('+')) return [1, Infinity]
    if (this.take('?')) return [0, 1]
    if (!this.take('{')) return undefined
    const least = this.digits()
    const comma = this.take(',')
    const most = comma ? this.digits(Infinity) : least
    if (!this.take('}') || most < least) throw new Wrong('expected {2}, {2,} or {2,5}')
    return [least, most]
  }

  private digits(otherwise?: number): number {
    let digits = ''
    while (/^\d$/.test(this.sign) && digits.length < 6) digits += this.next()
    if (digits === '' && otherwise === undefined) throw new Wrong('expected a number after {')
    return digits === '' ? (otherwise ?? 0) : Number(digits)
  }

  private set(): Test {
    const negated = this.take('^')
    const tests: Test[] = []
    while (this.at < this.signs.length && this.sign !== ']') {
      const from = this.member()
      const isRange =
        this.sign === '-' && this.signs[this.at + 1] !== ']' && typeof from === 'number'
      if (!isRange) {
        tests.push(typeof from === 'number' ? equals(from) : from)
        continue
      }
      this.at += 1
      const to = this.member()
      if (typeof to !== 'number' || to < from) throw new Wrong('a range that goes backwards')
      tests.push((c) => c >= from && c <= to)
    }
    if (!this.take(']')) throw new Wrong('a ] is missing')
    return (c) => tests.some((test) => test(c)) !== negated
  }

  private member(): number | Test {
    const sign = this.next()
    if (sign !== '\\') return sign.codePointAt(0) ?? 0
    if (this.take('b')) return 8
    return this.take('-') ? 45 : this.escaped()
  }

  private escape(): Test {
    const found = this.escaped()
    return typeof found === 'number' ? equals(found) : found
  }

  private escaped(): number | Test {
    const sign = this.next()
    const lower = sign.toLowerCase()
    const known = Object.hasOwn(classes, lower) ? classes[lower] : undefined
    if (known !== undefined) return sign === lower ? known : (c) => !known(c)
    if (Object.hasOwn(controls, sign)) return controls[sign] ?? 0
    if (sign === 'x') return this.hexadecimal(2)
    if (sign === 'u') return this.hexadecimal(4)
    if (/^[A-Za-z0-9]$/.test(sign)) throw new Wrong(`\\${sign} is not taken`)
    return sign.codePointAt(0) ?? 0
  }

  private hexadecimal(length: number): number {
    const digits = this.signs.slice(this.at, this.at + length).join('')
    if (!/^[0-9a-f]+$/i.test(digits) || digits.length !== length)
      throw new Wrong(`expected ${length} hexadecimal digits`)
    this.at += length
    return Number.parseInt(digits, 16)
  }

  private get sign(): string {
    return this.signs[this.at] ?? ''
  }
  private take(sign: string): boolean {
    if (this.signs[this.at] !== sign) return false
    this.at += 1
    return true
  }
  private next(): string {
    const sign = this.signs[this.at]
    if (sign === undefined) throw new Wrong('it ends in the middle')
    this.at += 1
    return sign
  }
}

const equals =
  (code: number): Test =>
  (c) =>
    c === code

type State =
  | { readonly test: Test; readonly next: number }
  | { readonly edge: 'start' | 'end'; readonly next: number }
  | { split: readonly number[] }

/** Built from its end; state 0 is that it fits. */
function compile(part: Part): Pattern {
  const states: State[] = [{ split: [] }]
  const add = (state: State): number => {
    if (states.length >= MOST_STATES)
      throw new Wrong('it is too large when its repetitions are written out')
    return states.push(state) - 1
  }
  const before = (each: Part, next: number): number => {
    if (each.is === 'one') return add({ test: each.test, next })
    if (each.is === 'edge') return add({ edge: each.at, next })
    if (each.is === 'all')
      return each.parts.reduceRight((after, inner) => before(inner, after), next)
    if (each.is === 'any') return add({ split: each.parts.map((inner) => before(inner, next)) })
    return repeat(each.part, each.least, each.most, next)
  }
  const repeat = (inner: Part, least: number, most: number, next: number): number => {
    let entry = next
    if (most === Infinity) {
      const loop: State = { split: [] }
      entry = add(loop)
      loop.split = [before(inner, entry), next]
    } else
      for (let more = least; more < most; more += 1)
        entry = add({ split: [before(inner, entry), next] })
    for (let more = 0; more < least; more += 1) entry = before(inner, entry)
    return entry
  }
  const first = before(part, 0)
  return { states: states.length, fits: (text) => walk(states, first, text) }
}

function walk(states: readonly State[], first: number, text: string): boolean {
  const characters = Array.from(text, (character) => character.codePointAt(0) ?? 0)
  const seenAt = new Int32Array(states.length).fill(-1)
  let here: number[] = [first]
  for (let at = 0; at <= characters.length; at += 1) {
    const next: number[] = [first]
    const open = here
    for (let state = open.pop(); state !== undefined; state = open.pop()) {
      if (state === 0) return true
      if (seenAt[state] === at) continue
      seenAt[state] = at
      const found = states[state]!
      if ('split' in found) open.push(...found.split)
      else if ('edge' in found) {
        if (at === (found.edge === 'start' ? 0 : characters.length)) open.push(found.next)
      } else if (at < characters.length && found.test(characters[at]!)) next.push(found.next)
    }
    here = next
  }
  return false
}
