import { Fault } from '@skerry/fault'
import type { VmId } from '@skerry/vm'
import { sql } from 'kysely'

import type { VappId } from '../ids.ts'
import type { Operation } from '../operation.ts'
import type { Tx } from '../world.ts'
import { tell } from './events.ts'
import { enqueue, judge, type Ask, type Task } from './queue.ts'
import { lockVapp, vmsOf } from './vapps.ts'
import { lockVm, type VmRow } from './vms.ts'

const missing = () => new Fault('not-found', 'there is no such thing, or it is not yours')

/** The task, the intent on the VM and the event, or none of them. */
export async function submitTask(
  tx: Tx,
  operation: Operation,
  { vm: id, ...ask }: Ask & { readonly vm: VmId },
): Promise<Task> {
  const vm = await lockVm(tx, id)
  if (!vm || vm.deleted_at !== null) throw missing()
  judge(vm, operation)
  return enqueue(tx, vm, operation, ask)
}

/** One task of many: what is asked of one VM, and after whom. */
export interface Part {
  readonly vm: VmRow
  readonly operation: Operation
  readonly rank: number
  readonly input?: unknown
}

/** An operation on a vApp: its name, and what it means for the VMs there are. */
export interface Parent {
  readonly name: string
  /** One that failed cancels those that would come after it. */
  readonly strict: boolean
  readonly closes?: true
  parts(vms: readonly VmRow[]): readonly Part[]
}

/**
 * Parent and children together, under the locks of the vApp and of all its VMs in the order of their
 * ids, so that no two operations wait for each other in a circle. The parent has no workflow.
 */
export async function submitTogether(
  tx: Tx,
  parent: Parent,
  { vapp: id, owner, id: task, input: forAll }: Ask & { readonly vapp: VappId },
): Promise<{ task: Task; vms: readonly VmId[] }> {
  const vapp = await lockVapp(tx, id)
  if (!vapp || vapp.deleted_at !== null) throw missing()
  if (vapp.closed) throw new Fault('conflict', `vApp ${vapp.name} is being deleted`)
  const parts = parent.parts(await vmsOf(tx, id, { locked: true }))
  if (parent.closes)
    await tx.updateTable('vapp').set({ closed: true }).where('id', '=', id).execute()
  // Without parts nobody is to be waited for: it ends as it begins.
  const over = parts.length === 0
  const now = sql<Date>`clock_timestamp()` as unknown as Date
  const row = await tx
    .insertInto('task')
    .values({
      ...(task !== undefined && { id: task }),
      ...{ org: vapp.org, vapp: vapp.id, owner, operation: parent.name, strict: parent.strict },
      ...(over
        ? { state: 'success', progress: 100, started_at: now, ended_at: now }
        : { state: 'running' }),
      input: JSON.stringify(null),
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  await tell(tx, { kind: 'task.queued', task: row })
  if (over) await tell(tx, { kind: 'task.success', task: row })
  if (over && parent.closes) {
    await tx.updateTable('vapp').set({ deleted_at: now }).where('id', '=', id).execute()
  }
  const places = new Map<VmId, VmRow>()
  for (const { vm: first, operation, rank, input = forAll } of parts) {
    // The same VM may come twice: created, then powered on.
    const vm = places.get(first.id) ?? first
    await enqueue(tx, vm, operation, { owner, input, parent: row.id, rank, strict: parent.strict })
    places.set(vm.id, {
      ...vm,
      places: vm.places + 1,
      leads: operation.to ?? vm.leads,
    })
  }
  return { task: row, vms: [...places.keys()] }
}
