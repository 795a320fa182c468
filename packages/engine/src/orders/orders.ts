import { Fault, retryableKinds } from '@skerry/fault'
import {
  decideOrder,
  withBegun,
  withOutcome,
  withoutBegun,
  type GoalNature,
  type Ledger,
  type Order,
  type Report,
  type StepOutcome,
  type Verdict,
  type VmId,
} from '@skerry/vm'

import { Ledgers } from './ledgers.ts'

/** A tombstone is kept for as long as an order may still be in transit. */
const TOMBSTONE_MS = 90 * 24 * 3_600_000

/** The work of a step, run once it is permitted. */
export interface Work {
  /** Checks whether it can run now, and throws if not. Nothing has happened by then. */
  ready?(): Promise<void>
  act(at: {
    readonly signal: AbortSignal
    readonly progress: (percent: number) => void
  }): Promise<StepOutcome>
}

interface RunningStep {
  readonly key: string
  fencingToken: string
  readonly incarnation: string
  readonly stop: AbortController
  readonly listeners: Set<(percent: number) => void>
  readonly ended: Promise<Report>
}

/** Why a step was stopped. */
const DISPLACED = 'displaced'
const ASKED = 'asked'

/**
 * Executes a cloud's orders on one host: each key once, never with a lower fencing token, one step
 * per VM at a time. State that must survive a crash is on disk before anything is done.
 */
export class Orders {
  readonly ledgers: Ledgers
  readonly #running = new Map<VmId, RunningStep>()

  private constructor(ledgers: Ledgers) {
    this.ledgers = ledgers
  }

  static async open(directory: string): Promise<Orders> {
    return new Orders(await Ledgers.load(directory))
  }

  /** Executes the step, joins it if it runs, or returns its earlier report. */
  async inOrder(
    order: Order,
    goal: GoalNature,
    work: Work,
    progress?: (percent: number) => void,
  ): Promise<Report> {
    for (;;) {
      const { vm } = order
      const running = this.#running.get(vm)
      const verdict = decideOrder(this.ledgers.get(vm), order, goal, running)
      if (verdict.ledger && verdict.ledger !== this.ledgers.get(vm)) {
        this.ledgers.put(verdict.ledger)
      }
      if (running) displace(running, verdict, order)
      // A rejection that changes nothing needs no write.
      if (verdict.ledger && !this.ledgers.isSettled(vm)) {
        await this.ledgers.settled(vm)
        continue
      }
      switch (verdict.kind) {
        case 'refuse':
          throw refusal(order, verdict.why, verdict.detail)
        case 'known':
          return verdict.report
        case 'join':
          if (!running) continue
          return listen(running, progress)
        case 'wait':
          await running?.ended.catch(() => undefined)
          continue
        case 'act':
          return listen(this.#begin(order, goal, work), progress)
      }
    }
  }

  /** Asks the step to stop, if it is running. Its callers get the outcome. */
  stop(vm: VmId, key: string): void {
    const running = this.#running.get(vm)
    if (running?.key === key) running.stop.abort(ASKED)
  }

  /** Call it periodically: persists the highest fencing token and drops old tombstones. */
  async keep(now: Date): Promise<void> {
    await this.ledgers.keepHighest()
    await this.ledgers.forgetGone(new Date(now.getTime() - TOMBSTONE_MS))
  }

  /** Synchronous, so that nothing can happen between the verdict and the start. */
  #begin(order: Order, goal: GoalNature, work: Work): RunningStep {
    const { vm, key, fencingToken, incarnation } = order
    const stop = new AbortController()
    const listeners = new Set<(percent: number) => void>()
    const ended = this.#carryOut(order, goal, work, stop.signal, (percent) => {
      for (const each of listeners) each(percent)
    }).finally(() => this.#running.delete(vm))
    // Waiting callers get the error; callers that have disconnected retry.
    ended.catch(() => undefined)
    const running = { key, fencingToken, incarnation, stop, listeners, ended }
    this.#running.set(vm, running)
    return running
  }

  async #carryOut(
    order: Order,
    goal: GoalNature,
    work: Work,
    signal: AbortSignal,
    progress: (percent: number) => void,
  ): Promise<Report> {
    try {
      await work.ready?.()
      signal.throwIfAborted()
      const outcome = goal.repeatable
        ? await work.act({ signal, progress })
        : await this.#once(order, () => work.act({ signal, progress }))
      await this.#change(order.vm, (ledger) => withOutcome(ledger, order, outcome))
      return outcome.report
    } catch (error) {
      if (!signal.aborted) throw error
      if (signal.reason === DISPLACED) {
        throw refusal(order, 'stale', this.ledgers.get(order.vm)?.highest ?? order.fencingToken)
      }
      throw new Fault('canceled', `${order.key} was canceled on request`, { cause: error })
    }
  }

  /** "Begun" is on disk before anything is done, so that the step is never done twice. */
  async #once(order: Order, act: () => Promise<StepOutcome>): Promise<StepOutcome> {
    const { vm, key } = order
    await this.#change(vm, (ledger) => withBegun(ledger, key))
    try {
      return await act()
    } catch (error) {
      if (!(error instanceof Fault) || retryableKinds.has(error.kind)) {
        throw refusal(order, 'interrupted', key, error)
      }
      // A rejection means that it did not happen.
      await this.#change(vm, (ledger) => withoutBegun(ledger, key))
      throw error
    }
  }

  async #change(vm: VmId, change: (ledger: Ledger) => Ledger): Promise<void> {
    const ledger = this.ledgers.get(vm)
    if (ledger) this.ledgers.put(change(ledger))
    await this.ledgers.settled(vm)
  }
}

/** A later claim takes over the step with the same key, and aborts any other. */
function displace(running: RunningStep, verdict: Verdict, { fencingToken }: Order): void {
  if (verdict.kind === 'join' && BigInt(fencingToken) > BigInt(running.fencingToken))
    running.fencingToken = fencingToken
  if (verdict.kind === 'wait' && verdict.abort) running.stop.abort(DISPLACED)
}

async function listen(running: RunningStep, progress?: (percent: number) => void): Promise<Report> {
  if (progress) running.listeners.add(progress)
  try {
    return await running.ended
  } finally {
    if (progress) running.listeners.delete(progress)
  }
}

const words = {
  stale: (order: Order, detail: string) =>
    `stale fencing token ${order.fencingToken} of ${order.key}: this host has seen ${detail}`,
  'other-incarnation': (order: Order, detail: string) =>
    `${order.key} is for incarnation ${order.incarnation} of VM ${order.vm}, this host has incarnation ${detail}`,
  gone: (order: Order) => `VM ${order.vm} not found on this host`,
  interrupted: (order: Order) =>
    `${order.key} was started and its outcome is unknown: it may have taken effect`,
} as const

function refusal(order: Order, why: keyof typeof words, detail: string, cause?: unknown): Fault {
  return new Fault(why, words[why](order, detail), { detail, cause })
}
