/** What power a VM has and what may be done about it. Pure: no libvirt, no clock. */
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
  // Not from 'suspended': it would throw away what the guest had in memory.
  off: { from: ['on', 'paused'], to: 'off' },
  shutdown: { from: ['on'], to: 'off' },
  suspend: { from: ['on', 'paused'], to: 'suspended' },
  pause: { from: ['on'], to: 'paused' },
  unpause: { from: ['paused'], to: 'on' },
  reset: { from: ['on', 'paused'], to: 'on' },
  reboot: { from: ['on'], to: 'on' },
}

export type Decision = 'go' | 'nothing' | 'refuse'

/** 'nothing' where the VM already is: a client that lost our answer may ask again. */
export function decidePower(now: PowerState, command: PowerCommand): Decision {
  const { from, to } = powerRules[command]
  return from.includes(now) ? 'go' : now === to ? 'nothing' : 'refuse'
}

/** A laptop sends commands, the cloud names goals: the command that leads there, if one does. */
export function commandTo(goal: PowerState, now: PowerState): PowerCommand | 'nothing' | undefined {
  if (now === goal) return 'nothing'
  return powerCommands.find(
    (command) => powerRules[command].to === goal && powerRules[command].from.includes(now),
  )
}
