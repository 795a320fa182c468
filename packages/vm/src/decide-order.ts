import type { TaskId, VmId } from './id.ts'
import type { Order } from './order.ts'
import type { Report } from './vm.ts'

/** What a host remembers of its orders for one VM. It outlives the VM. Numbers are decimal. */
export interface Ledger {
  readonly vm: VmId
  readonly incarnation: string
  /** The highest number there was; whatever is lower is refused for ever. */
  readonly highest: string
  readonly task: TaskId
  /** What the steps of that task ended with, by their keys. */
  readonly results: Readonly<Record<string, Report>>
  /** Steps of that task that must not be tried twice, begun and without a result. */
  readonly begun: readonly string[]
  /** Who it is for and what it was made as, in the cloud's own words. */
  readonly deed?: unknown
  /** When it was deleted: from then on this is its tombstone. */
  readonly gone?: string
}

/** What must be known of a goal to judge an order for it. */
export interface GoalNature {
  /** Whether it may be tried again when nobody knows if it happened. */
  readonly repeatable: boolean
  /** 'begins' may come before there is a VM and bring a higher incarnation; 'ends' is content with none. */
  readonly life: 'begins' | 'needs' | 'ends'
}

/** The step that a host is at for this VM. */
export interface AtWork {
  readonly key: string
  readonly number: string
  readonly incarnation: string
}

export type OrderRefusal = 'stale' | 'other-incarnation' | 'gone' | 'interrupted'

/** `ledger` is what must be on disk before anything else is done; it is the one given where nothing changes. */
export type Verdict =
  | {
      readonly say: 'refuse'
      readonly why: OrderRefusal
      /** stale: the highest number; other-incarnation and gone: the incarnation that counts. */
      readonly detail: string
      readonly ledger?: Ledger
    }
  | { readonly say: 'known'; readonly report: Report; readonly ledger: Ledger }
  | { readonly say: 'join'; readonly ledger: Ledger }
  /** What is at work is to be waited for, and told to stop where it is of a claim that no longer counts. */
  | { readonly say: 'wait'; readonly abort: boolean; readonly ledger: Ledger }
  | { readonly say: 'act'; readonly ledger: Ledger }

/**
 * Judges an order by what the host remembers (docs/operations.md, Step). The same rules for every
 * host, real or simulated, and for the model that tries all interleavings of them.
 */
export function decideOrder(
  known: Ledger | undefined,
  order: Order,
  goal: GoalNature,
  atWork?: AtWork,
): Verdict {
  const refusal = refuse(known, order, goal)
  if (refusal) return { say: 'refuse', ...refusal }
  const ledger = note(known, order)
  const report = ledger.results[order.key]
  if (report) return { say: 'known', report, ledger }
  if (atWork) {
    // The same step for another life of the VM is another step.
    const isSameLife = atWork.incarnation === order.incarnation
    if (atWork.key === order.key && isSameLife) return { say: 'join', ledger }
    const abort = !isSameLife || BigInt(atWork.number) < BigInt(order.number)
    return { say: 'wait', abort, ledger }
  }
  if (!goal.repeatable && ledger.begun.includes(order.key)) {
    return { say: 'refuse', why: 'interrupted', detail: order.key, ledger }
  }
  return { say: 'act', ledger }
}

function refuse(
  known: Ledger | undefined,
  { number, task, incarnation }: Order,
  { life }: GoalNature,
): { why: OrderRefusal; detail: string } | undefined {
  if (!known) return life === 'needs' ? { why: 'gone', detail: incarnation } : undefined
  const ahead = BigInt(number) - BigInt(known.highest)
  if (ahead < 0n || (ahead === 0n && task !== known.task)) {
    return { why: 'stale', detail: known.highest }
  }
  const later = BigInt(incarnation) - BigInt(known.incarnation)
  const other = { why: 'other-incarnation', detail: known.incarnation } as const
  if (known.gone === undefined) {
    return later === 0n || (later > 0n && life === 'begins') ? undefined : other
  }
  const gone = { why: 'gone', detail: known.incarnation } as const
  if (life === 'begins') return later > 0n ? undefined : gone
  if (life === 'ends') return later >= 0n ? undefined : other
  return later === 0n ? gone : other
}

function note(known: Ledger | undefined, order: Order): Ledger {
  const { vm, incarnation, number, task } = order
  if (known?.incarnation !== incarnation) {
    return { vm, incarnation, highest: number, task, results: {}, begun: [] }
  }
  if (known.highest === number && known.task === task) return known
  if (known.task === task) return { ...known, highest: number }
  return { ...known, highest: number, task, results: {}, begun: [] }
}

/** The ledger once the step has begun that must not be tried twice. */
export const withBegun = (ledger: Ledger, key: string): Ledger => ({
  ...ledger,
  begun: [...ledger.begun.filter((each) => each !== key), key],
})

/** The ledger once it is known that the step did not happen after all. */
export const withoutBegun = (ledger: Ledger, key: string): Ledger => ({
  ...ledger,
  begun: ledger.begun.filter((each) => each !== key),
})

/** What a step has changed besides the VM itself. */
export interface StepOutcome {
  readonly report: Report
  readonly deed?: unknown
  readonly gone?: string
}

/**
 * The ledger with what a step ended with. A step that ends after its task was replaced has still
 * done what it has done, but nobody will ask for its result any more.
 */
export function withOutcome(
  ledger: Ledger,
  { key, task, incarnation }: Order,
  { report, deed, gone }: StepOutcome,
): Ledger {
  if (ledger.incarnation !== incarnation) return ledger
  const facts = {
    ...ledger,
    ...(deed !== undefined && { deed }),
    ...(gone !== undefined && { gone }),
  }
  if (ledger.task !== task) return facts
  return { ...withoutBegun(facts, key), results: { ...ledger.results, [key]: report } }
}
