// The thread for untrusted expressions and schemas. It holds no data, and is terminated whenever it takes too long.
import { parentPort } from 'node:worker_threads'

import { findInvalid } from './find-invalid.ts'
import { inputOf, programOf, readAnswer, standsWithOthers } from './jq-program.ts'
import { Exceeded, type Jq, type JqLimits, loadJq } from './jq.ts'
import type { Evaluated, Evaluation, InvalidValue, Json } from './json.ts'

export type ThreadWork =
  | { readonly evaluate: Evaluation; readonly limits: JqLimits }
  | { readonly validate: { readonly schema: object; readonly value: Json } }
export type ThreadAnswer =
  | { readonly evaluated: readonly Evaluated[] }
  | { readonly invalid: readonly InvalidValue[] }
  | { readonly bug: string }

async function evaluate(jq: Jq, ask: Evaluation, limits: JqLimits): Promise<Evaluated[]> {
  const { expressions } = ask
  const input = inputOf(ask)
  const run = async (these: readonly string[]): Promise<Evaluated[]> => {
    try {
      const program = programOf(these, Object.keys(ask.variables))
      return readAnswer(these.length, await jq(program, input, limits))
    } catch (error) {
      if (!(error instanceof Exceeded)) throw error
      return these.map(() => ({ wrong: error.message }))
    }
  }
  // Most of the cost is per run, not per expression: run them together if possible.
  if (expressions.length > 1 && expressions.every(standsWithOthers)) {
    const together = await run(expressions)
    if (together.every((each) => 'value' in each)) return together
  }
  const alone: Evaluated[] = []
  for (const each of expressions) alone.push(...(await run([each])))
  return alone
}

const port = parentPort
if (port !== null) {
  const jq = await loadJq()
  port.on('message', (work: ThreadWork) => {
    const answer = async (): Promise<ThreadAnswer> =>
      'evaluate' in work
        ? { evaluated: await evaluate(jq, work.evaluate, work.limits) }
        : { invalid: findInvalid(work.validate.schema, work.validate.value) }
    answer().then(
      (done) => port.postMessage(done),
      (error: unknown) => port.postMessage({ bug: String(error) } satisfies ThreadAnswer),
    )
  })
  port.postMessage('ready')
}
