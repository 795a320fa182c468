// What an order changes at a simulated VM, by the same tables as at a real host.
import { createHash } from 'node:crypto'

import { Fault } from '@skerry/fault'
import type { Goal } from '@skerry/host-api'
import {
  commandTo,
  decidePower,
  FIRST_FIXED,
  LAST_FIXED,
  networkOf,
  type Card,
  type Order,
  type Vm,
  type VmId,
} from '@skerry/vm'

export type SnapshotGoal = Extract<Goal, { be: 'snapshotted' | 'reverted' | 'unsnapshotted' }>
export const isSnapshot = (goal: Goal): goal is SnapshotGoal =>
  goal.be === 'snapshotted' || goal.be === 'reverted' || goal.be === 'unsnapshotted'

export function requireFrom({ vm, from }: Order, goal: Goal, now: Vm | undefined): void {
  if (!now || !from || from.includes(now.power)) return
  if (goal.be === 'power' && goal.to === now.power) return
  if ((goal.be === 'shutdown' || goal.be === 'discarded') && now.power === 'off') return
  throw new Fault('wrong-state', `VM ${vm} is ${now.power}`, { detail: now.power })
}

export function reach(
  now: Vm | undefined,
  { vm: id, incarnation }: Order,
  goal: Exclude<Goal, SnapshotGoal>,
  boot: () => string,
): Vm | undefined {
  if (goal.be === 'gone') return undefined
  if (goal.be === 'image' || (goal.be === 'adopted' && now)) return now
  if (goal.be === 'defined' || goal.be === 'cloned') {
    const { name, cpus, memoryMiB, diskMiB } = goal.deed
    if (now) return { ...now, name, cpus, memoryMiB, diskMiB }
    return {
      card: cardFor(id, goal.deed.org),
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
  if (!now || goal.be === 'adopted') throw new Fault('gone', `there is no VM ${id} on this host`)
  if (!may(now, goal)) {
    throw new Fault('wrong-state', `VM ${id} is ${now.power}`, { detail: now.power })
  }
  if (goal.be === 'nested') return { ...now, nested: goal.to }
  if (goal.be === 'shutdown' || goal.be === 'discarded') return withPower(now, 'off', boot)
  return goal.be === 'power' ? withPower(now, goal.to, boot) : { ...now, power: 'on' }
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

/** The same tables as a real host's. */
function may({ power, nested }: Vm, goal: Goal): boolean {
  if (goal.be === 'nested') return nested === goal.to || power === 'off'
  if (goal.be === 'power') return commandTo(goal.to, power) !== undefined
  if (goal.be === 'shutdown') return decidePower(power, 'shutdown') !== 'refuse'
  if (goal.be === 'discarded') return power !== 'on'
  return (goal.be === 'reset' || goal.be === 'reboot') && decidePower(power, goal.be) === 'go'
}

export function withPower(vm: Vm, to: Vm['power'], boot: () => string): Vm {
  const runs = (power: Vm['power']) => power === 'on' || power === 'paused'
  if (!runs(to)) return { ...vm, power: to, boot: null }
  return { ...vm, power: to, boot: runs(vm.power) ? vm.boot : boot() }
}
