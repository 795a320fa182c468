import { Fault } from '@skerry/fault'

import type { Permission } from './identity/roles.ts'
import type { Action, Operation } from './operation.ts'
import { operationNamed } from './operations.ts'
import { judge } from './store/queue.ts'
import type { Parent, Part } from './store/submit-task.ts'
import type { VmRow } from './store/vms.ts'
import { decideFor } from './vm-status.ts'

/** Something that can be asked of a vApp: what it means for each of its VMs, and in which order. */
export interface VappOperation extends Parent {
  readonly permission: Permission
  readonly action?: Action
  readonly task: Operation['task']
  readonly doc: string
}

const upwards = ({ start_order }: VmRow): number => start_order
const downwards = ({ start_order }: VmRow): number => -start_order

/** The operation for each VM that can take it; the others are left as they are. */
function each(name: string, rank: (vm: VmRow) => number, strict: boolean): VappOperation {
  const operation = operationNamed(name)
  const { permission, action, task } = operation
  return {
    ...{ name, permission, task, strict, ...(action && { action }) },
    ...(operation.closes && { closes: true as const }),
    doc: `${task.done} when the task ends: each of its VMs, in its order.`,
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
    parts: (vms) => [
      ...vms.map((vm) => ({ vm, operation: create, rank: 0 })),
      ...(power ? vms.map((vm) => ({ vm, operation: powerOn, rank: 1 + vm.start_order })) : []),
    ],
  }
}

export const vappOperations: readonly VappOperation[] = [
  each('powerOn', upwards, true),
  each('powerOff', downwards, false),
  each('suspend', downwards, false),
  each('reset', upwards, false),
  each('delete', downwards, false),
]
