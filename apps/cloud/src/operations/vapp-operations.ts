import { Fault } from '@skerry/fault'
import type { Body } from '@skerry/service'
import type { VmId } from '@skerry/vm'

import type { Permission } from '../domain/roles.ts'
import { decideFor } from '../domain/vm-status.ts'
import type { VmRow } from '../inventory/vms.ts'
import type { Action, Operation } from '../tasks/operation.ts'
import { judge } from '../tasks/queue.ts'
import type { ParentTask, ChildTask } from '../tasks/submit-task.ts'
import { revertToRunning, revertToStopped } from './snapshot.ts'
import { operationNamed } from './vm-operations.ts'

/** An operation on a vApp: what it means for each of its VMs, and in which order. */
export interface VappOperation extends ParentTask {
  readonly permission: Permission
  readonly action?: Action
  readonly task: Operation['task']
  readonly since?: string
  readonly takes?: Body<unknown>
  readonly doc: string
  /** All operations that it may mean for a VM. */
  readonly operations: readonly Operation[]
  /** The operation for one of its VMs, or for a VM addressed by itself; undefined: it does not apply. */
  forVm(vm: VmRow): Operation | undefined
}

const upwards = ({ start_order }: VmRow): number => start_order
const downwards = ({ start_order }: VmRow): number => -start_order

/** Applies an operation to each VM that can take it; the others stay as they are. */
function each(name: string, rank: (vm: VmRow) => number, strict: boolean): VappOperation {
  const operation = operationNamed(name)
  const { permission, action, task, since, takes } = operation
  return {
    name,
    permission,
    task,
    strict,
    ...(action && { action }),
    ...(since !== undefined && { since }),
    ...(takes && { takes }),
    operations: [operation],
    forVm: () => operation,
    ...(operation.closes && { closes: true as const }),
    doc: `For each of its VMs, in order: ${operation.doc}`,
    parts(vms) {
      // Deletion is for all VMs or none, so `judge` throws for a VM that cannot take it; power operations skip such a VM.
      const fits = operation.closes
        ? vms.filter((vm) => judge(vm, operation))
        : vms.filter(
            (vm) => !vm.closed && decideFor(vm, vm.projected_status, operation) !== 'refuse',
          )
      if (fits.length === 0 && vms.length > 0) {
        throw new Fault(
          'conflict',
          `${name} is not possible for any of its VMs in their current state`,
        )
      }
      return fits.map((vm): ChildTask => ({ vm, operation, rank: rank(vm) }))
    },
  }
}

const create = operationNamed('create')
const powerOn = operationNamed('powerOn')

/** Creates VMs whose rows were just added, and then starts them if requested. */
export function instantiate({ power }: { readonly power: boolean }): VappOperation {
  return {
    name: 'instantiate',
    permission: 'vm:edit',
    strict: true,
    task: { name: 'vdcInstantiateVapp', doing: 'Creating', done: 'Created' },
    doc: 'Creates a vApp from a template.',
    operations: power ? [create, powerOn] : [create],
    forVm: () => create,
    parts: (vms) => [
      ...vms.map((vm) => ({ vm, operation: create, rank: 0 })),
      ...(power ? vms.map((vm) => ({ vm, operation: powerOn, rank: 1 + vm.start_order })) : []),
    ],
  }
}

/** Like `instantiate`, with any number of templates. */
export const compose = (how: { readonly power: boolean }): VappOperation => ({
  ...instantiate(how),
  name: 'compose',
  task: { name: 'vdcComposeVapp', doing: 'Composing', done: 'Composed' },
  doc: 'Creates a vApp from templates.',
})

const copy = operationNamed('clone')
const hold = operationNamed('hold')

/** Each VM is created from its source VM, whose own queue waits until all copies are made. */
export const clone = (sources: readonly VmRow[]): VappOperation => ({
  name: 'cloneVApp',
  permission: 'vm:edit',
  strict: false,
  task: { name: 'vdcCopyVapp', doing: 'Copying', done: 'Copied' },
  doc: 'Creates a vApp as a copy of another.',
  operations: [copy, hold],
  forVm: () => undefined,
  parts: (vms) => [
    ...vms.map((vm) => ({ vm, operation: copy, rank: 0 })),
    ...sources.map((vm) => ({ vm, operation: hold, rank: 1 })),
  ],
})

const deleteVm = operationNamed('delete')

/** Creates the added VMs and deletes the removed ones; each of these must allow deletion. */
export const recompose = (made: ReadonlySet<VmId>, gone: ReadonlySet<VmId>): VappOperation => ({
  name: 'recompose',
  permission: 'vm:edit',
  strict: false,
  task: { name: 'vdcRecomposeVapp', doing: 'Recomposing', done: 'Recomposed' },
  doc: 'Adds VMs to a vApp and deletes VMs from it.',
  operations: [create, deleteVm],
  forVm: () => undefined,
  parts(vms) {
    const leaving = vms.filter((vm) => gone.has(vm.id) && judge(vm, deleteVm))
    if (leaving.length < gone.size) {
      throw new Fault('invalid', 'DeleteItem must name a VM of this vApp')
    }
    return [
      ...vms.filter((vm) => made.has(vm.id)).map((vm) => ({ vm, operation: create, rank: 0 })),
      ...leaving.map((vm) => ({ vm, operation: deleteVm, rank: 0 })),
    ]
  },
})

const { action: revertAction, task: revertTask } = revertToRunning

/** Reverts each VM that has a snapshot, to the power state of its snapshot. */
const revert: VappOperation = {
  name: 'revertToCurrentSnapshot',
  permission: revertToRunning.permission,
  strict: false,
  task: revertTask,
  ...(revertAction && { action: revertAction }),
  doc: 'Reverts a VM, or each VM of a vApp that has a snapshot, to its snapshot.',
  operations: [revertToRunning, revertToStopped],
  forVm(vm) {
    if (vm.snapshot === null) return undefined
    return vm.snapshot_on ? revertToRunning : revertToStopped
  },
  parts(vms) {
    const parts = vms.flatMap((vm): ChildTask[] => {
      const operation = revert.forVm(vm)
      return operation ? [{ vm, operation, rank: 0 }] : []
    })
    const fits = parts.filter(
      ({ vm, operation }) => decideFor(vm, vm.projected_status, operation) !== 'refuse',
    )
    if (fits.length === 0)
      throw new Fault('conflict', 'none of its VMs has a snapshot to revert to')
    return fits
  },
}

export const vappOperations: readonly VappOperation[] = [
  each('powerOn', upwards, true),
  each('powerOff', downwards, false),
  each('suspend', downwards, false),
  each('discardSuspendedState', downwards, false),
  each('reset', upwards, false),
  each('reboot', upwards, false),
  each('shutdown', downwards, false),
  each('createSnapshot', upwards, false),
  revert,
  each('removeAllSnapshots', upwards, false),
  each('delete', downwards, false),
]
