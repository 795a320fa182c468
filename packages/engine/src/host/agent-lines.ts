import { Fault } from '@skerry/fault'

/** Maximum number of concurrent guest agent calls on a host. Each occupies a libvirtd worker. */
export const AGENT_CALLS_AT_ONCE = 3
/** How long the caller waits: queueing and answer together. */
export const AGENT_MS = 5000

/** How long an agent counts as slow after it stalled once, even if it answers in between: a guest could choose when it does. */
const SLOW_MS = 300_000
/** How many of the concurrent calls may go to slow agents. */
const SLOW_AT_ONCE = 1
/** How many may go to slow agents or to agents without enough answers yet; proven agents always have one line left. */
const UNPROVED_AT_ONCE = 2
const ENOUGH_ANSWERS = 3
/** How many calls may wait for a line; further calls are rejected at once. */
const WAITING_MAX = 1000
/** How many VMs are remembered; the oldest is dropped first. */
const REMEMBERED_MAX = 10_000

type AgentStanding = 'good' | 'unproved' | 'slow'

/** The history of one agent. */
interface AgentHistory {
  readonly answers: number
  readonly stalledAt?: number
}

interface WaitingCall {
  readonly vm: string
  readonly begin: () => void
}

/**
 * Schedules guest agent calls: few at once, one per VM, and agents known to answer before those
 * that are not. A guest that stalls costs its own caller five seconds and the other guests of the
 * host nothing.
 */
export class AgentLines {
  readonly #pasts = new Map<string, AgentHistory>()
  readonly #active = new Map<string, AgentStanding>()
  #waiting: WaitingCall[] = []
  readonly #patienceMs: number
  readonly #slowMs: number

  constructor({ patienceMs = AGENT_MS, slowMs = SLOW_MS } = {}) {
    this.#patienceMs = patienceMs
    this.#slowMs = slowMs
  }

  /**
   * Runs `ask` when a line is free. The line stays occupied until `ask` ends, even if the caller has
   * given up: libvirtd is still working on the call.
   */
  async run<T>(vm: string, ask: () => Promise<T>): Promise<T> {
    const late = Promise.withResolvers<never>()
    late.promise.catch(() => undefined)
    const started = Promise.withResolvers<void>()
    const waiting: WaitingCall = { vm, begin: started.resolve }
    if (this.#waiting.length >= WAITING_MAX) throw new AgentsBusy()
    this.#waiting.push(waiting)
    const timer = setTimeout(() => {
      // Part of this time was spent in the queue: whether the agent stalled is decided when the call ends.
      if (!this.#waiting.includes(waiting)) return late.reject(new AgentAway())
      this.#waiting = this.#waiting.filter((each) => each !== waiting)
      late.reject(new AgentsBusy())
    }, this.#patienceMs)
    this.#next()
    try {
      await Promise.race([started.promise, late.promise])
      return await Promise.race([this.#hold(vm, ask), late.promise])
    } finally {
      clearTimeout(timer)
    }
  }

  async #hold<T>(vm: string, ask: () => Promise<T>): Promise<T> {
    const began = performance.now()
    try {
      const answer = await ask()
      this.#remember(vm, 'answered')
      return answer
    } finally {
      if (performance.now() - began >= this.#patienceMs * 0.9) this.#remember(vm, 'stalled')
      this.#active.delete(vm)
      this.#next()
    }
  }

  #remember(vm: string, what: 'answered' | 'stalled'): void {
    const past = this.#pasts.get(vm) ?? { answers: 0 }
    this.#pasts.delete(vm)
    this.#pasts.set(
      vm,
      what === 'answered'
        ? { ...past, answers: past.answers + 1 }
        : { ...past, stalledAt: performance.now() },
    )
    const [oldest] = this.#pasts.keys()
    if (this.#pasts.size > REMEMBERED_MAX && oldest !== undefined) this.#pasts.delete(oldest)
  }

  /** Starts every call that may start, agents known to answer first. */
  #next(): void {
    for (const standing of ['good', 'unproved', 'slow'] as const) {
      for (const waiting of this.#waiting.filter(({ vm }) => this.#of(vm) === standing)) {
        if (!this.#mayBegin(waiting.vm, standing)) continue
        this.#waiting = this.#waiting.filter((each) => each !== waiting)
        this.#active.set(waiting.vm, standing)
        waiting.begin()
      }
    }
  }

  #of(vm: string): AgentStanding {
    const { answers, stalledAt } = this.#pasts.get(vm) ?? { answers: 0 }
    if (stalledAt !== undefined && performance.now() - stalledAt < this.#slowMs) return 'slow'
    return answers >= ENOUGH_ANSWERS ? 'good' : 'unproved'
  }

  #mayBegin(vm: string, standing: AgentStanding): boolean {
    const active = [...this.#active.values()]
    const count = (...of: readonly AgentStanding[]) =>
      active.filter((each) => of.includes(each)).length
    if (this.#active.has(vm) || active.length >= AGENT_CALLS_AT_ONCE) return false
    if (standing === 'slow' && count('slow') >= SLOW_AT_ONCE) return false
    return standing === 'good' || count('slow', 'unproved') < UNPROVED_AT_ONCE
  }
}

/** No line became free in time: agents of other guests stall. */
class AgentsBusy extends Fault {
  constructor() {
    super('unavailable', 'the guest agents of this host are busy', {
      hint: 'retry in a few seconds; agents of other guests do not answer',
    })
  }
}

/** No agent answers in this guest, or it stopped answering. */
export class AgentAway extends Fault {
  constructor(cause?: unknown) {
    super('unavailable', 'the guest agent does not answer', {
      cause,
      hint: 'wait until the guest has started, and check that qemu-guest-agent runs in it',
    })
  }
}

/** Whether an agent that was asked at `began` may only have been slow; libvirt reports one that is gone at once. */
export const mayAnswerLater = (error: unknown, began: number): boolean =>
  error instanceof AgentsBusy ||
  (error instanceof AgentAway && performance.now() - began >= AGENT_MS * 0.9)
