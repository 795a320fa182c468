import { joinOverlay, readUsage, vmIds, type Host, type Orders } from '@skerry/engine'
import { Fault } from '@skerry/fault'
import {
  ArmedScreens,
  goals,
  requireFrom,
  type VmSpec,
  type Goal,
  type HostApi,
  type HostRecord,
} from '@skerry/host-api'
import { every } from '@skerry/service'
import type { Order, Report, StepOutcome, TaskId, VmId } from '@skerry/vm'

import { openSessions, readUnlessGone } from './changes.ts'
import type { PullImage } from './pull-image.ts'
import { leaveEarlierLife, reach } from './reach.ts'
import { openScreen, pictureOf, requireBoot } from './screen.ts'

/** How often the highest fencing token is persisted and old tombstones are removed. */
const KEEP_MS = 60_000

export interface EngineHostApiOptions {
  readonly host: Host
  readonly orders: Orders
  readonly pull: PullImage
  readonly version: string
  readonly signal: AbortSignal
}

/** Everything that the cloud can request of this machine, on top of the engine. It sees only the cloud's VMs. */
export function makeHostApi({
  host,
  orders,
  pull,
  version,
  signal,
}: EngineHostApiOptions): HostApi {
  const { ledgers } = orders
  const sessions = openSessions(host, { version, highest: () => ledgers.highest }, signal)
  const screens = new ArmedScreens()
  every(
    KEEP_MS,
    signal,
    () => orders.keep(host.clock.now()),
    (error) => host.log('failed to persist the highest fencing token', error),
  )

  const report = async ({ vm }: Order): Promise<Report> => {
    const place = sessions.next(vm)
    const now = await readUnlessGone(host, vm)
    return { ...place, ...(now && { vm: now }) }
  }
  return {
    async step(order, goal, waiting, progress) {
      const work = {
        ready: () => requireReady(host, order, goal),
        act: async (how: { signal: AbortSignal; progress: (percent: number) => void }) => {
          if (goals[goal.goal].life === 'begins') await leaveEarlierLife({ host, order })
          const spec = ledgers.get(order.vm)?.spec as VmSpec | undefined
          await reach({ host, order, spec, pull, ...how }, goal)
          const outcome: StepOutcome = {
            report: await report(order),
            ...('spec' in goal && { spec: goal.spec }),
            ...(goal.goal === 'gone' && { gone: host.clock.now().toISOString() }),
          }
          sessions.changed(order.vm)
          return outcome
        },
      }
      requireRecord(host, orders, order, goal)
      return unlessLeft(orders.inOrder(order, goals[goal.goal], work, progress), waiting)
    },
    stop: async (vm, key) => orders.stop(vm, key),
    follow: (session, leaving) => sessions.follow(session, leaving),
    async ping(session, fencingToken) {
      sessions.heard(session)
      ledgers.hear(fencingToken)
      return { highest: ledgers.highest }
    },
    async *records() {
      yield* recordsOf(host, orders)
    },
    async arm(screen) {
      await requireBoot(host, screen.vm, screen.boot)
      screens.arm(screen)
    },
    open: async (vm, ticket, leaving) => openScreen(host, vm, screens.redeem(vm, ticket), leaving),
    takeScreenshot: (vm, boot) => pictureOf(host, vm, boot),
    readUsage: (vm, window) => readUsage(host, vm, window, 'cloud'),
    async joinOverlay(join) {
      // On disk before the zone has it: tokens that start below it after a restore of the database would be refused here for ever.
      ledgers.hear(join.fencingToken)
      await ledgers.keepHighest()
      await joinOverlay(host, join)
    },
  }
}

/** The recorded orders of each VM, and the VMs whose records of orders are lost. */
function* recordsOf(host: Host, { ledgers }: Orders): Generator<HostRecord, void> {
  const lifeOf = (vm: VmId): string | undefined => {
    const record = host.records.get(vm, 'cloud')
    return record?.phase === 'there' ? record.incarnation : undefined
  }
  for (const { vm, incarnation, highest, task, spec, gone } of ledgers.all()) {
    yield {
      vm,
      incarnation,
      highest,
      task,
      exists: lifeOf(vm) === incarnation,
      ...(spec !== undefined && { spec: spec as VmSpec }),
      ...(gone !== undefined && { gone }),
    }
  }
  for (const vm of vmIds(host, 'cloud')) {
    const incarnation = lifeOf(vm)
    if (incarnation === undefined || ledgers.get(vm)) continue
    yield { vm, incarnation, highest: '0', task: '' as TaskId, exists: true, lost: true }
  }
}

/** The record of a VM's orders is written before the VM exists: a VM without it has lost it. */
function requireRecord(host: Host, orders: Orders, { vm, incarnation }: Order, goal: Goal): void {
  const found = host.records.get(vm, 'cloud')
  if (goal.goal === 'adopted') {
    if (found?.phase === 'there' && found.incarnation === incarnation) return
    const detail = found?.incarnation ?? '0'
    throw new Fault('other-incarnation', `this incarnation of VM ${vm} not found on this host`, {
      detail,
    })
  }
  const isLost = found !== undefined && orders.ledgers.get(vm) === undefined
  if (!isLost && !orders.ledgers.isBroken(vm)) return
  throw new Fault('wrong-state', `VM ${vm} is quarantined: the record of its orders is lost`, {
    detail: 'quarantined',
    hint: 'ask an administrator to adopt it',
  })
}

/** If this throws, nothing has happened yet. */
async function requireReady(host: Host, order: Order, goal: Goal): Promise<void> {
  const vm = order.from && (await readUnlessGone(host, order.vm))
  if (vm) requireFrom(order, goal, vm)
}

/** Stops waiting when the caller disconnects; the step continues. */
async function unlessLeft<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work
  const left = Promise.withResolvers<never>()
  const leave = () => left.reject(signal.reason as Error)
  signal.addEventListener('abort', leave, { once: true })
  if (signal.aborted) leave()
  try {
    return await Promise.race([work, left.promise])
  } finally {
    signal.removeEventListener('abort', leave)
  }
}
