import type { TaskId, VmId } from './id.ts'
import type { Order } from './order.ts'
import type { Report } from './vm.ts'

/** A host's record of its orders for one VM. It outlives the VM. Fencing tokens are decimal. */
export interface Ledger {
  readonly vm: VmId
  readonly incarnation: string
  /** The highest fencing token received; any lower one is rejected forever. */
  readonly highest: string
  readonly task: TaskId
  /** The reports of that task's finished steps, by key. */
  readonly results: Readonly<Record<string, Report>>
  /** Steps of that task that must not be repeated, started and without a result. */
  readonly begun: readonly string[]
  /** The VM spec: its owner and its settings, in the cloud's format. */
  readonly spec?: unknown
  /** When it was deleted: from then on this is its tombstone. */
  readonly gone?: string
}

/** The properties of a goal that decide on an order. */
export interface GoalNature {
  /** Whether it may be repeated if its outcome is unknown. */
  readonly repeatable: boolean
  /** 'begins' may precede the VM and bring a higher incarnation; 'ends' succeeds without a VM. */
  readonly life: 'begins' | 'needs' | 'ends'
}

/** The step that the host is executing for this VM. */
export interface AtWork {
  readonly key: string
  readonly fencingToken: string
  readonly incarnation: string
}

export type OrderRefusal = 'stale' | 'other-incarnation' | 'gone' | 'interrupted'

/** `ledger` must be on disk before anything else is done; it is the given one if nothing changes. */
export type Verdict =
  | {
      readonly kind: 'refuse'
      readonly why: OrderRefusal
      /** stale: the highest fencing token; other-incarnation and gone: the current incarnation. */
      readonly detail: string
      readonly ledger?: Ledger
    }
  | { readonly kind: 'known'; readonly report: Report; readonly ledger: Ledger }
  | { readonly kind: 'join'; readonly ledger: Ledger }
  /** Wait for the running step, and abort it if its claim is outdated. */
  | { readonly kind: 'wait'; readonly abort: boolean; readonly ledger: Ledger }
  | { readonly kind: 'act'; readonly ledger: Ledger }

/**
 * Decides on an order by the host's ledger (docs/design/consistency.md, Step). The same rules apply to every
 * host, real or simulated, and to the model that checks all interleavings.
 */
export function decideOrder(
  known: Ledger | undefined,
  order: Order,
  goal: GoalNature,
  atWork?: AtWork,
): Verdict {
  const refusal = refuse(known, order, goal)
  if (refusal) return { kind: 'refuse', ...refusal }
  const ledger = note(known, order)
  const report = ledger.results[order.key]
  if (report) return { kind: 'known', report, ledger }
  if (atWork) {
    // The same step for another incarnation of the VM is another step.
    const isSameLife = atWork.incarnation === order.incarnation
    if (atWork.key === order.key && isSameLife) return { kind: 'join', ledger }
    const abort = !isSameLife || BigInt(atWork.fencingToken) < BigInt(order.fencingToken)
    return { kind: 'wait', abort, ledger }
  }
  if (!goal.repeatable && ledger.begun.includes(order.key)) {
    return { kind: 'refuse', why: 'interrupted', detail: order.key, ledger }
  }
  return { kind: 'act', ledger }
}

function refuse(
  known: Ledger | undefined,
  { fencingToken, task, incarnation }: Order,
  { life }: GoalNature,
): { why: OrderRefusal; detail: string } | undefined {
  if (!known) return life === 'needs' ? { why: 'gone', detail: incarnation } : undefined
  const ahead = BigInt(fencingToken) - BigInt(known.highest)
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
  const { vm, incarnation, fencingToken, task } = order
  if (known?.incarnation !== incarnation) {
    return { vm, incarnation, highest: fencingToken, task, results: {}, begun: [] }
  }
  if (known.highest === fencingToken && known.task === task) return known
  if (known.task === task) return { ...known, highest: fencingToken }
  return { ...known, highest: fencingToken, task, results: {}, begun: [] }
}

/** The ledger after the start of a step that must not be repeated. */
export const withBegun = (ledger: Ledger, key: string): Ledger => ({
  ...ledger,
  begun: [...ledger.begun.filter((each) => each !== key), key],
})

/** The ledger once it is known that the step did not happen. */
export const withoutBegun = (ledger: Ledger, key: string): Ledger => ({
  ...ledger,
  begun: ledger.begun.filter((each) => each !== key),
})

/** The changes of a step besides those of the VM itself. */
export interface StepOutcome {
  readonly report: Report
  readonly spec?: unknown
  readonly gone?: string
}

/**
 * The ledger with the outcome of a step. A step that ends after its task was superseded still has
 * its effect, but its result is no longer needed.
 */
export function withOutcome(
  ledger: Ledger,
  { key, task, incarnation }: Order,
  { report, spec, gone }: StepOutcome,
): Ledger {
  if (ledger.incarnation !== incarnation) return ledger
  const facts = {
    ...ledger,
    ...(spec !== undefined && { spec }),
    ...(gone !== undefined && { gone }),
  }
  if (ledger.task !== task) return facts
  return { ...withoutBegun(facts, key), results: { ...ledger.results, [key]: report } }
}
