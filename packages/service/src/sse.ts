import { once } from 'node:events'
import { PassThrough, type Readable } from 'node:stream'

/** One message of an event stream (WHATWG HTML, 9.2). */
export interface Message {
  /** A number, or a word that the source can find its place by. */
  readonly id: number | string
  readonly event: string
  readonly data: unknown
}

export interface StreamOptions {
  /** The number that the reader has when it starts: it may be lost before the first event comes. */
  readonly since: number | string
  /** Said into the silence, so that whoever stands between does not take the link for dead. */
  readonly heartbeatMs?: number
  /** A reader that takes nothing for this long, while something waits for it, is ended. */
  readonly patienceMs?: number
}

const HEARTBEAT_MS = 15_000
const PATIENCE_MS = 30_000
const RETRY_MS = 1000
/** No more than this waits in memory for one reader. */
const WAITING_BYTES = 64 * 1024

export const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
} as const

/**
 * Writes messages as a reader takes them: the source is asked for the next only when there is
 * room. The stream ends with its source; when the reader goes away, the source is told by `signal`.
 */
export function eventStream(
  source: (signal: AbortSignal) => AsyncIterable<Message>,
  { since, heartbeatMs = HEARTBEAT_MS, patienceMs = PATIENCE_MS }: StreamOptions,
): Readable {
  const out = new PassThrough({ highWaterMark: WAITING_BYTES })
  const gone = new AbortController()
  const heartbeat = setInterval(() => {
    if (!out.writableNeedDrain) out.write(':\n\n')
  }, heartbeatMs)
  out.on('close', () => {
    clearInterval(heartbeat)
    gone.abort()
  })
  out.on('error', () => undefined)
  const run = async (): Promise<void> => {
    out.write(`id: ${since}\nretry: ${RETRY_MS}\n\n`)
    for await (const message of source(gone.signal)) {
      if (out.destroyed) return
      if (out.write(render(message))) continue
      await once(out, 'drain', {
        signal: AbortSignal.any([gone.signal, AbortSignal.timeout(patienceMs)]),
      })
    }
    out.end()
  }
  // Nothing can be said any more in the middle of a stream: the reader comes back with its last id and hears why.
  run().catch(() => out.destroy())
  return out
}

const render = ({ id, event, data }: Message): string =>
  `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`
