// The activities of a run. Errors that a definition may catch are thrown as a Problem; retryable errors as a Fault, which Temporal
// retries; anything else is a bug.
import { Fault } from '@skerry/fault'
import type { Evaluator } from '@skerry/jq'
import {
  ERROR_TYPES,
  RUN_LIMITS,
  type FunctionCall,
  type HttpAnswer,
  type HttpCall,
  type Json,
  type Problem,
} from '@skerry/serverless-workflow'
import { activitySignal, isActivityCanceled } from '@skerry/temporal'
import { ApplicationFailure } from '@temporalio/common'

import { PROBLEM, type RunActivities } from '../durable/run-activities.ts'
import { referenceIn } from '../values/secrets.ts'

/** A call that can be stopped. */
export interface ActivityCall {
  readonly signal: AbortSignal
  /** Whether the run was canceled, not only this worker stopped: then the task must be rolled back. */
  readonly isCanceled: () => boolean
}

export interface WorkflowWorkerContext
  extends
    Pick<Evaluator, 'evaluate' | 'validate'>,
    Pick<RunActivities, 'loadRun' | 'record' | 'beginChild' | 'beginScheduled' | 'endGrant'> {
  /** Throws an error with a `problem` for what a definition may catch. */
  callFunction(call: FunctionCall, calling: ActivityCall): Promise<Json>
  callHttp(call: HttpCall, signal: AbortSignal): Promise<HttpAnswer>
  /** Opens a secret of that execution. */
  openSecret(execution: string, name: string): Promise<string>
}

export const makeActivities = (context: WorkflowWorkerContext): RunActivities => ({
  loadRun: async (run) => context.loadRun(run),
  evaluate: async (ask) => context.evaluate(ask),
  validate: async (schema, value) => context.validate(schema, value),
  record: async (progress) => context.record(progress),
  beginChild: async (child) => withProblems(async () => context.beginChild(child)),
  beginScheduled: async (schedule, key) => context.beginScheduled(schedule, key),
  endGrant: async (grant) => context.endGrant(grant),
  callFunction: async (call) =>
    withProblems(async () => {
      const input = await open(context, call.execution, call.input)
      const calling = { signal: activitySignal(), isCanceled: isActivityCanceled }
      const output = await context.callFunction({ ...call, input }, calling)
      if (JSON.stringify(output).length <= RUN_LIMITS.valueBytes) return output
      throw new Fault('invalid', `${call.name} returned more than ${RUN_LIMITS.valueBytes} bytes`)
    }),
  callHttp: async (call) =>
    withProblems(async () => {
      const opened = await open(context, call.execution, call as unknown as Json)
      return context.callHttp(opened as unknown as HttpCall, activitySignal())
    }),
})

async function withProblems<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const problem = problemOf(error)
    if (problem === undefined) throw error
    throw ApplicationFailure.create({
      type: PROBLEM,
      nonRetryable: true,
      details: [problem],
      message: problem.detail ?? problem.title ?? problem.type,
    })
  }
}

const kinds: Readonly<Record<string, readonly [type: string, status: number]>> = {
  invalid: ['validation', 400],
  'not-found': ['configuration', 404],
  gone: ['configuration', 404],
  forbidden: ['authorization', 403],
  unauthenticated: ['authentication', 401],
  conflict: ['runtime', 409],
}

/** Errors that a retry would not fix. */
function problemOf(error: unknown): Problem | undefined {
  if (error instanceof Error && 'problem' in error) return error.problem as Problem
  if (!(error instanceof Fault)) return undefined
  const [type, status] = kinds[error.kind] ?? []
  if (type === undefined || status === undefined) return undefined
  return { type: ERROR_TYPES + type, status, detail: error.message }
}

/** Replaces references with their secrets. */
async function open(context: WorkflowWorkerContext, execution: string, value: Json): Promise<Json> {
  const name = referenceIn(value)
  if (name !== undefined) return context.openSecret(execution, name)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    return Promise.all(value.map(async (each: Json) => open(context, execution, each)))
  }
  const opened = Object.entries(value).map(async ([key, each]) => [
    key,
    await open(context, execution, each),
  ])
  return Object.fromEntries(await Promise.all(opened)) as Json
}
