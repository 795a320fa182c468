// Around every activity: a beat while it works, and its Fault in Temporal's words when it fails.
import { Fault } from '@skerry/fault'
import type { Context } from '@temporalio/activity'
import type { ActivityInterceptorsFactory } from '@temporalio/worker'

import { toFailure } from './failure.ts'

const BEAT_MS = 2_000

/**
 * Long steps may be silent for 8 s at most before another worker takes them over, so they are made to beat every 2 s whatever they
 * do. Each beat also brings word when the step was asked to stop. `failed` hears every error in full, for the log.
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
          if (isAsked(context, error)) throw error
          failed(error, context.info.activityType)
          throw toFailure(error)
        } finally {
          clearInterval(beat)
        }
      },
    },
  })
}

/** Whatever a step says when its worker is being stopped, another worker does it again. */
function isStopping({ cancellationSignal, cancellationDetails }: Context): boolean {
  return cancellationSignal.aborted && cancellationDetails?.workerShutdown === true
}

/** A step that was asked to stop and stops by the signal's own error is canceled, in Temporal's words too. */
function isAsked({ cancellationSignal }: Context, error: unknown): boolean {
  return cancellationSignal.aborted && error instanceof Error && error.name === 'AbortError'
}

function startBeat(context: Context): NodeJS.Timeout | undefined {
  const { isLocal, heartbeatTimeoutMs } = context.info
  if (isLocal || heartbeatTimeoutMs === undefined) return undefined
  return setInterval(() => context.heartbeat(), BEAT_MS)
}
