import { powerStates, type Decision, type PowerState } from '@skerry/vm'

/** The API's words for a VM and the numbers that its documents carry (docs/api/cloud.md). */
export const statusNumber = {
  FAILED_CREATION: -1,
  UNRESOLVED: 0,
  RESOLVED: 1,
  SUSPENDED: 3,
  POWERED_ON: 4,
  UNKNOWN: 6,
  POWERED_OFF: 8,
  // Both are 9 in documents, INCONSISTENT_STATE to older clients: what is written here and what there is differ.
  MISSING: 9,
  LOST: 9,
} as const

/** What a client is shown. */
export type Shown = keyof typeof statusNumber
/** What a VM is, as far as it was ever seen: not to be seen is not a state of it. */
export type Status = Exclude<Shown, 'UNKNOWN' | Fate>
/** MISSING: after a restore its host does not have it. LOST: its host is gone for good, and its disks with it. */
export type Fate = 'MISSING' | 'LOST'
/** What it may be wished to be. */
export type Wanted = Extract<Status, 'POWERED_ON' | 'POWERED_OFF' | 'SUSPENDED'>

export const statusOf: Readonly<Record<PowerState, Wanted>> = {
  off: 'POWERED_OFF',
  on: 'POWERED_ON',
  suspended: 'SUSPENDED',
  // The cloud never pauses a VM; QEMU does, when a disk is full. powerOn lets it go on.
  paused: 'SUSPENDED',
}

/** What a host calls a VM of one of these; undefined where no host has it yet, or none any more. */
export function powersOf(statuses: readonly Status[]): readonly PowerState[] | undefined {
  const powers = powerStates.filter((power) => statuses.includes(statusOf[power]))
  return powers.length > 0 ? powers : undefined
}

export interface Rule {
  /** Legal from these. */
  readonly from: readonly Status[]
  /** What is so afterwards; where it is so already there is nothing to do. */
  readonly to?: Status
}

/** The same three answers as decidePower, for any operation. */
export function decide(now: Status, { from, to }: Rule): Decision {
  if (from.includes(now)) return 'go'
  return now === to ? 'nothing' : 'refuse'
}

/** The same for a VM that may not be there any more: such a one can only be deleted. */
export function decideFor(
  { fate }: { readonly fate: Fate | null },
  now: Status,
  operation: Rule & { readonly closes?: true },
): Decision {
  if (fate === null) return decide(now, operation)
  return operation.closes ? 'go' : 'refuse'
}

/** Whether there is a screen to see: of a VM that is seen to be on, and stays. */
export const hasScreen = (vm: { readonly shown: Shown; readonly closed: boolean }): boolean =>
  vm.shown === 'POWERED_ON' && !vm.closed

/** A vApp is what its VMs are, or MIXED. */
export function statusOfAll(vms: readonly Shown[]): Shown | 'MIXED' {
  const [first = 'RESOLVED', ...others] = vms
  return others.every((each) => each === first) ? first : 'MIXED'
}
