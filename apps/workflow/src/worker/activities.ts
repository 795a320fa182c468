// The verbs of a run, as Temporal calls them. What a definition may catch leaves as a Problem; what may pass, as a Fault, and is
// tried again by Temporal; anything else is a bug of ours.
import { Fault } from '@skerry/fault'
import { activitySignal, isActivityCanceled } from '@skerry/temporal'
import { ApplicationFailure } from '@temporalio/common'

import { limits } from '../durable/scope.ts'
import {
  type FunctionCall,
  type HttpAnswer,
  type HttpCall,
  type Json,
  PROBLEM,
  type Problem,
  type Verbs,
} from '../durable/verbs.ts'
import { referenceIn } from '../values/secrets.ts'
import type { Evaluator } from './evaluate.ts'

/** A call that may be told to stop. */
export interface Calling {
  readonly signal: AbortSignal
  /** Of the run, and not only of this worker: what was begun is to be turned back. */
  readonly isCanceled: () => boolean
}

export interface WorkerWorld
  extends
    Pick<Evaluator, 'evaluate' | 'validate'>,
    Pick<Verbs, 'loadRun' | 'record' | 'beginChild' | 'beginScheduled' | 'endGrant'> {
  /** Throws something with a `problem` for what a definition may catch. */
  callFunction(call: FunctionCall, calling: Calling): Promise<Json>
  callHttp(call: HttpCall, signal: AbortSignal): Promise<HttpAnswer>
  /** A secret of that execution. */
  openSecret(execution: string, name: string): Promise<string>
}

export const makeActivities = (world: WorkerWorld): Verbs => ({
  loadRun: async (run) => world.loadRun(run),
  evaluate: async (ask) => world.evaluate(ask),
  validate: async (schema, value) => world.validate(schema, value),
  record: async (progress) => world.record(progress),
  beginChild: async (child) => caught(async () => world.beginChild(child)),
  beginScheduled: async (schedule, key) => world.beginScheduled(schedule, key),
  endGrant: async (grant) => world.endGrant(grant),
  callFunction: async (call) =>
    caught(async () => {
      const input = await open(world, call.execution, call.input)
      const calling = { signal: activitySignal(), isCanceled: isActivityCanceled }
      const output = await world.callFunction({ ...call, input }, calling)
      if (JSON.stringify(output).length <= limits.valueBytes) return output
      throw new Fault('invalid', `${call.name} gives more than ${limits.valueBytes} bytes`)
    }),
  callHttp: async (call) =>
    caught(async () => {
      const opened = await open(world, call.execution, call as unknown as Json)
      return world.callHttp(opened as unknown as HttpCall, activitySignal())
    }),
})

async function caught<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const problem = problemOf(error)
    if (problem === undefined) throw error
    throw ApplicationFailure.create({
      ...{ type: PROBLEM, nonRetryable: true, details: [problem] },
      message: problem.detail ?? problem.title ?? problem.type,
    })
  }
}

const TYPES = 'https://serverlessworkflow.io/spec/1.0.0/errors/'
const kinds: Readonly<Record<string, readonly [type: string, status: number]>> = {
  invalid: ['validation', 400],
  'not-found': ['configuration', 404],
  gone: ['configuration', 404],
  forbidden: ['authorization', 403],
  unauthenticated: ['authentication', 401],
  conflict: ['runtime', 409],
}

/** What repeating would not mend. */
function problemOf(error: unknown): Problem | undefined {
  if (error instanceof Error && 'problem' in error) return error.problem as Problem
  if (!(error instanceof Fault)) return undefined
  const [type, status] = kinds[error.kind] ?? []
  if (type === undefined || status === undefined) return undefined
  return { type: TYPES + type, status, detail: error.message }
}

/** Puts secrets where their references stand. */
async function open(world: WorkerWorld, execution: string, value: Json): Promise<Json> {
  const name = referenceIn(value)
  if (name !== undefined) return world.openSecret(execution, name)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    return Promise.all(value.map(async (each: Json) => open(world, execution, each)))
  }
  const opened = Object.entries(value).map(async ([key, each]) => [
    key,
    await open(world, execution, each),
  ])
  return Object.fromEntries(await Promise.all(opened)) as Json
}
