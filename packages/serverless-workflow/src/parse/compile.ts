import type { Evaluator } from '@skerry/jq'

import { DEFINITION_LIMITS } from '../definition/limits.ts'
import type { FoundExpression } from './linter.ts'

/** How many expressions to compile in one program, which must fit on jq's stack. */
const BATCH = 20
const BATCH_LENGTH = 4000

/** Compiles expressions with jq without running them: each is inside a condition that is false for null. Returns jq's errors. */
export async function whyNotCompiled(
  expressions: readonly FoundExpression[],
  evaluate: Evaluator['evaluate'],
): Promise<{ readonly at: string; readonly message: string }[]> {
  const errors: { at: string; message: string }[] = []
  for (const batch of batches(expressions)) {
    const programs = batch.map(({ program }) => `if . then (\n${program}\n) else null end`)
    const variables = Object.fromEntries(batch.flatMap(({ program }) => namesIn(program)))
    const answers = await evaluate({ expressions: programs, on: null, variables })
    for (const [index, { at }] of batch.entries()) {
      const answer = answers[index]
      if (answer === undefined || 'wrong' in answer)
        errors.push({
          at,
          message: `jq cannot compile the expression: ${answer?.wrong ?? 'no result'}`,
        })
    }
    if (errors.length >= DEFINITION_LIMITS.complaints) break
  }
  return errors.slice(0, DEFINITION_LIMITS.complaints)
}

/** Defines every variable name as null: jq cannot know which ones a task sees, and values do not matter here. */
const namesIn = (program: string): (readonly [string, null])[] =>
  [...program.matchAll(/\$([A-Za-z_]\w*)/g)].flatMap(([, name = '']) =>
    name === '__loc__' || name === 'ENV' ? [] : [[name, null] as const],
  )

/** Groups expressions that can be compiled together; those with comments or escapes are compiled alone. */
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
