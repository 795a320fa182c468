// The one place where a Fault becomes Temporal's, and Temporal's a Fault. A workflow reads the kind in `failure.type`.
import { Fault, type FaultKind, faultKinds, passing } from '@skerry/fault'
import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  ChildWorkflowFailure,
  TemporalFailure,
  TerminatedFailure,
  TimeoutFailure,
} from '@temporalio/common'

/** The type of a failure that is a bug of ours: it is not tried again, because it would be the same the next time. */
export const BUG = 'bug'

/** For the way out of an activity: only a passing Fault may be tried again. Temporal's own errors go as they are. */
export function toFailure(error: unknown): unknown {
  if (error instanceof TemporalFailure) return error
  if (error instanceof Fault) {
    return ApplicationFailure.create({
      type: error.kind,
      message: error.message,
      nonRetryable: !passing.has(error.kind),
      details: error.hint === undefined ? [] : [{ hint: error.hint }],
      ...(error.cause instanceof Error && { cause: error.cause }),
    })
  }
  return isOfTemporal(error)
    ? error
    : ApplicationFailure.create({
        type: BUG,
        message: 'something went wrong inside; the log says what',
        nonRetryable: true,
        cause: error instanceof Error ? error : new Error(String(error)),
      })
}

/** For the way out of Temporal: what a run or an activity failed with, as a Fault where it was one or means one. */
export function fromFailure(error: unknown): unknown {
  const failure = innermost(error)
  if (failure instanceof ApplicationFailure && isKind(failure.type)) {
    const [detail] = (failure.details ?? []) as [{ hint?: string }?]
    const hint = detail?.hint
    return new Fault(failure.type, failure.message, {
      cause: error,
      ...(hint !== undefined && { hint }),
    })
  }
  if (failure instanceof TimeoutFailure) {
    return new Fault('timed-out', 'it did not end in time', { cause: error })
  }
  if (failure instanceof CancelledFailure || failure instanceof TerminatedFailure) {
    return new Fault('canceled', 'it was asked to stop', { cause: error })
  }
  return error
}

/** Temporal wraps a failure once for each level that it came through. */
function innermost(error: unknown): unknown {
  const wraps =
    error instanceof ActivityFailure ||
    error instanceof ChildWorkflowFailure ||
    (error instanceof Error && error.name === 'WorkflowFailedError')
  return wraps && error.cause !== undefined ? innermost(error.cause) : error
}

/** An activity that will be completed by somebody else says so by an error. */
function isOfTemporal(error: unknown): boolean {
  return error instanceof Error && error.name === 'CompleteAsyncError'
}

function isKind(type: string | null | undefined): type is FaultKind {
  return (faultKinds as readonly unknown[]).includes(type)
}
