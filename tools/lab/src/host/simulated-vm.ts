// What an order changes at a simulated VM, by the rules that the goals declare.
import { createHash } from 'node:crypto'

import { Fault } from '@skerry/fault'
import { isReached, ruleOf, type Goal, type VmSpec } from '@skerry/host-api'
import {
  FIRST_FIXED,
  LAST_FIXED,
  networkOf,
  type Card,
  type Order,
  type Vm,
  type VmId,
} from '@skerry/vm'

export type SnapshotGoal = Extract<Goal, { goal: 'snapshotted' | 'reverted' | 'noSnapshots' }>
export const isSnapshot = (goal: Goal): goal is SnapshotGoal =>
  goal.goal === 'snapshotted' || goal.goal === 'reverted' || goal.goal === 'noSnapshots'

export function reach(
  now: Vm | undefined,
  { vm: id, incarnation }: Order,
  goal: Exclude<Goal, SnapshotGoal>,
  boot: () => string,
  /** The spec of its last order. */
  before?: VmSpec,
): Vm | undefined {
  if (goal.goal === 'gone') return undefined
  if (goal.goal === 'image' || (goal.goal === 'adopted' && now)) return now
  if (goal.goal === 'defined' || goal.goal === 'cloned') {
    const { name, cpus, memoryMiB, diskMiB, org, nics } = goal.spec
    // Of a network that reaches across hosts, the cloud chooses the address.
    const isNew = !now || before?.nics !== undefined
    const card = nics ? undefined : (now?.card ?? (isNew ? cardFor(id, org) : undefined))
    if (now) {
      const { card: _, ...kept } = now
      return { ...kept, ...(card && { card }), name, cpus, memoryMiB, diskMiB }
    }
    return {
      ...(card && { card }),
      id,
      name,
      tag: '',
      power: 'off',
      incarnation,
      boot: null,
      cpus,
      memoryMiB,
      diskMiB,
      nested: false,
      autostart: false,
      sharing: false,
    }
  }
  if (!now || goal.goal === 'adopted') throw new Fault('gone', `there is no VM ${id} on this host`)
  const { from, to = now.power, sets } = ruleOf(goal) ?? {}
  if (!from?.includes(now.power) && !isReached(goal, now)) {
    throw new Fault('wrong-state', `VM ${id} is ${now.power}`, { detail: now.power })
  }
  return { ...withPower(now, to, boot), ...sets }
}

/** There is no network here: the addresses are simulated. */
function cardFor(id: VmId, org: string): Card {
  const [a = 0, b = 0] = createHash('sha256').update(id).digest()
  const [net = 0] = createHash('sha256').update(org).digest()
  const hex = (byte: number) => byte.toString(16).padStart(2, '0')
  const last = FIRST_FIXED + (b % (LAST_FIXED - FIRST_FIXED + 1))
  return {
    network: networkOf(org),
    mac: `52:00:00:00:${hex(a)}:${hex(b)}`,
    address: `10.84.${net}.${last}`,
  }
}

export function withPower(vm: Vm, to: Vm['power'], boot: () => string): Vm {
  const runs = (power: Vm['power']) => power === 'on' || power === 'paused'
  if (!runs(to)) return { ...vm, power: to, boot: null }
  return { ...vm, power: to, boot: runs(vm.power) ? vm.boot : boot() }
}
