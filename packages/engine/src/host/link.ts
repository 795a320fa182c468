import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'

import { Fault } from '@skerry/fault'
import * as libvirt from '@skerry/libvirt'

import { toFault } from './to-fault.ts'

const CALL_TIMEOUT_MS = 30_000
/** Saving and restoring memory takes as long as the disk needs. */
export const MEMORY_TIMEOUT_MS = 600_000
/** How long a call waits for an unreachable daemon before it fails. */
const AWAY_MS = 20_000
const RETRY_MS = [50, 100, 200, 500, 1000] as const
const KEEPALIVE = { intervalMs: 5000, count: 3 }

export interface LinkCallOptions {
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

/** A connection to libvirt that reconnects when the daemon is back. A call is never sent twice. */
export class LibvirtLink implements AsyncDisposable {
  readonly #socket: string
  readonly #uri: string
  readonly #ended = new AbortController()
  readonly #running: Promise<void>
  #ready = Promise.withResolvers<libvirt.Connection>()
  #current: libvirt.Connection | undefined
  #lastFailure: unknown

  constructor(
    where: { readonly socket: string; readonly uri: string },
    onConnected: (connection: libvirt.Connection) => void = () => undefined,
    /** Called before each attempt to reconnect. */
    onLost: () => Promise<void> = async () => undefined,
  ) {
    this.#socket = where.socket
    this.#uri = where.uri
    this.#running = this.#keepConnected(onConnected, onLost)
  }

  /** Calls libvirt; an error answer, a lost connection and a timeout become a Fault. */
  async call<Args, Ret>(
    procedure: libvirt.Procedure<Args, Ret>,
    args: Args,
    { timeoutMs = CALL_TIMEOUT_MS, signal }: LinkCallOptions = {},
  ): Promise<Ret> {
    const connection = await this.connection(signal)
    try {
      return await connection.call(procedure, args, { timeoutMs, ...(signal && { signal }) })
    } catch (error) {
      throw toFault(error)
    }
  }

  /** The current connection, or the next one if it is established in time. */
  async connection(signal?: AbortSignal): Promise<libvirt.Connection> {
    if (this.#current?.isOpen) return this.#current
    const away = AbortSignal.timeout(AWAY_MS)
    const stops = AbortSignal.any([away, this.#ended.signal, ...(signal ? [signal] : [])])
    while (!stops.aborted) {
      const connection = await Promise.race([this.#ready.promise, untilAborted(stops)])
      if (connection?.isOpen) return connection
      // The connection is closed, and the reconnect loop has not noticed yet.
      await nextTurn()
    }
    signal?.throwIfAborted()
    throw new Fault('unavailable', `libvirt does not answer at ${this.#socket}`, {
      cause: this.#lastFailure,
      hint: 'start libvirtd, then retry',
    })
  }

  get isOpen(): boolean {
    return this.#current?.isOpen ?? false
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort()
    await this.#running
  }

  async #keepConnected(
    onConnected: (connection: libvirt.Connection) => void,
    onLost: () => Promise<void>,
  ): Promise<void> {
    const { signal } = this.#ended
    for (let failures = 0; !signal.aborted;) {
      try {
        await using connection = await libvirt.Connection.open({
          socket: this.#socket,
          uri: this.#uri,
          keepalive: KEEPALIVE,
          signal,
        })
        failures = 0
        this.#current = connection
        this.#ready.resolve(connection)
        onConnected(connection)
        await Promise.race([connection.closed, untilAborted(signal)])
        this.#ready = Promise.withResolvers()
        await onLost()
      } catch (error) {
        this.#lastFailure = error
        const pause = RETRY_MS[Math.min(failures++, RETRY_MS.length - 1)]
        await sleep(pause, undefined, { signal }).catch(() => undefined)
      }
    }
  }
}

function untilAborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined)
    else signal.addEventListener('abort', () => resolve(undefined), { once: true })
  })
}
