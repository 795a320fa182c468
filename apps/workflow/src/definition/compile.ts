import type { Verbs } from '../durable/verbs.ts'
import { DEFINITION_LIMITS } from './limits.ts'
import type { FoundExpression } from './look.ts'

/** Together in one program, which has to fit on jq's stack. */
const BATCH = 20
const BATCH_LENGTH = 4000

/** What jq itself says against expressions, without running any: each stands behind a condition that null does not meet. */
export async function whyNotCompiled(
  expressions: readonly FoundExpression[],
  evaluate: Verbs['evaluate'],
): Promise<{ readonly at: string; readonly message: string }[]> {
  const said: { at: string; message: string }[] = []
  for (const batch of batches(expressions)) {
    const programs = batch.map(({ program }) => `if . then (\n${program}\n) else null end`)
    const variables = Object.fromEntries(batch.flatMap(({ program }) => namesIn(program)))
    const answers = await evaluate({ expressions: programs, on: null, variables })
    for (const [index, { at }] of batch.entries()) {
      const answer = answers[index]
      if (answer === undefined || 'wrong' in answer)
        said.push({
          at,
          message: `jq can not read the expression: ${answer?.wrong ?? 'no answer'}`,
        })
    }
    if (said.length >= DEFINITION_LIMITS.complaints) break
  }
  return said.slice(0, DEFINITION_LIMITS.complaints)
}

/** Every name is there, for which ones a task sees is not jq's to know; the value is of no account. */
const namesIn = (program: string): (readonly [string, null])[] =>
  [...program.matchAll(/\$([A-Za-z_]\w*)/g)].flatMap(([, name = '']) =>
    name === '__loc__' || name === 'ENV' ? [] : [[name, null] as const],
  )

/** Those that can be compiled together first: what has comments or escapes in it is compiled alone. */
function batches(expressions: readonly FoundExpression[]): FoundExpression[][] {
  const found: FoundExpression[][] = []
  let length = 0
  for (const each of expressions.filter(({ program }) => !/[#\\]/.test(program))) {
    const open = found.at(-1)
    length += each.program.length
    if (open === undefined || open.length >= BATCH || length > BATCH_LENGTH) {
      found.push([each])
      length = each.program.length
    } else open.push(each)
  }
  return [
    ...found,
    ...expressions.filter(({ program }) => /[#\\]/.test(program)).map((each) => [each]),
  ]
}
