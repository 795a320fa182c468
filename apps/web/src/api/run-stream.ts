// The events of one run of a workflow. The server ends the stream with the run.
import { requestEvents, watchSession } from './client.ts'
import { readStream, RefusedStream, type LiveEvent } from './event-stream.ts'
import { isHidden, untilVisible, whenHiddenForLong } from './visibility.ts'
import { WORKFLOW_API } from './workflows.ts'

const AGAIN_MS = [1000, 2000, 4000, 8000, 16_000, 30_000]

/** Answers that the same request gets again: it is not repeated. */
const isFinal = (status: number): boolean => status >= 400 && status < 500 && status !== 429

export interface RunListener {
  /** The line of the log after which the stream begins. */
  readonly after: number
  /** `line`: the number of the newest line of the log. */
  readonly onEvent: (event: LiveEvent, line: number) => void
  /** Whether the run goes on, and its stream is opened again after a break. */
  readonly goesOn: () => boolean
  /** The run does not exist any longer, or the user may not see it. */
  readonly onGone: () => void
}

/**
 * Follows a run until it ends, the stream is refused, or `signal` stops it. While no one looks at the page, a stream that ended is not
 * opened again, and one that is open is closed after a while.
 */
export async function followRun(
  path: string,
  listener: RunListener,
  signal: AbortSignal,
): Promise<void> {
  let last = String(listener.after)
  let failures = 0
  const reader = {
    path: `${WORKFLOW_API}${path}`,
    onOpen: () => {
      failures = 0
    },
    onEvent: (event: LiveEvent) => listener.onEvent(event, Number(last)),
    onId: (id: string) => {
      last = id
    },
  }
  while (!signal.aborted && listener.goesOn()) {
    const isSameSession = watchSession()
    const rest = new AbortController()
    const forget = whenHiddenForLong(() => rest.abort())
    try {
      await readStream({ ...reader, signal: AbortSignal.any([signal, rest.signal]) }, last)
    } catch (error) {
      const status = error instanceof RefusedStream ? error.status : 0
      if (signal.aborted) return
      if (status === 401 && !isSameSession()) continue
      if (status === 401) requestEvents.onUnauthenticated()
      else if (isFinal(status)) listener.onGone()
      if (isFinal(status)) return
    } finally {
      forget()
    }
    if (isHidden()) await untilVisible(signal)
    else await pause(AGAIN_MS[Math.min(failures, AGAIN_MS.length - 1)] ?? 0, signal)
    failures += 1
  }
}

/** Waits, or until it is stopped. */
const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
