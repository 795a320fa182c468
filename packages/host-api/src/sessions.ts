import { Fault } from '@skerry/fault'
import type { HostOverlay, Report, Vm, VmId } from '@skerry/vm'

import type { Hello, StopCause, SessionLine } from './host-api.ts'

/** Both sides send something this often. */
export const PING_MS = 5000
/** A peer that has been silent for this long counts as disconnected. */
export const SILENCE_MS = 15_000

/** What a host reports to its follower. */
export interface HostView {
  hello(): Promise<Hello>
  /** The ids of all VMs that exist now. */
  list(): readonly VmId[]
  /** The current state of the VM; undefined if it is gone. */
  read(id: VmId): Promise<Vm | undefined>
  /** Why a VM that was just read as off is off, if known. */
  stopped?(id: VmId): Promise<StopCause | undefined>
  /** Logs a VM that could not be read; it is tried again at the next change. */
  log?(message: string, cause: unknown): void
}

export interface SessionTimes {
  readonly pingMs: number
  readonly silenceMs: number
  /** Monotonic. */
  now(): number
}

const times: SessionTimes = {
  pingMs: PING_MS,
  silenceMs: SILENCE_MS,
  now: () => performance.now(),
}

interface Session {
  readonly fencingToken: bigint
  seq: number
  heardAt: number
  readonly changed: Set<VmId>
  /** What was last sent about each VM, so that nothing is sent twice. */
  readonly sent: Map<VmId, string>
  /** A state of the overlay that was not sent yet. */
  overlay: HostOverlay | undefined
  wake: () => void
}

/**
 * The sessions of this host. They hold state, not a log: changes are a set of ids, read when they are
 * sent, so a slow reader misses only intermediate states. Only the highest session is served.
 */
export class HostSessions {
  readonly #shown: HostView
  readonly #times: SessionTimes
  #current: Session | undefined

  constructor(shown: HostView, some: Partial<SessionTimes> = {}) {
    this.#shown = shown
    this.#times = { ...times, ...some }
  }

  /** This VM may have changed; without an id, any of them may. */
  changed(id?: VmId): void {
    const session = this.#current
    if (!session) return
    if (id !== undefined) session.changed.add(id)
    else
      for (const each of [...session.sent.keys(), ...this.#shown.list()]) session.changed.add(each)
    session.wake()
  }

  /** The host's overlay is in another state than before. */
  overlayChanged(overlay: HostOverlay): void {
    if (!this.#current) return
    this.#current.overlay = overlay
    this.#current.wake()
  }

  /** The next position in the session, for a report of this VM that is read after this call. */
  next(id: VmId): Pick<Report, 'session' | 'seq'> {
    const session = this.#current
    if (!session) return { session: '0', seq: 0 }
    // The report bypasses the reader of this session: the next state of the VM must be sent, whether or not it differs.
    session.sent.set(id, '')
    return { session: String(session.fencingToken), seq: (session.seq += 1) }
  }

  /** Called when the follower of this session is alive. */
  heard(fencingToken: string): void {
    const session = this.#current
    if (session?.fencingToken !== BigInt(fencingToken)) {
      throw new Fault('stale', `stale session ${fencingToken}: a newer session is served`, {
        detail: String(session?.fencingToken ?? 0n),
      })
    }
    session.heardAt = this.#times.now()
  }

  async *follow(fencingToken: string, signal: AbortSignal): AsyncGenerator<SessionLine, void> {
    const mine = BigInt(fencingToken)
    // A number identifies one session: after an interruption there is a new one, with a new list.
    const isServed = this.#current === undefined || mine > this.#current.fencingToken
    const session: Session = {
      fencingToken: mine,
      seq: 0,
      heardAt: this.#times.now(),
      changed: new Set<VmId>(),
      sent: new Map<VmId, string>(),
      overlay: undefined,
      wake: () => undefined,
    }
    if (isServed) {
      const before = this.#current
      this.#current = session
      before?.wake()
    }
    yield { kind: 'hello', hello: await this.#shown.hello() }
    if (!isServed) return
    const wake = () => session.wake()
    signal.addEventListener('abort', wake, { once: true })
    try {
      for (const id of this.#shown.list()) {
        if (!this.#isOpen(session, signal)) return
        yield* this.#linesOf(session, id)
      }
      yield { kind: 'listEnd', seq: (session.seq += 1) }
      yield* this.#changes(session, signal)
    } finally {
      signal.removeEventListener('abort', wake)
    }
  }

  async *#changes(session: Session, signal: AbortSignal): AsyncGenerator<SessionLine, void> {
    let pingAt = session.heardAt + this.#times.pingMs
    while (this.#isOpen(session, signal)) {
      for (const id of session.changed) {
        session.changed.delete(id)
        yield* this.#linesOf(session, id)
        break
      }
      const { overlay } = session
      session.overlay = undefined
      if (overlay) yield { kind: 'overlay', overlay }
      if (this.#times.now() >= pingAt) {
        pingAt = this.#times.now() + this.#times.pingMs
        yield { kind: 'ping' }
      }
      if (session.changed.size > 0 || session.overlay || !this.#isOpen(session, signal)) continue
      await this.#sleep(session, Math.max(0, pingAt - this.#times.now()))
    }
  }

  #isOpen(session: Session, signal: AbortSignal): boolean {
    const silence = this.#times.now() - session.heardAt
    return this.#current === session && !signal.aborted && silence < this.#times.silenceMs
  }

  async *#linesOf(session: Session, id: VmId): AsyncGenerator<SessionLine, void> {
    // The position is taken before the read: a later read has a higher position.
    const seq = (session.seq += 1)
    let vm: Vm | undefined
    let stopped: StopCause | undefined
    try {
      vm = await this.#shown.read(id)
      if (vm?.power === 'off') stopped = await this.#shown.stopped?.(id)
    } catch (error) {
      // An unknown state is not reported; "gone" would be wrong.
      this.#shown.log?.(`cannot read VM ${id}; its state is not reported`, error)
      return
    }
    const text = JSON.stringify([vm ?? null, stopped])
    const before = session.sent.get(id)
    if (text === before || (vm === undefined && before === undefined)) return
    if (vm === undefined) session.sent.delete(id)
    else session.sent.set(id, text)
    yield { kind: 'vm', id, seq, ...(vm && { vm }), ...(stopped && { stopped }) }
  }

  async #sleep(session: Session, ms: number): Promise<void> {
    const woken = Promise.withResolvers<void>()
    session.wake = woken.resolve
    const timer = setTimeout(woken.resolve, ms)
    await woken.promise
    clearTimeout(timer)
    session.wake = () => undefined
  }
}
