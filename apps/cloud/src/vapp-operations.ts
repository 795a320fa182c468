import { Fault } from '@skerry/fault'
import type { Body } from '@skerry/service'
import type { VmId } from '@skerry/vm'

import type { Permission } from './identity/roles.ts'
import type { Action, Operation } from './operation.ts'
import { operationNamed } from './operations.ts'
import { revertToRunning, revertToStopped } from './operations/snapshot.ts'
import { judge } from './store/queue.ts'
import type { Parent, Part } from './store/submit-task.ts'
import type { VmRow } from './store/vms.ts'
import { decideFor } from './vm-status.ts'

/** Something that can be asked of a vApp: what it means for each of its VMs, and in which order. */
export interface VappOperation extends Parent {
  readonly permission: Permission
  readonly action?: Action
  readonly task: Operation['task']
  readonly since?: string
  readonly takes?: Body<unknown>
  readonly doc: string
  /** What it is for one VM of it, or for a VM that is asked by itself; undefined: nothing that could be done. */
  forVm(vm: VmRow): Operation | undefined
}

const upwards = ({ start_order }: VmRow): number => start_order
const downwards = ({ start_order }: VmRow): number => -start_order

/** The operation for each VM that can take it; the others are left as they are. */
function each(name: string, rank: (vm: VmRow) => number, strict: boolean): VappOperation {
  const operation = operationNamed(name)
  const { permission, action, task, since, takes } = operation
  return {
    ...{ name, permission, task, strict, ...(action && { action }) },
    ...{ ...(since !== undefined && { since }), ...(takes && { takes }) },
    forVm: () => operation,
    ...(operation.closes && { closes: true as const }),
    doc: `For each of its VMs, in their order: ${operation.doc}`,
    parts(vms) {
      // What must be done to all or to none is judged so; power passes over those it does not fit.
      const fits = operation.closes
        ? vms.filter((vm) => judge(vm, operation))
        : vms.filter((vm) => !vm.closed && decideFor(vm, vm.desired, operation) !== 'refuse')
      if (fits.length === 0 && vms.length > 0) {
        throw new Fault('conflict', `${name} fits none of its VMs as they are`)
      }
      return fits.map((vm): Part => ({ vm, operation, rank: rank(vm) }))
    },
  }
}

const create = operationNamed('create')
const powerOn = operationNamed('powerOn')

/** A VM that has just been written down is made, and then started if that was asked for. */
export function instantiate({ power }: { readonly power: boolean }): VappOperation {
  return {
    name: 'instantiate',
    permission: 'vm:edit',
    strict: true,
    task: { name: 'vdcInstantiateVapp', doing: 'Creating', done: 'Created' },
    doc: 'Makes a vApp of a template.',
    forVm: () => create,
    parts: (vms) => [
      ...vms.map((vm) => ({ vm, operation: create, rank: 0 })),
      ...(power ? vms.map((vm) => ({ vm, operation: powerOn, rank: 1 + vm.start_order })) : []),
    ],
  }
}

/** The same, of any number of templates. */
export const compose = (how: { readonly power: boolean }): VappOperation => ({
  ...instantiate(how),
  name: 'compose',
  task: { name: 'vdcComposeVapp', doing: 'Composing', done: 'Composed' },
  doc: 'Makes a vApp of templates.',
})

const copy = operationNamed('clone')
const lend = operationNamed('lend')

/** Each is made of the VM it is a copy of, whose own queue waits until all of them are. */
export const clone = (sources: readonly VmRow[]): VappOperation => ({
  name: 'cloneVApp',
  permission: 'vm:edit',
  strict: false,
  task: { name: 'vdcCopyVapp', doing: 'Copying', done: 'Copied' },
  doc: 'Makes a vApp as a copy of another.',
  forVm: () => undefined,
  parts: (vms) => [
    ...vms.map((vm) => ({ vm, operation: copy, rank: 0 })),
    ...sources.map((vm) => ({ vm, operation: lend, rank: 1 })),
  ],
})

const deleteVm = operationNamed('delete')

/** Makes those that were added, and deletes those that shall go: each must be able to. */
export const recompose = (made: ReadonlySet<VmId>, gone: ReadonlySet<VmId>): VappOperation => ({
  name: 'recompose',
  permission: 'vm:edit',
  strict: false,
  task: { name: 'vdcRecomposeVapp', doing: 'Recomposing', done: 'Recomposed' },
  doc: 'Adds VMs to a vApp, and deletes VMs of it.',
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

/** Of each VM that has a snapshot, to what that one brings back. */
const revert: VappOperation = {
  name: 'revertToCurrentSnapshot',
  permission: revertToRunning.permission,
  ...{
    since: '5.1',
    strict: false,
    task: revertTask,
    ...(revertAction && { action: revertAction }),
  },
  doc: 'Brings back what was there when the snapshot was taken: of a VM, or of each VM that has one.',
  forVm(vm) {
    if (vm.snapshot === null) return undefined
    return vm.snapshot_on ? revertToRunning : revertToStopped
  },
  parts(vms) {
    const parts = vms.flatMap((vm): Part[] => {
      const operation = revert.forVm(vm)
      return operation ? [{ vm, operation, rank: 0 }] : []
    })
    const fits = parts.filter(
      ({ vm, operation }) => decideFor(vm, vm.desired, operation) !== 'refuse',
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
