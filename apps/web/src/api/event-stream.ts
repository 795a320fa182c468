// Server-sent events of the cloud. By fetch, not EventSource: that one hides the status of a refused stream.
import { watchSession } from './client.ts'
import { isHidden, untilVisible, whenHiddenForLong } from './visibility.ts'

export interface LiveEvent {
  readonly event: string
  readonly data: Readonly<Record<string, unknown>>
}

/** refused: the user may not follow the events. */
export type StreamState = 'live' | 'lost' | 'refused'

/** A cell sends a comment every 15 s. A stream that is silent for longer is broken, whatever the connection says. */
const SILENCE_MS = 35_000
const RECONNECT_MS = [500, 1000, 2000, 4000, 8000]
/** A user who may not follow the events may get another role. */
const REFUSED_MS = 60_000

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
  /** Events may be missing, as before the first stream and after a restore: everything must be read again. */
  readonly onReset: () => void
  readonly onUnauthenticated: () => void
}

type Shared =
  | { readonly is: 'event'; readonly event: LiveEvent }
  /** The stream is at this id; its event follows, if it has one. */
  | { readonly is: 'id'; readonly id: string }
  /** `after`: the id after which the stream continues, or at which it is. */
  | { readonly is: 'state'; readonly state: StreamState; readonly after: string | undefined }
  | { readonly is: 'reset' }
  /** A new tab does not know the state yet. */
  | { readonly is: 'ask' }

const LOCK = 'skerry.events'

/**
 * Follows the events with one stream for all tabs of this browser: the tab that holds the lock reads and passes events on. HTTP/1.1
 * gives a browser six connections to a server, and every stream costs the cell a place.
 */
export function followEvents(path: string, listener: StreamListener): () => void {
  const stop = new AbortController()
  const channel = new BroadcastChannel(LOCK)
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a BroadcastChannel has no target
  const send = (shared: Shared): void => channel.postMessage(shared)
  const tab = new EventTab(listener, send)
  channel.addEventListener('message', ({ data }: MessageEvent<Shared>) => tab.deliver(data))
  send({ is: 'ask' })
  void takeTurns(path, listener, tab, stop.signal).catch(() => undefined)
  return () => {
    stop.abort()
    channel.close()
  }
}

/** What one tab knows of the stream, whichever tab reads it. */
export class EventTab {
  readonly #listener: StreamListener
  readonly #send: (shared: Shared) => void
  #lastId: string | undefined
  /** Of the stream that this tab reads. */
  #ownState: StreamState | undefined

  constructor(listener: StreamListener, send: (shared: Shared) => void) {
    this.#listener = listener
    this.#send = send
  }

  /** Where the next stream continues, if this tab opens it. */
  get lastId(): string | undefined {
    return this.#lastId
  }

  /** To this tab and the others. */
  share(shared: Shared): void {
    if (shared.is === 'state') this.#ownState = shared.state
    this.deliver(shared)
    this.#send(shared)
  }

  /** Another tab may read from now on. */
  leave(): void {
    this.#ownState = undefined
  }

  deliver(shared: Shared): void {
    if (shared.is === 'event') this.#listener.onEvent(shared.event)
    else if (shared.is === 'id') this.#lastId = shared.id
    else if (shared.is === 'state') this.#learnState(shared.state, shared.after)
    else if (shared.is === 'reset') this.#reset()
    else if (this.#ownState !== undefined)
      this.#send({ is: 'state', state: this.#ownState, after: this.#lastId })
  }

  #learnState(state: StreamState, after: string | undefined): void {
    // A stream without a beginning sends what happens from now on, and what was read before may be older. With another beginning, a tab
    // that knew nothing of this one has opened it, and events between the two were not sent.
    const isOther = this.#lastId !== undefined && this.#lastId !== after
    const isGap = state === 'live' && (after === undefined || isOther)
    if (state === 'live') this.#lastId = after
    this.#listener.onState(state)
    if (isGap) this.#listener.onReset()
  }

  #reset(): void {
    this.#lastId = undefined
    this.#listener.onReset()
  }
}

/**
 * Reads the stream whenever this tab gets the lock. A tab that no one looks at gives the lock back when its stream ends and takes it
 * again when it is visible, so that a visible tab never waits for a hidden one.
 */
async function takeTurns(
  path: string,
  listener: StreamListener,
  tab: EventTab,
  signal: AbortSignal,
): Promise<void> {
  let hasRead = false
  while (!signal.aborted) {
    await navigator.locks.request(LOCK, { signal }, () => {
      // A page that was loaded in the background must not miss what happens until someone looks at it.
      if (isHidden() && (hasRead || tab.lastId !== undefined)) return undefined
      hasRead = true
      return lead(path, listener, tab, signal)
    })
    await untilVisible(signal)
  }
}

/** Reads streams one after the other until `stop`, or until one ends while the page is hidden. */
async function lead(
  path: string,
  listener: StreamListener,
  tab: EventTab,
  stop: AbortSignal,
): Promise<void> {
  for (let failures = 0; !stop.aborted; failures++) {
    const restart = new AbortController()
    const abort = (): void => restart.abort()
    addEventListener('offline', abort)
    addEventListener('online', abort)
    const forget = whenHiddenForLong(abort)
    const after = tab.lastId
    const isSameSession = watchSession()
    let status = 0
    try {
      await readStream(
        {
          path,
          signal: AbortSignal.any([stop, restart.signal]),
          onOpen: () => {
            failures = 0
            tab.share({ is: 'state', state: 'live', after })
          },
          onEvent: (event) => tab.share({ is: 'event', event }),
          onId: (id) => tab.share({ is: 'id', id }),
        },
        after,
      )
    } catch (error) {
      if (error instanceof RefusedStream) ({ status } = error)
      if (status === 401 && isSameSession()) listener.onUnauthenticated()
      // A cell answers 410, vmd 409.
      if ((status === 410 || status === 409) && after !== undefined) tab.share({ is: 'reset' })
    } finally {
      removeEventListener('offline', abort)
      removeEventListener('online', abort)
      forget()
    }
    if (stop.aborted) return
    if (isHidden()) return tab.leave()
    const isRefused = status === 403
    tab.share({ is: 'state', state: isRefused ? 'refused' : 'lost', after: tab.lastId })
    const again = RECONNECT_MS[Math.min(failures, RECONNECT_MS.length - 1)]
    await new Promise((resolve) => setTimeout(resolve, isRefused ? REFUSED_MS : again))
  }
}
