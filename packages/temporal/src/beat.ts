// Wraps every activity: sends heartbeats while it runs, and converts its Fault to a Temporal failure.
import { Fault } from '@skerry/fault'
import type { Context } from '@temporalio/activity'
import type { ActivityInterceptorsFactory } from '@temporalio/worker'

import { toFailure } from './failure.ts'

const BEAT_MS = 2_000

/**
 * A long step without a heartbeat for 8 s is taken over by another worker, so heartbeats are sent every 2 s independently of the step.
 * Each heartbeat also returns whether the step was canceled. `failed` receives every error in full, for the log.
 */
export function aroundActivities(
  failed: (error: unknown, activity: string) => void,
): ActivityInterceptorsFactory {
  return (context) => ({
    inbound: {
      async execute(input, next) {
        const beat = startBeat(context)
        try {
          return await next(input)
        } catch (error) {
          if (isStopping(context))
            throw toFailure(new Fault('unavailable', 'the worker is stopping'))
          if (isCancelRequested(context, error)) throw error
          failed(error, context.info.activityType)
          throw toFailure(error)
        } finally {
          clearInterval(beat)
        }
      },
    },
  })
}

/** Any failure of a step while its worker is stopping is retried by another worker. */
function isStopping({ cancellationSignal, cancellationDetails }: Context): boolean {
  return cancellationSignal.aborted && cancellationDetails?.workerShutdown === true
}

/** A canceled step that ends with the signal's own error is canceled for Temporal too. */
function isCancelRequested({ cancellationSignal }: Context, error: unknown): boolean {
  return cancellationSignal.aborted && error instanceof Error && error.name === 'AbortError'
}

function startBeat(context: Context): NodeJS.Timeout | undefined {
  const { isLocal, heartbeatTimeoutMs } = context.info
  if (isLocal || heartbeatTimeoutMs === undefined) return undefined
  return setInterval(() => context.heartbeat(), BEAT_MS)
}
