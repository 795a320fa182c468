// The thread that expressions and schemas of other people are worked in. It holds nothing; it is ended whenever it takes too long.
import { parentPort } from 'node:worker_threads'

import { Errors } from 'typebox/schema'

import type { Evaluated, Evaluation, Json } from '../durable/verbs.ts'
import { inputOf, programOf, readAnswer, standsWithOthers } from './jq-program.ts'
import { Exceeded, type Jq, type JqLimits, loadJq } from './jq.ts'

export type ThreadWork =
  | { readonly evaluate: Evaluation; readonly limits: JqLimits }
  | { readonly validate: { readonly schema: object; readonly value: Json } }
export type ThreadAnswer =
  | { readonly evaluated: readonly Evaluated[] }
  | { readonly wrong: readonly string[] }
  | { readonly bug: string }

const MOST_COMPLAINTS = 20

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
  // Most of what a run costs is the same for one expression and for ten.
  if (expressions.length > 1 && expressions.every(standsWithOthers)) {
    const together = await run(expressions)
    if (together.every((each) => 'value' in each)) return together
  }
  const alone: Evaluated[] = []
  for (const each of expressions) alone.push(...(await run([each])))
  return alone
}

/** Its patterns are other people's too. */
function validate(schema: object, value: Json): string[] {
  try {
    const [, errors] = Errors(schema, value)
    return errors
      .slice(0, MOST_COMPLAINTS)
      .map(({ instancePath, message }) => `${instancePath === '' ? '/' : instancePath} ${message}`)
  } catch (error) {
    return [`/ could not be looked at, because the schema cannot be used: ${String(error)}`]
  }
}

const port = parentPort
if (port !== null) {
  const jq = await loadJq()
  port.on('message', (work: ThreadWork) => {
    const answer = async (): Promise<ThreadAnswer> =>
      'evaluate' in work
        ? { evaluated: await evaluate(jq, work.evaluate, work.limits) }
        : { wrong: validate(work.validate.schema, work.validate.value) }
    answer().then(
      (done) => port.postMessage(done),
      (error: unknown) => port.postMessage({ bug: String(error) } satisfies ThreadAnswer),
    )
  })
  port.postMessage('ready')
}
