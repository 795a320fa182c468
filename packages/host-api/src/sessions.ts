import { Fault } from '@skerry/fault'
import type { Report, Vm, VmId } from '@skerry/vm'

import type { Hello, Stopped, Told } from './host-api.ts'

/** Both sides say something this often. */
export const PING_MS = 5000
/** Whoever has said nothing for this long is away. */
export const SILENCE_MS = 15_000

/** What a host shows to whoever follows it. */
export interface Shown {
  hello(): Promise<Hello>
  /** The ids of all VMs that there are now. */
  list(): readonly VmId[]
  /** The VM as it is now; undefined when it is gone. */
  read(id: VmId): Promise<Vm | undefined>
  /** Why a VM that was just read as off is off, where that is told. */
  stopped?(id: VmId): Promise<Stopped | undefined>
  /** A VM that could not be read now; it is tried again when something changes. */
  note?(message: string, cause: unknown): void
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
  readonly number: bigint
  seq: number
  heardAt: number
  readonly changed: Set<VmId>
  /** What was last told of each VM, so that looking again tells nothing twice. */
  readonly told: Map<VmId, string>
  wake: () => void
}

/**
 * Who follows this host. It is state, not a log: what changed is a set of ids, read when it is
 * told, so a slow reader misses nothing but what came and went. Only the highest session is served.
 */
export class Sessions {
  readonly #shown: Shown
  readonly #times: SessionTimes
  #current: Session | undefined

  constructor(shown: Shown, some: Partial<SessionTimes> = {}) {
    this.#shown = shown
    this.#times = { ...times, ...some }
  }

  /** This VM may have changed; without an id, any of them may. */
  changed(id?: VmId): void {
    const session = this.#current
    if (!session) return
    if (id !== undefined) session.changed.add(id)
    else
      for (const each of [...session.told.keys(), ...this.#shown.list()]) session.changed.add(each)
    session.wake()
  }

  /** The next place in the session, for a report of this VM that is read after this was called. */
  next(id: VmId): Pick<Report, 'session' | 'seq'> {
    const session = this.#current
    if (!session) return { session: '0', seq: 0 }
    // It is told past the reader of this session: however the VM is when it is looked at next, that is news again.
    session.told.set(id, '')
    return { session: String(session.number), seq: (session.seq += 1) }
  }

  /** The follower of this session is alive. */
  heard(number: string): void {
    const session = this.#current
    if (session?.number !== BigInt(number)) {
      throw new Fault('stale', `session ${number} is not the one that is served`, {
        detail: String(session?.number ?? 0n),
      })
    }
    session.heardAt = this.#times.now()
  }

  async *follow(number: string, signal: AbortSignal): AsyncGenerator<Told, void> {
    const mine = BigInt(number)
    // A number names one session: after a break there is a new one, with a new list.
    const isServed = this.#current === undefined || mine > this.#current.number
    const session: Session = {
      ...{ number: mine, seq: 0, heardAt: this.#times.now() },
      ...{ changed: new Set<VmId>(), told: new Map<VmId, string>(), wake: () => undefined },
    }
    if (isServed) {
      const before = this.#current
      this.#current = session
      before?.wake()
    }
    yield { is: 'hello', hello: await this.#shown.hello() }
    if (!isServed) return
    const wake = () => session.wake()
    signal.addEventListener('abort', wake, { once: true })
    try {
      for (const id of this.#shown.list()) {
        if (!this.#isOpen(session, signal)) return
        yield* this.#tell(session, id)
      }
      yield { is: 'listed', seq: (session.seq += 1) }
      yield* this.#changes(session, signal)
    } finally {
      signal.removeEventListener('abort', wake)
    }
  }

  async *#changes(session: Session, signal: AbortSignal): AsyncGenerator<Told, void> {
    let pingAt = session.heardAt + this.#times.pingMs
    while (this.#isOpen(session, signal)) {
      for (const id of session.changed) {
        session.changed.delete(id)
        yield* this.#tell(session, id)
        break
      }
      if (this.#times.now() >= pingAt) {
        pingAt = this.#times.now() + this.#times.pingMs
        yield { is: 'ping' }
      }
      if (session.changed.size > 0 || !this.#isOpen(session, signal)) continue
      await this.#sleep(session, Math.max(0, pingAt - this.#times.now()))
    }
  }

  #isOpen(session: Session, signal: AbortSignal): boolean {
    const silence = this.#times.now() - session.heardAt
    return this.#current === session && !signal.aborted && silence < this.#times.silenceMs
  }

  async *#tell(session: Session, id: VmId): AsyncGenerator<Told, void> {
    // Its place is taken before it is read: whatever is read later is newer.
    const seq = (session.seq += 1)
    let vm: Vm | undefined
    let stopped: Stopped | undefined
    try {
      vm = await this.#shown.read(id)
      if (vm?.power === 'off') stopped = await this.#shown.stopped?.(id)
    } catch (error) {
      // Nothing is said of what is not known; "gone" would be a lie.
      this.#shown.note?.(`VM ${id} cannot be read and is not told of`, error)
      return
    }
    const text = JSON.stringify([vm ?? null, stopped])
    const before = session.told.get(id)
    if (text === before || (vm === undefined && before === undefined)) return
    if (vm === undefined) session.told.delete(id)
    else session.told.set(id, text)
    yield { is: 'vm', id, seq, ...(vm && { vm }), ...(stopped && { stopped }) }
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
