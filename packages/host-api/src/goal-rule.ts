import { Fault } from '@skerry/fault'
import type { Order, Vm } from '@skerry/vm'

import { goals, type Goal, type GoalRule } from './goals.ts'

/** What this goal requires of a VM and changes; undefined if the VM begins or ends with it. */
export function ruleOf(goal: Goal): GoalRule | undefined {
  const rule = goals[goal.goal].rule as ((goal: Goal) => GoalRule) | undefined
  return rule?.(goal)
}

/** Whether the VM shows the effect of the goal: a step that died before its outcome was recorded finds its work done. */
export function isReached(goal: Goal, vm: Vm): boolean {
  const { to, sets } = ruleOf(goal) ?? {}
  if (!goals[goal.goal].repeatable || (to === undefined && sets === undefined)) return false
  const settings = Object.entries(sets ?? {}) as [keyof Vm, unknown][]
  return (to ?? vm.power) === vm.power && settings.every(([name, value]) => vm[name] === value)
}

/** Throws if the VM is in none of the power states in which the order may start. Nothing has happened then. */
export function requireFrom({ vm: id, from }: Order, goal: Goal, vm: Vm): void {
  if (!from || from.includes(vm.power) || isReached(goal, vm)) return
  throw new Fault('wrong-state', `VM ${id} is ${vm.power}; it must be ${from.join(' or ')}`, {
    detail: vm.power,
  })
}
