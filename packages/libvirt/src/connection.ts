import type { CallOptions } from './calls.ts'
import { AuthenticationNeeded, CallAborted, CallTimedOut, LibvirtError, LinkLost } from './error.ts'
import { EVENT_BUFFER, Subscription, type DomainEventSubscription } from './events.ts'
import { messageStatus } from './frame.ts'
import type { KeepaliveSettings } from './keepalive.ts'
import { Link } from './link.ts'
import type { DomainEvent, Procedure, StreamProcedure } from './procedure.ts'
import {
  authList,
  authPolkit,
  connectClose,
  connectDomainEventCallbackDeregisterAny,
  connectDomainEventCallbackRegisterAny,
  connectOpen,
  connectSupportsFeature,
  qemuConnectDomainMonitorEventDeregister,
  qemuConnectDomainMonitorEventRegister,
  qemuDomainMonitorEvent,
  type Domain,
} from './procedures.gen.ts'
import type { LibvirtStream } from './stream.ts'
import { systemTimers, type Timers } from './timers.ts'
import { unixSocket, type Transport } from './transport.ts'
import type { Value } from './xdr.ts'

const TIMEOUT_MS = 30_000
const CLOSE_TIMEOUT_MS = 1_000
const KEEPALIVE: KeepaliveSettings = { intervalMs: 5_000, count: 5 }

// VIR_DRV_FEATURE_PROGRAM_KEEPALIVE, from an internal header of libvirt. A client that asks for it
// declares that it answers pings, so the server starts to send them.
const FEATURE_KEEPALIVE = 10

const authentication = { none: 0, polkit: 2 } as const

export interface OpenOptions {
  /** The path of the daemon's Unix socket. */
  readonly socket: string
  /** The driver that the daemon opens: `qemu:///system`, `test:///default`. */
  readonly uri: string
  /** The limit for opening and, by default, for each call. Default: 30 s; 0 means no limit. */
  readonly timeoutMs?: number | undefined
  /** Default: every 5 s, with at most 5 unanswered pings; `false` turns it off on both sides. */
  readonly keepalive?: KeepaliveSettings | false | undefined
  /** Aborts opening. It has no effect once the connection is open. */
  readonly signal?: AbortSignal | undefined
  /** Used instead of the socket. */
  readonly transport?: Transport | undefined
  readonly timers?: Timers | undefined
}

export interface SubscribeOptions {
  /** Only events of this domain. */
  readonly dom?: Domain | undefined
  /** Ends the subscription, and with it the loop that reads it. */
  readonly signal?: AbortSignal | undefined
  /** How many unread events are buffered. Default: 1,024. */
  readonly bufferSize?: number | undefined
}

export interface MonitorEventOptions extends SubscribeOptions {
  /** Only QEMU events with this name, or matching it according to `flags`. */
  readonly event?: string | undefined
  readonly flags?: number | undefined
}

interface Registration<E, Args> {
  readonly event: DomainEvent<E>
  readonly register: Procedure<Args, { callbackID: number }>
  readonly args: Args
  readonly unregister: Procedure<{ callbackID: number }, void>
}

/** One connection to a libvirt daemon. Calls may overlap; each gets its own answer. */
export class Connection implements AsyncDisposable {
  /** Resolves with the reason once the link is lost; never rejects. */
  readonly closed: Promise<Error>
  readonly #link: Link

  private constructor(link: Link) {
    this.#link = link
    this.closed = link.closed
  }

  static async open(options: OpenOptions): Promise<Connection> {
    const { socket, transport = unixSocket(socket), signal } = options
    const { timers = systemTimers, timeoutMs = TIMEOUT_MS } = options
    if (signal?.aborted === true) throw new CallAborted(connectOpen.name, signal.reason, false)
    const link = new Link({ transport, timers, timeoutMs })
    let givenUp: Error | undefined
    const giveUp = (error: Error): void => {
      givenUp ??= error
      link.end(error.message, error)
    }
    const late = (): void => giveUp(new CallTimedOut(connectOpen.name, timeoutMs, true))
    const timer = timeoutMs > 0 ? timers.set(late, timeoutMs) : undefined
    const abort = (): void => giveUp(new CallAborted(connectOpen.name, signal?.reason, true))
    signal?.addEventListener('abort', abort)
    try {
      await link.opened
      await introduce(link, options)
      return new Connection(link)
    } catch (error) {
      link.end('failed to open the connection', error)
      throw givenUp ?? error
    } finally {
      if (timer !== undefined) timers.clear(timer)
      signal?.removeEventListener('abort', abort)
    }
  }

  get isOpen(): boolean {
    return this.#link.lost === undefined
  }

  /**
   * Makes one call. Fails with LibvirtError if libvirt returns an error, with LinkLost if the link is
   * lost, and with CallTimedOut or CallAborted if the caller gave up; the server may still execute a
   * call that was sent.
   */
  call<Args, Ret>(
    procedure: Procedure<Args, Ret>,
    args: Args,
    options: CallOptions = {},
  ): Promise<Ret> {
    return this.#link.calls.start(procedure, args, options)
  }

  /** Events of one kind, from the moment the promise resolves. */
  domainEvents<E>(
    event: DomainEvent<E>,
    options: SubscribeOptions = {},
  ): Promise<DomainEventSubscription<E>> {
    const registration = {
      event,
      register: connectDomainEventCallbackRegisterAny,
      args: { eventID: event.id, dom: options.dom ?? null },
      unregister: connectDomainEventCallbackDeregisterAny,
    }
    return this.#subscribe(registration, options)
  }

  /** Events of QEMU's own monitor, which libvirt forwards unmodified. */
  monitorEvents(
    options: MonitorEventOptions = {},
  ): Promise<DomainEventSubscription<Value<typeof qemuDomainMonitorEvent.body>>> {
    const { dom = null, event = null, flags = 0 } = options
    const registration = {
      event: qemuDomainMonitorEvent,
      register: qemuConnectDomainMonitorEventRegister,
      args: { dom, event, flags },
      unregister: qemuConnectDomainMonitorEventDeregister,
    }
    return this.#subscribe(registration, options)
  }

  /**
   * Makes a call that opens a stream. The signal also aborts the stream later; the timeout applies to
   * the answer only.
   */
  async openStream<Args, Ret>(
    procedure: StreamProcedure<Args, Ret>,
    args: Args,
    options: CallOptions = {},
  ): Promise<{ ret: Ret; stream: LibvirtStream }> {
    const link = this.#link
    const { signal } = options
    let opened: { serial: number; stream: LibvirtStream } | undefined
    try {
      const ret = await link.calls.start(procedure, args, options, {
        begin(serial) {
          opened = { serial, stream: link.addStream(serial, procedure, procedure.stream) }
        },
        late() {
          if (opened !== undefined) link.sendStream(opened.serial, procedure, messageStatus.error)
        },
      })
      if (opened === undefined) throw new Error('a call was answered before it began')
      const { stream } = opened
      if (signal !== undefined) abortWith(stream, procedure.name, signal)
      return { ret, stream }
    } catch (error) {
      opened?.stream.lose()
      throw error
    }
  }

  /** Closes the connection at the server if possible, and ends the link. Pending calls fail with LinkLost. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.isOpen) return
    await this.call(connectClose, undefined, { timeoutMs: CLOSE_TIMEOUT_MS }).catch(() => {})
    this.#link.end('the connection was closed by this side')
  }

  async #subscribe<E, Args>(
    { event, register, args, unregister }: Registration<E, Args>,
    { signal, bufferSize = EVENT_BUFFER }: SubscribeOptions,
  ): Promise<DomainEventSubscription<E>> {
    const { calls, events } = this.#link
    let subscription: Subscription<E> | undefined
    const abort = (): void => void subscription?.return().catch(() => {})
    const leave = async (callbackID: number, dead: boolean): Promise<void> => {
      signal?.removeEventListener('abort', abort)
      events.remove(event, callbackID)
      if (dead || !this.isOpen) return
      await this.call(unregister, { callbackID }).catch((error: unknown) => {
        if (!(error instanceof LinkLost)) throw error
      })
    }
    events.expect()
    try {
      await calls.start(register, args, signal === undefined ? {} : { signal }, {
        answered({ callbackID }) {
          subscription = new Subscription(event, bufferSize, (dead) => leave(callbackID, dead))
          events.add(event, callbackID, subscription)
        },
        late({ callbackID }) {
          leave(callbackID, false).catch(() => {})
        },
      })
    } finally {
      events.settle()
    }
    if (subscription === undefined) throw new Error('a call was answered before it began')
    if (signal?.aborted === true) abort()
    else signal?.addEventListener('abort', abort)
    return subscription
  }
}

/** The handshake before the first call, in the order that libvirt requires. */
async function introduce(link: Link, { uri, keepalive = KEEPALIVE }: OpenOptions): Promise<void> {
  const { calls } = link
  // This call is required even if no authentication is configured.
  const { types } = await calls.start(authList, undefined, {})
  if (types.length > 0 && !types.includes(authentication.none)) {
    if (!types.includes(authentication.polkit)) {
      throw new AuthenticationNeeded(
        'libvirt requires a user name and password (SASL), which this client does not support: ' +
          'use a socket whose auth_unix_rw in libvirtd.conf is "none" or "polkit"',
      )
    }
    await calls.start(authPolkit, undefined, {})
  }
  if (keepalive !== false) {
    const feature = { feature: FEATURE_KEEPALIVE }
    const answer = await calls
      .start(connectSupportsFeature, feature, {})
      .catch((error: unknown) => {
        if (error instanceof LibvirtError) return { supported: 0 }
        throw error
      })
    if (answer.supported !== 0) link.startKeepalive(keepalive)
  }
  await calls.start(connectOpen, { name: uri, flags: 0 }, {})
}

function abortWith(stream: LibvirtStream, procedure: string, signal: AbortSignal): void {
  const abort = (): void => void stream.destroy(new CallAborted(procedure, signal.reason, true))
  if (signal.aborted) return abort()
  signal.addEventListener('abort', abort)
  stream.once('close', () => signal.removeEventListener('abort', abort))
}
