// Server-sent events of the cloud. By fetch, not EventSource: that one hides the status of a refused stream.

export interface LiveEvent {
  readonly event: string
  readonly data: Readonly<Record<string, unknown>>
}

export type StreamState = 'live' | 'lost'

/** A cell sends a comment every 15 s. A stream that is silent for longer is broken, whatever the connection says. */
const SILENCE_MS = 35_000
const RECONNECT_MS = [500, 1000, 2000, 4000, 8000]

interface Parsed {
  readonly id: string | undefined
  readonly event: LiveEvent | undefined
}

/** Splits the received text into whole messages and the rest. */
export function parseMessages(text: string): { messages: Parsed[]; rest: string } {
  const parts = text.split('\n\n')
  const rest = parts.pop() ?? ''
  const messages = parts.map((part) => {
    const fields = new Map(
      part.split('\n').map((line) => {
        const at = line.indexOf(':')
        return [line.slice(0, at), line.slice(at + 1).trimStart()] as const
      }),
    )
    const data = fields.get('data')
    return {
      id: fields.get('id'),
      event:
        data === undefined
          ? undefined
          : {
              event: fields.get('event') ?? 'message',
              data: JSON.parse(data) as LiveEvent['data'],
            },
    }
  })
  return { messages, rest }
}

interface Reader {
  readonly path: string
  readonly signal: AbortSignal
  readonly onOpen: () => void
  readonly onEvent: (event: LiveEvent) => void
  /** Called with every id, so that the next stream continues there. */
  readonly onId: (id: string) => void
}

/** Thrown where the stream was refused. */
export class RefusedStream extends Error {
  readonly status: number
  constructor(status: number) {
    super(`the event stream was refused with ${status}`)
    this.status = status
  }
}

/** Reads one stream until it ends, is aborted or falls silent. */
export async function readStream(reader: Reader, lastEventId: string | undefined): Promise<void> {
  const silence = new AbortController()
  let timer = setTimeout(() => silence.abort(), SILENCE_MS)
  try {
    const response = await fetch(reader.path, {
      headers: {
        accept: 'text/event-stream, application/*+json;version=5.1',
        ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
      },
      signal: AbortSignal.any([reader.signal, silence.signal]),
    })
    if (!response.ok || !response.body) throw new RefusedStream(response.status)
    reader.onOpen()
    let text = ''
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      clearTimeout(timer)
      timer = setTimeout(() => silence.abort(), SILENCE_MS)
      const { messages, rest } = parseMessages(text + chunk)
      text = rest
      for (const { id, event } of messages) {
        if (id !== undefined) reader.onId(id)
        if (event) reader.onEvent(event)
      }
    }
  } finally {
    clearTimeout(timer)
  }
}

export interface StreamListener {
  readonly onEvent: (event: LiveEvent) => void
  readonly onState: (state: StreamState) => void
  /** The server no longer knows the last event, as after a restore: everything must be read again. */
  readonly onReset: () => void
  readonly onUnauthenticated: () => void
}

type Shared =
  | { readonly is: 'event'; readonly event: LiveEvent }
  | { readonly is: 'state'; readonly state: StreamState }
  | { readonly is: 'reset' }
  /** A new tab does not know the state yet. */
  | { readonly is: 'ask' }

/**
 * Follows the events with one stream for all tabs of this browser: the tab that holds the lock reads and passes events on. HTTP/1.1
 * gives a browser six connections to a server, and every stream costs the cell a place.
 */
export function followEvents(path: string, listener: StreamListener): () => void {
  const stop = new AbortController()
  const channel = new BroadcastChannel('skerry.events')
  /** Of the stream that this tab reads. */
  let ownState: StreamState | undefined
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a BroadcastChannel has no target
  const send = (shared: Shared): void => channel.postMessage(shared)
  const deliver = (shared: Shared): void => {
    if (shared.is === 'event') listener.onEvent(shared.event)
    else if (shared.is === 'state') listener.onState(shared.state)
    else if (shared.is === 'reset') listener.onReset()
    else if (ownState !== undefined) send({ is: 'state', state: ownState })
  }
  const share = (shared: Shared): void => {
    if (shared.is === 'state') ownState = shared.state
    deliver(shared)
    send(shared)
  }
  channel.addEventListener('message', ({ data }: MessageEvent<Shared>) => deliver(data))
  send({ is: 'ask' })
  void navigator.locks
    .request('skerry.events', { signal: stop.signal }, () => lead(path, listener, share, stop))
    .catch(() => undefined)
  return () => {
    stop.abort()
    channel.close()
  }
}

/** Reads streams one after the other until `stop`. */
async function lead(
  path: string,
  listener: StreamListener,
  share: (shared: Shared) => void,
  stop: AbortController,
): Promise<void> {
  let lastEventId: string | undefined
  for (let failures = 0; !stop.signal.aborted; failures++) {
    await untilVisible(stop.signal)
    const restart = new AbortController()
    const abort = (): void => restart.abort()
    addEventListener('offline', abort)
    addEventListener('online', abort)
    const forget = whenHiddenForLong(abort)
    try {
      await readStream(
        {
          path,
          signal: AbortSignal.any([stop.signal, restart.signal]),
          onOpen: () => {
            failures = 0
            share({ is: 'state', state: 'live' })
          },
          onEvent: (event) => share({ is: 'event', event }),
          onId: (id) => (lastEventId = id),
        },
        lastEventId,
      )
    } catch (error) {
      const status = error instanceof RefusedStream ? error.status : 0
      if (status === 401) listener.onUnauthenticated()
      // A cell answers 410, vmd 409.
      if ((status === 410 || status === 409) && lastEventId !== undefined) {
        lastEventId = undefined
        share({ is: 'reset' })
      }
    } finally {
      removeEventListener('offline', abort)
      removeEventListener('online', abort)
      forget()
    }
    if (stop.signal.aborted) return
    if (document.visibilityState === 'hidden') continue
    share({ is: 'state', state: 'lost' })
    await new Promise((resolve) =>
      setTimeout(resolve, RECONNECT_MS[Math.min(failures, RECONNECT_MS.length - 1)]),
    )
  }
}

/** An open stream keeps the session alive. It is closed when no one has looked for this long, so that the session can expire. */
const HIDDEN_MS = 10 * 60_000

function whenHiddenForLong(act: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const look = (): void => {
    clearTimeout(timer)
    if (document.visibilityState === 'hidden') timer = setTimeout(act, HIDDEN_MS)
  }
  document.addEventListener('visibilitychange', look)
  look()
  return () => {
    clearTimeout(timer)
    document.removeEventListener('visibilitychange', look)
  }
}

let hasStarted = false

/** Resolves at once for the first stream, and for later ones when the page is visible. */
function untilVisible(signal: AbortSignal): Promise<void> {
  if (!hasStarted || document.visibilityState === 'visible') {
    hasStarted = true
    return Promise.resolve()
  }
  return new Promise((resolve) => {
    const look = (): void => {
      if (document.visibilityState === 'hidden' && !signal.aborted) return
      document.removeEventListener('visibilitychange', look)
      resolve()
    }
    document.addEventListener('visibilitychange', look)
    signal.addEventListener('abort', look)
  })
}
