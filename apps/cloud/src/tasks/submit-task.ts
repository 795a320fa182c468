import { Fault } from '@skerry/fault'
import type { VmId } from '@skerry/vm'
import { sql } from 'kysely'

import { emitEvent } from '../database/events.ts'
import type { Tx, TaskRow } from '../database/tables.ts'
import type { VappId } from '../domain/ids.ts'
import type { VmTaskKind } from '../domain/task-kind.ts'
import { lockVapp, vmsOf } from '../inventory/vapps.ts'
import { lockVm, type VmRow } from '../inventory/vms.ts'
import type { Operation } from './operation.ts'
import { enqueue, judge, type TaskRequest } from './queue.ts'

/** A new task, the VMs whose queues it is in, and its operations on them. */
export interface Submitted {
  readonly task: TaskRow
  readonly vms: readonly VmId[]
  readonly operations: readonly Operation[]
}

const missing = () => new Fault('not-found', 'there is no such thing, or it is not yours')

/** Writes the task, the intent on the VM and the event together. */
export async function submitTask(
  tx: Tx,
  operation: Operation,
  { vm: id, ...ask }: TaskRequest & { readonly vm: VmId },
): Promise<TaskRow> {
  const vm = await lockVm(tx, id)
  if (!vm || vm.deleted_at !== null) throw missing()
  judge(vm, operation)
  return enqueue(tx, vm, operation, ask)
}

/** One child task: an operation on one VM, with its rank in the order. */
export interface ChildTask {
  readonly vm: VmRow
  readonly operation: Operation
  readonly rank: number
  readonly input?: unknown
}

/** An operation on a vApp: its name and its operations on the VMs. */
export interface ParentTask {
  readonly name: string
  /** A failed child cancels those of higher rank. */
  readonly strict: boolean
  /** `delete` deletes the vApp too. */
  readonly kind: VmTaskKind
  parts(vms: readonly VmRow[]): readonly ChildTask[]
}

/**
 * Writes parent and children together, under the locks of the vApp and of all its VMs in the order of their
 * ids, so that operations cannot deadlock. The parent has no workflow.
 */
export async function submitTogether(
  tx: Tx,
  parent: ParentTask,
  { vapp: id, owner, id: task, input: forAll }: TaskRequest & { readonly vapp: VappId },
): Promise<Submitted> {
  const vapp = await lockVapp(tx, id)
  if (!vapp || vapp.deleted_at !== null) throw missing()
  if (vapp.closed) throw new Fault('conflict', `vApp ${vapp.name} is being deleted`)
  const parts = parent.parts(await vmsOf(tx, id, { locked: true }))
  const closes = parent.kind === 'delete'
  if (closes) await tx.updateTable('vapp').set({ closed: true }).where('id', '=', id).execute()
  // Without children, the task ends at once.
  const over = parts.length === 0
  const now = sql<Date>`clock_timestamp()` as unknown as Date
  const row = await tx
    .insertInto('task')
    .values({
      ...(task !== undefined && { id: task }),
      org: vapp.org,
      vapp: vapp.id,
      owner,
      operation: parent.name,
      kind: parent.kind,
      stop_on_failure: parent.strict,
      ...(over
        ? { state: 'success', progress: 100, started_at: now, ended_at: now }
        : { state: 'running' }),
      input: JSON.stringify(null),
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  await emitEvent(tx, { kind: 'task.queued', task: row })
  // Its children wait in their queues; it is no task that waits itself.
  await emitEvent(tx, { kind: over ? 'task.success' : 'task.running', task: row })
  if (over && closes) {
    await tx.updateTable('vapp').set({ deleted_at: now }).where('id', '=', id).execute()
  }
  const places = new Map<VmId, VmRow>()
  for (const { vm: first, operation, rank, input = forAll } of parts) {
    // The same VM may occur twice: created, then powered on.
    const vm = places.get(first.id) ?? first
    await enqueue(tx, vm, operation, { owner, input, parent: row.id, rank, strict: parent.strict })
    places.set(vm.id, {
      ...vm,
      queue_length: vm.queue_length + 1,
      queue_target: operation.to ?? vm.queue_target,
    })
  }
  return { task: row, vms: [...places.keys()], operations: parts.map((each) => each.operation) }
}
