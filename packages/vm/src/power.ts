/** Power states and the commands between them. Pure: no libvirt, no clock. */
export const powerStates = ['off', 'on', 'paused', 'suspended'] as const
export type PowerState = (typeof powerStates)[number]

export const powerCommands = [
  'on',
  'off',
  'shutdown',
  'suspend',
  'pause',
  'unpause',
  'reset',
  'reboot',
] as const
export type PowerCommand = (typeof powerCommands)[number]

export interface PowerRule {
  readonly from: readonly PowerState[]
  readonly to: PowerState
}

export const powerRules: Readonly<Record<PowerCommand, PowerRule>> = {
  on: { from: ['off', 'suspended'], to: 'on' },
  // Not from 'suspended': that would discard the guest's memory.
  off: { from: ['on', 'paused'], to: 'off' },
  shutdown: { from: ['on'], to: 'off' },
  suspend: { from: ['on', 'paused'], to: 'suspended' },
  pause: { from: ['on'], to: 'paused' },
  unpause: { from: ['paused'], to: 'on' },
  reset: { from: ['on', 'paused'], to: 'on' },
  reboot: { from: ['on'], to: 'on' },
}

export type Decision = 'go' | 'nothing' | 'refuse'

/** 'nothing' if the VM already has the target state: a client that lost our answer may retry. */
export function decidePower(now: PowerState, command: PowerCommand): Decision {
  const { from, to } = powerRules[command]
  return from.includes(now) ? 'go' : now === to ? 'nothing' : 'refuse'
}

/** The local API takes commands, the cloud takes goals: the command that leads to a goal, if there is one. */
export function commandTo(goal: PowerState, now: PowerState): PowerCommand | 'nothing' | undefined {
  if (now === goal) return 'nothing'
  return powerCommands.find(
    (command) => powerRules[command].to === goal && powerRules[command].from.includes(now),
  )
}
