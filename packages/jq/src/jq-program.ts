import type { JqEnd } from './jq.ts'
// Converts expressions to a jq program, and its output to values.
import type { Evaluated, Evaluation, Json } from './json.ts'

/**
 * One program for these expressions. Its input is `{ d, v }`, the data and the variables; its output is a list with the list of
 * values of each expression. Each expression is on its own lines, because it may end with a comment.
 */
export function programOf(expressions: readonly string[], variables: readonly string[]): string {
  const bound = variables.map((name) => `${name}: $${name}`).join(', ')
  const given = variables.length === 0 ? '' : `.v as {${bound}} | `
  return `${given}.d | [${expressions.map((each) => `[\n${each}\n]`).join(', ')}]`
}

/** The input of that program. */
export const inputOf = ({ on, variables }: Evaluation): string =>
  JSON.stringify({ d: on, v: variables })

/**
 * Whether it can share a program with other expressions: its brackets are balanced. An expression with escapes or comments, which
 * would need real parsing, runs alone.
 */
export function standsWithOthers(expression: string): boolean {
  if (/[#\\]|^\s*(import|include)\b/.test(expression)) return false
  const closing: string[] = []
  let text = false
  for (const sign of expression) {
    if (sign === '"') text = !text
    else if (text) continue
    else if (sign === '(' || sign === '[' || sign === '{') closing.push(pairs[sign])
    else if ((sign === ')' || sign === ']' || sign === '}') && closing.pop() !== sign) return false
  }
  return !text && closing.length === 0
}
const pairs = { '(': ')', '[': ']', '{': '}' } as const

/** No value: null. One value: itself. Several values: a list of them. */
export function readAnswer(count: number, { status, output, errors }: JqEnd): Evaluated[] {
  if (status !== 0) {
    return Array.from({ length: count }, () => ({ wrong: plainly(errors) }))
  }
  const lists = output === '' ? [] : parsed(output)
  if (lists === undefined) {
    return Array.from({ length: count }, () => ({ wrong: 'the value is nested too deeply' }))
  }
  return Array.from({ length: count }, (_, n) => {
    const values = lists[n] ?? []
    return {
      value: values.length === 1 ? (values[0] ?? null) : values.length === 0 ? null : values,
    }
  })
}

/** jq replaces what is nested deeper than 256 levels with text that is not JSON. */
function parsed(output: string): Json[][] | undefined {
  try {
    return JSON.parse(output) as Json[][]
  } catch {
    return undefined
  }
}

/** jq's message without its positions. */
const plainly = (errors: string): string => {
  const text = errors
    .replaceAll(/^jq: (error|1 compile error|\d+ compile errors)( \(at [^)]*\))?:? ?/gm, '')
    .replaceAll(/ \(Unix shell quoting issues\?\)| at <top-level>, line \d+:/g, '')
    .trim()
  const [first = ''] = text.split('\n')
  return first === '' ? 'the expression was terminated' : first.slice(0, 500)
}
