import { Fault } from '@skerry/fault'
import type { VmId } from '@skerry/vm'

import type { Permission } from '../domain/roles.ts'
import { decideFor } from '../domain/vm-status.ts'
import type { VmRow } from '../inventory/vms.ts'
import type { RequestDocument } from '../params/request-document.ts'
import type { Action, Operation, VappRule } from '../tasks/operation.ts'
import { judge } from '../tasks/queue.ts'
import type { ParentTask, ChildTask } from '../tasks/submit-task.ts'
import { operationNamed, operations } from './vm-operations.ts'

/** An operation on a vApp: what it means for each of its VMs, and in which order. */
export interface VappOperation extends ParentTask {
  readonly permission: Permission
  readonly action?: Action
  readonly task: Operation['task']
  readonly bulk?: true
  readonly since?: string
  readonly takes?: RequestDocument<unknown>
  readonly doc: string
  /** Why it does not apply to a VM. */
  readonly otherwise?: string
  /** The operation for one of its VMs, or for a VM addressed by itself; undefined: it does not apply. */
  forVm(vm: VmRow): Operation | undefined
}

/** How the order of the VMs becomes the order of their tasks. */
const ranks: Readonly<Record<VappRule['order'], number>> = {
  'first to last': 1,
  'last to first': -1,
  'at once': 0,
}

/** The form for vApps of the operations with the same path: each VM gets the one that it is offered, if there are several. */
function vappForm(same: readonly [Operation, ...Operation[]], rule: VappRule): VappOperation {
  const [first] = same
  const { kind, permission, action, task, since, takes, doc, bulk } = first
  const name = action?.path.split('/').at(-1) ?? first.name
  const forVm = (vm: VmRow) =>
    same.length === 1 ? first : same.find((each) => each.offered?.when(vm))
  const rank = ({ start_order }: VmRow) => ranks[rule.order] * start_order
  const fits = (vm: VmRow, operation: Operation): boolean => {
    // Deletion is for all VMs or none, so `judge` throws for a VM that cannot take it; other operations skip such a VM.
    if (kind === 'delete') return Boolean(judge(vm, operation))
    return !vm.closed && decideFor(vm, vm.projected_status, operation) !== 'refuse'
  }
  return {
    name,
    kind,
    permission,
    task,
    strict: rule.stopsOnFailure,
    ...(action && { action }),
    ...(since !== undefined && { since }),
    ...(takes && { takes }),
    ...(bulk && { bulk }),
    ...(first.offered && { otherwise: first.offered.otherwise }),
    forVm,
    doc: `For each of its VMs, in order: ${doc}`,
    parts(vms) {
      const parts = vms.flatMap((vm): ChildTask[] => {
        const operation = forVm(vm)
        return operation && fits(vm, operation) ? [{ vm, operation, rank: rank(vm) }] : []
      })
      if (parts.length > 0 || vms.length === 0) return parts
      throw new Fault('conflict', `${name} is not possible for any of its VMs in its current state`)
    },
  }
}

const create = operationNamed('create')
const powerOn = operationNamed('powerOn')

/** Creates VMs whose rows were just added, and then starts them if requested. */
export function instantiate({ power }: { readonly power: boolean }): VappOperation {
  return {
    name: 'instantiate',
    kind: 'change',
    permission: 'vm:edit',
    strict: true,
    task: { name: 'vdcInstantiateVapp', doing: 'Creating', done: 'Created' },
    doc: 'Creates a vApp from a template.',
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
  kind: 'change',
  permission: 'vm:edit',
  strict: false,
  task: { name: 'vdcCopyVapp', doing: 'Copying', done: 'Copied' },
  doc: 'Creates a vApp as a copy of another.',
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
  kind: 'change',
  permission: 'vm:edit',
  strict: false,
  task: { name: 'vdcRecomposeVapp', doing: 'Recomposing', done: 'Recomposed' },
  doc: 'Adds VMs to a vApp and deletes VMs from it.',
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

/** The form of each operation that has one, by its own declaration. */
export const vappOperations: readonly VappOperation[] = [
  ...Map.groupBy(operations, ({ action, name }) => action?.path ?? name).values(),
].flatMap(([first, ...others]) =>
  first && 'order' in first.forVapp ? [vappForm([first, ...others], first.forVapp)] : [],
)

/** Those that can be applied to all VMs of a query, by name. */
export const bulkOperations: ReadonlyMap<string, VappOperation> = new Map(
  vappOperations.filter(({ bulk }) => bulk).map((each) => [each.name, each]),
)
