// From expressions to a program of jq, and from its end to values.
import type { Evaluated, Evaluation, Json } from '../durable/verbs.ts'
import type { JqEnd } from './jq.ts'

/**
 * One program for these expressions. It gets `{ d, v }`, the data and the variables, and answers a list with the list of values of
 * each expression. An expression stands on lines of its own, because it may end in a comment.
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
 * May it stand in one program with others? It does if its brackets close; a text or a comment that would have to be understood
 * for this is not looked at closer: such an expression is run alone.
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

/** None: null. One: itself. Several: the list of them. */
export function readAnswer(count: number, { status, output, said }: JqEnd): Evaluated[] {
  if (status !== 0) {
    return Array.from({ length: count }, () => ({ wrong: plainly(said) }))
  }
  const lists = output === '' ? [] : parsed(output)
  if (lists === undefined) {
    return Array.from({ length: count }, () => ({ wrong: 'the value is nested too deep' }))
  }
  return Array.from({ length: count }, (_, n) => {
    const values = lists[n] ?? []
    return {
      value: values.length === 1 ? (values[0] ?? null) : values.length === 0 ? null : values,
    }
  })
}

/** jq leaves out what is nested deeper than 256 levels, with a word that is no JSON. */
function parsed(output: string): Json[][] | undefined {
  try {
    return JSON.parse(output) as Json[][]
  } catch {
    return undefined
  }
}

/** jq's words without where it thinks that it stands. */
const plainly = (said: string): string => {
  const text = said
    .replaceAll(/^jq: (error|1 compile error|\d+ compile errors)( \(at [^)]*\))?:? ?/gm, '')
    .replaceAll(/ \(Unix shell quoting issues\?\)| at <top-level>, line \d+:/g, '')
    .trim()
  const [first = ''] = text.split('\n')
  return first === '' ? 'the expression was ended' : first.slice(0, 500)
}
