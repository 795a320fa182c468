import { powerStates, type Decision, type PowerState } from '@skerry/vm'

import type { VmTaskKind } from './task-kind.ts'

/** The statuses of a VM in the API, with their numbers in documents (docs/reference/api/cloud.md). */
export const statusNumber = {
  FAILED_CREATION: -1,
  UNRESOLVED: 0,
  RESOLVED: 1,
  SUSPENDED: 3,
  POWERED_ON: 4,
  UNKNOWN: 6,
  POWERED_OFF: 8,
  // Both are 9 in documents, INCONSISTENT_STATE to older clients: the database and the hosts disagree.
  MISSING: 9,
  LOST: 9,
} as const

/** The status shown to clients. */
export type DisplayedStatus = keyof typeof statusNumber
/** The last observed status of a VM; being unobservable (UNKNOWN) is not a status of its own. */
export type Status = Exclude<DisplayedStatus, 'UNKNOWN' | LostReason>
/** MISSING: after a restore its host does not have it. LOST: its host is permanently gone, with its disks. */
export type LostReason = 'MISSING' | 'LOST'
/** The statuses that can be requested. */
export type DesiredPower = Extract<Status, 'POWERED_ON' | 'POWERED_OFF' | 'SUSPENDED'>

export const statusOf: Readonly<Record<PowerState, DesiredPower>> = {
  off: 'POWERED_OFF',
  on: 'POWERED_ON',
  suspended: 'SUSPENDED',
  // The cloud never pauses a VM; QEMU does, when a disk is full. powerOn resumes it.
  paused: 'SUSPENDED',
}

/** The power states on a host for these statuses; undefined if no host has such a VM yet, or any more. */
export function powersOf(statuses: readonly Status[]): readonly PowerState[] | undefined {
  const powers = powerStates.filter((power) => statuses.includes(statusOf[power]))
  return powers.length > 0 ? powers : undefined
}

export interface StatusRule {
  /** Statuses in which it is allowed. */
  readonly from: readonly Status[]
  /** The status afterwards; a VM that already has it needs no change. */
  readonly to?: Status
}

/** Returns the same three decisions as decidePower, for any operation. */
export function decide(now: Status, { from, to }: StatusRule): Decision {
  if (from.includes(now)) return 'go'
  return now === to ? 'nothing' : 'refuse'
}

/** Whether a VM that is not on may be on afterwards. */
export const mayStart = ({ from, to }: StatusRule): boolean =>
  to === 'POWERED_ON' && from.some((status) => status !== 'POWERED_ON')

/** Like `decide`, for a VM that may no longer exist: such a VM can only be deleted. */
export function decideFor(
  { lost_reason: lost }: { readonly lost_reason: LostReason | null },
  now: Status,
  operation: StatusRule & { readonly kind: VmTaskKind },
): Decision {
  if (lost === null) return decide(now, operation)
  return operation.kind === 'delete' ? 'go' : 'refuse'
}

/** Whether the VM has a screen: it is observed to be on, and is not being deleted. */
export const hasScreen = (vm: {
  readonly displayed_status: DisplayedStatus
  readonly closed: boolean
}): boolean => vm.displayed_status === 'POWERED_ON' && !vm.closed

/** The common status of a vApp's VMs, or MIXED. */
export function statusOfAll(vms: readonly DisplayedStatus[]): DisplayedStatus | 'MIXED' {
  const [first = 'RESOLVED', ...others] = vms
  return others.every((each) => each === first) ? first : 'MIXED'
}
