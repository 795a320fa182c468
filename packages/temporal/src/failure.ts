// The one place that converts Faults to Temporal failures. A workflow reads the kind from `failure.type`.
import { Fault, retryableKinds } from '@skerry/fault'
import { ApplicationFailure, TemporalFailure } from '@temporalio/common'

/** The failure type of a bug in our code: it is not retried, because it would fail again. */
export const BUG = 'bug'

/** Converts an error of an activity: only a retryable Fault is retried. Temporal's own errors stay unchanged. */
export function toFailure(error: unknown): unknown {
  if (error instanceof TemporalFailure) return error
  if (error instanceof Fault) {
    return ApplicationFailure.create({
      type: error.kind,
      message: error.message,
      nonRetryable: !retryableKinds.has(error.kind),
      details: error.hint === undefined ? [] : [{ hint: error.hint }],
      ...(error.cause instanceof Error && { cause: error.cause }),
    })
  }
  return isOfTemporal(error)
    ? error
    : ApplicationFailure.create({
        type: BUG,
        message: 'internal error; see the log',
        nonRetryable: true,
        cause: error instanceof Error ? error : new Error(String(error)),
      })
}

/** An activity that is completed asynchronously throws this error. */
function isOfTemporal(error: unknown): boolean {
  return error instanceof Error && error.name === 'CompleteAsyncError'
}
