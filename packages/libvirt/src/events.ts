import { EventsLost, ProtocolError } from './error.ts'
import { HEADER_BYTES, type Header } from './frame.ts'
import type { DomainEvent } from './procedure.ts'
import { XdrReader } from './xdr.ts'

/**
 * Events in the order the server sent them, for one reader: `for await (const event of …)`.
 * Leaving the loop, `return()` and disposal cancel the registration at the server. If the link is
 * lost or the buffer overflows, reading throws after the buffered events.
 */
export interface DomainEventSubscription<E> extends AsyncIterableIterator<E>, AsyncDisposable {
  next(): Promise<IteratorResult<E, undefined>>
  return(): Promise<IteratorResult<E, undefined>>
  [Symbol.asyncIterator](): DomainEventSubscription<E>
}

export const EVENT_BUFFER = 1024

// Events are small, but the protocol has no limit; the buffer is bounded by bytes as well.
const EVENT_BUFFER_BYTES = 16 * 1024 * 1024

interface Reader<E> {
  readonly resolve: (result: IteratorResult<E, undefined>) => void
  readonly reject: (error: Error) => void
}

type Ending = { readonly error: Error | undefined }

export class Subscription<E> implements DomainEventSubscription<E> {
  readonly #event: DomainEvent<E>
  readonly #size: number
  readonly #unregister: (dead: boolean) => Promise<void>
  #events: { readonly event: E; readonly bytes: number }[] = []
  #bytes = 0
  #readers: Reader<E>[] = []
  #ending: Ending | undefined
  #unregistered: Promise<void> | undefined

  constructor(event: DomainEvent<E>, size: number, unregister: (dead: boolean) => Promise<void>) {
    this.#event = event
    this.#size = size
    this.#unregister = unregister
  }

  next(): Promise<IteratorResult<E, undefined>> {
    const first = this.#events.shift()
    if (first !== undefined) {
      this.#bytes -= first.bytes
      return Promise.resolve({ done: false, value: first.event })
    }
    const { promise, resolve, reject } = Promise.withResolvers<IteratorResult<E, undefined>>()
    this.#readers.push({ resolve, reject })
    if (this.#ending !== undefined) this.#dismiss(this.#ending)
    return promise
  }

  async return(): Promise<IteratorResult<E, undefined>> {
    this.#events = []
    this.#bytes = 0
    await this.#end(undefined, false)
    return { done: true, value: undefined }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return()
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** Takes an event message, after its callback id. */
  take(from: XdrReader): void {
    if (this.#ending !== undefined) return
    const bytes = from.left
    let event: E
    try {
      event = this.#event.body.read(from)
      from.finish()
    } catch (error) {
      const cause = new ProtocolError(`invalid ${this.#event.name} event`, { cause: error })
      this.fail(cause)
      return
    }
    const reader = this.#readers.shift()
    if (reader !== undefined) return reader.resolve({ done: false, value: event })
    if (this.#events.length === this.#size || this.#bytes + bytes > EVENT_BUFFER_BYTES) {
      const { length } = this.#events
      return this.fail(
        new EventsLost(`${length} unread events filled the buffer: read the state again`),
      )
    }
    this.#events.push({ event, bytes })
    this.#bytes += bytes
  }

  /** Ends the subscription while the link stays open. */
  fail(error: Error): void {
    // The error is delivered to the reader, not to this caller.
    this.#end(error, false).catch(() => {})
  }

  /** Ends the subscription because the link is lost. */
  lose(error: Error): void {
    this.#end(error, true).catch(() => {})
  }

  #end(error: Error | undefined, dead: boolean): Promise<void> {
    this.#ending ??= { error }
    this.#dismiss(this.#ending)
    this.#unregistered ??= this.#unregister(dead)
    return this.#unregistered
  }

  #dismiss({ error }: Ending): void {
    const readers = this.#readers
    this.#readers = []
    for (const { resolve, reject } of readers) {
      if (error === undefined) resolve({ done: true, value: undefined })
      else reject(error)
    }
    // The error is thrown once; later reads only get the end.
    if (error !== undefined && readers.length > 0) this.#ending = { error: undefined }
  }
}

const EARLY_BYTES_MAX = 1024 * 1024

interface Early {
  readonly key: string
  readonly frame: Buffer
}

/** The subscriptions by event. */
export class EventTable {
  readonly #subscriptions = new Map<string, Subscription<unknown>>()
  #early: Early[] = []
  #earlyBytes = 0
  #registering = 0

  /** A registration was requested: its first events may arrive before its answer. */
  expect(): void {
    this.#registering += 1
  }

  /** It was answered or given up. */
  settle(): void {
    this.#registering -= 1
    if (this.#registering > 0) return
    this.#early = []
    this.#earlyBytes = 0
  }

  add<E>(event: DomainEvent<E>, callbackID: number, subscription: Subscription<E>): void {
    const key = keyOf(event.program, event.number, callbackID)
    this.#subscriptions.set(key, subscription as Subscription<unknown>)
    const early = this.#early
    this.#early = early.filter((one) => one.key !== key)
    for (const one of early) {
      if (one.key === key) subscription.take(new XdrReader(one.frame, HEADER_BYTES + 4))
    }
  }

  remove(event: DomainEvent<unknown>, callbackID: number): void {
    this.#subscriptions.delete(keyOf(event.program, event.number, callbackID))
  }

  /** Ignores an event without a subscription: it may have been sent before the registration was canceled. */
  receive(header: Header, frame: Buffer): void {
    if (frame.length < HEADER_BYTES + 4) return
    const key = keyOf(header.program, header.procedure, frame.readInt32BE(HEADER_BYTES))
    const subscription = this.#subscriptions.get(key)
    if (subscription !== undefined) {
      subscription.take(new XdrReader(frame, HEADER_BYTES + 4))
    } else if (this.#registering > 0 && this.#earlyBytes + frame.length <= EARLY_BYTES_MAX) {
      this.#early.push({ key, frame: Buffer.from(frame) })
      this.#earlyBytes += frame.length
    }
  }

  loseAll(makeError: () => Error): void {
    const subscriptions = [...this.#subscriptions.values()]
    this.#subscriptions.clear()
    this.#early = []
    for (const subscription of subscriptions) subscription.lose(makeError())
  }
}

/** Each driver of the server counts its callbacks separately, so the callback id alone is ambiguous. */
function keyOf(program: number, procedure: number, callbackID: number): string {
  return `${program}:${procedure}:${callbackID}`
}
