import { vmIds, type Host, type Orders } from '@skerry/engine'
import { Fault } from '@skerry/fault'
import {
  ArmedScreens,
  goals,
  type Deed,
  type Goal,
  type HostApi,
  type HostRecord,
} from '@skerry/host-api'
import type { Order, PowerState, Report, StepOutcome, TaskId, VmId } from '@skerry/vm'

import { openSessions, readUnlessGone } from './changes.ts'
import type { PullImage } from './pull-image.ts'
import { leaveEarlierLife, reach } from './reach.ts'
import { openScreen, pictureOf, requireBoot } from './screen.ts'

/** How often the highest number is written down and old tombstones go. */
const KEEP_MS = 60_000

export interface DoorOptions {
  readonly host: Host
  readonly orders: Orders
  readonly pull: PullImage
  readonly version: string
  readonly signal: AbortSignal
}

/** All that the cloud can ask of this machine, over the engine. It sees the cloud's VMs only. */
export function openDoor({ host, orders, pull, version, signal }: DoorOptions): HostApi {
  const { ledgers } = orders
  const sessions = openSessions(host, { version, highest: () => ledgers.highest }, signal)
  const screens = new ArmedScreens()
  const timer = setInterval(() => {
    orders
      .keep(host.clock.now())
      .catch((error: unknown) => host.note('the highest number could not be written down', error))
  }, KEEP_MS)
  timer.unref()
  signal.addEventListener('abort', () => clearInterval(timer))

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
          if (goals[goal.be].life === 'begins') await leaveEarlierLife({ host, order })
          const deed = ledgers.get(order.vm)?.deed as Deed | undefined
          await reach({ host, order, org: deed?.org, pull, ...how }, goal)
          const outcome: StepOutcome = {
            report: await report(order),
            ...('deed' in goal && { deed: goal.deed }),
            ...(goal.be === 'gone' && { gone: host.clock.now().toISOString() }),
          }
          sessions.changed(order.vm)
          return outcome
        },
      }
      requireRecord(host, orders, order, goal)
      return unlessLeft(orders.inOrder(order, goals[goal.be], work, progress), waiting)
    },
    stop: async (vm, key) => orders.stop(vm, key),
    follow: (session, leaving) => sessions.follow(session, leaving),
    async ping(session, number) {
      sessions.heard(session)
      ledgers.hear(number)
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
  }
}

/** What was ordered, VM by VM, and the VMs of which nobody knows any more what they were ordered. */
function* recordsOf(host: Host, { ledgers }: Orders): Generator<HostRecord, void> {
  const lifeOf = (vm: VmId): string | undefined => {
    const record = host.records.get(vm, 'cloud')
    return record?.phase === 'there' ? record.incarnation : undefined
  }
  for (const { vm, incarnation, highest, task, deed, gone } of ledgers.all()) {
    yield {
      ...{ vm, incarnation, highest, task, there: lifeOf(vm) === incarnation },
      ...(deed !== undefined && { deed: deed as Deed }),
      ...(gone !== undefined && { gone }),
    }
  }
  for (const vm of vmIds(host, 'cloud')) {
    const incarnation = lifeOf(vm)
    if (incarnation === undefined || ledgers.get(vm)) continue
    yield { vm, incarnation, highest: '0', task: '' as TaskId, there: true, lost: true }
  }
}

/** The record of a VM's orders is written before there is a VM: one without it has lost it. */
function requireRecord(host: Host, orders: Orders, { vm, incarnation }: Order, goal: Goal): void {
  const found = host.records.get(vm, 'cloud')
  if (goal.be === 'adopted') {
    if (found?.phase === 'there' && found.incarnation === incarnation) return
    const detail = found?.incarnation ?? '0'
    throw new Fault('other-incarnation', `there is no such life of VM ${vm} here`, { detail })
  }
  const isLost = found !== undefined && orders.ledgers.get(vm) === undefined
  if (!isLost && !orders.ledgers.isBroken(vm)) return
  throw new Fault('wrong-state', `VM ${vm} is quarantined: what it was ordered is lost`, {
    detail: 'quarantined',
    hint: 'an administrator may adopt it',
  })
}

/** Nothing has happened yet when this throws. */
async function requireReady(host: Host, order: Order, goal: Goal): Promise<void> {
  const { vm: id, from } = order
  const vm = from && (await readUnlessGone(host, id))
  if (!vm || from.includes(vm.power) || isSo(goal, vm.power)) return
  throw new Fault(
    'wrong-state',
    `VM ${id} is ${vm.power}; this needs it to be ${from.join(' or ')}`,
    {
      detail: vm.power,
    },
  )
}

/** A step that died before it was written down finds its own work done. */
const isSo = (goal: Goal, power: PowerState): boolean =>
  (goal.be === 'power' && goal.to === power) ||
  ((goal.be === 'shutdown' || goal.be === 'discarded') && power === 'off')

/** Who leaves is no longer waited with; the step goes on. */
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
