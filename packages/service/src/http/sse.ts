import { once } from 'node:events'
import { PassThrough, type Readable } from 'node:stream'

/** One message of an event stream (WHATWG HTML, 9.2). */
export interface Message {
  /** A number, or a string from which the source can find its position. Without it, the reader's position stays. */
  readonly id?: number | string
  readonly event: string
  readonly data: unknown
}

export interface StreamOptions {
  /** The reader's position at the start, sent first: the connection may be lost before the first event. */
  readonly since: number | string
  /** Sent when idle, so that proxies do not close the connection. */
  readonly heartbeatMs?: number
  /** A reader that takes no data for this long, while data is waiting, is disconnected. */
  readonly patienceMs?: number
}

const HEARTBEAT_MS = 15_000
const PATIENCE_MS = 30_000
const RETRY_MS = 1000
/** At most this much is buffered for one reader. */
const WAITING_BYTES = 64 * 1024

export const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
} as const

/**
 * Writes messages at the reader's pace, several as one chunk if the source yields several: the next is requested only when there is
 * space. The stream ends with its source; when the reader disconnects, `signal` is aborted.
 */
export function eventStream(
  source: (signal: AbortSignal) => AsyncIterable<Message | readonly Message[]>,
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
    for await (const messages of source(gone.signal)) {
      if (out.destroyed) return
      if (out.write([messages].flat().map(textOf).join(''))) continue
      await once(out, 'drain', {
        signal: AbortSignal.any([gone.signal, AbortSignal.timeout(patienceMs)]),
      })
    }
    out.end()
  }
  // An error cannot be reported in the middle of a stream: the reader reconnects with its last id and gets it then.
  run().catch(() => out.destroy())
  return out
}

/** A message for many readers is serialised once. */
const written = new WeakMap<Message, string>()

function textOf(message: Message): string {
  const text = written.get(message) ?? render(message)
  written.set(message, text)
  return text
}

const render = ({ id, event, data }: Message): string =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
