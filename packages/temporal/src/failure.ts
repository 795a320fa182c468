// The one place that converts Faults to Temporal failures and back. A workflow reads the kind from `failure.type`.
import { Fault, type FaultKind, faultKinds, retryableKinds } from '@skerry/fault'
import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  ChildWorkflowFailure,
  TemporalFailure,
  TerminatedFailure,
  TimeoutFailure,
} from '@temporalio/common'

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

/** Converts the failure of a run or activity to a Fault if it was one or corresponds to one. */
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
    return new Fault('timed-out', 'timed out', { cause: error })
  }
  if (failure instanceof CancelledFailure || failure instanceof TerminatedFailure) {
    return new Fault('canceled', 'the run was canceled', { cause: error })
  }
  return error
}

/** Temporal wraps a failure once per level. */
function innermost(error: unknown): unknown {
  const wraps =
    error instanceof ActivityFailure ||
    error instanceof ChildWorkflowFailure ||
    (error instanceof Error && error.name === 'WorkflowFailedError')
  return wraps && error.cause !== undefined ? innermost(error.cause) : error
}

/** An activity that is completed asynchronously throws this error. */
function isOfTemporal(error: unknown): boolean {
  return error instanceof Error && error.name === 'CompleteAsyncError'
}

function isKind(type: string | null | undefined): type is FaultKind {
  return (faultKinds as readonly unknown[]).includes(type)
}
