import type { PowerState } from './power.ts'

/**
 * How a VM's disk becomes the disk of a clone. 'freeze' makes it a shared read-only base. A suspended
 * VM's memory belongs to exactly the disk it was saved with, so that disk is copied.
 */
export const cloneWays = {
  off: 'freeze',
  on: 'freeze',
  paused: 'freeze',
  suspended: 'copy',
} as const satisfies Record<PowerState, 'freeze' | 'copy'>

/** The power states that other actions than power commands require. */
export const lifecycleRules = {
  reconfigure: ['off'],
  nest: ['off'],
  snapshot: ['off', 'on', 'paused'],
  revert: ['off', 'on', 'paused'],
  migrate: ['on', 'paused'],
} as const satisfies Record<string, readonly PowerState[]>
export type LifecycleAction = keyof typeof lifecycleRules

export function mayDo(action: LifecycleAction, now: PowerState): boolean {
  return (lifecycleRules[action] as readonly PowerState[]).includes(now)
}
