import type { RaisedError, RaiseTask } from '../dsl.ts'
import { raise, Raised } from '../problem.ts'
import { type TaskRunner, fill } from '../scope.ts'
import type { Problem } from '../verbs.ts'

export const doRaise: TaskRunner<RaiseTask> = async ({ raise: { error } }, here) => {
  const { place, running, input } = here
  const found = typeof error === 'string' ? running.use.errors?.[error] : error
  if (found === undefined)
    throw raise('configuration', place, `no error ${textOf(error)} in use.errors`)
  const filled = (await fill(here, input, found)) as Readonly<Record<keyof RaisedError, unknown>>
  const texts = (['title', 'detail'] as const).flatMap((key) =>
    filled[key] === undefined ? [] : [[key, textOf(filled[key])] as const],
  )
  const problem: Problem = {
    type: textOf(filled.type),
    status: Number(filled.status),
    ...Object.fromEntries(texts),
    instance: filled.instance === undefined ? place : textOf(filled.instance),
  }
  throw new Raised(problem)
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value ?? null)
