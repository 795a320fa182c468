import type { TaskId, VmId } from '@skerry/vm'
import { sql } from 'kysely'

import { emitEvent } from '../database/events.ts'
import type { TaskRow, TaskState, Tx } from '../database/tables.ts'
import { lockVapp } from '../inventory/vapps.ts'

export type EndState = Extract<TaskState, 'success' | 'error' | 'canceled'>

/**
 * Locks what the ends of all children of a parent have in common, before the VM of any of them: the parent's vApp, which may differ
 * from the child's, or the parent itself if it belongs to the organisation.
 */
export async function lockParent(tx: Tx, parent: TaskId): Promise<void> {
  const { vapp } = await tx
    .selectFrom('task')
    .select('vapp')
    .where('id', '=', parent)
    .executeTakeFirstOrThrow()
  if (vapp !== null) await lockVapp(tx, vapp)
  else await sql`select from task where id = ${parent} for no key update`.execute(tx)
}

/** The transaction that ends a child also ends the parent, or lets the next rank start. */
export async function endParent(
  tx: Tx,
  child: TaskRow,
  parent: TaskId,
  state: EndState,
): Promise<readonly VmId[]> {
  const { children } = await tx
    .selectFrom('task')
    .select('children')
    .where('id', '=', parent)
    .executeTakeFirstOrThrow()
  if (children !== null) return endBulkChild(tx, parent, children)
  if (state !== 'success' && child.stop_on_failure) {
    await tx
      .updateTable('task')
      .set({ cancel_requested: true })
      .where('parent', '=', parent)
      .where('state', '=', 'queued')
      .where('rank', '>', child.rank)
      .execute()
  }
  const siblings = await tx
    .selectFrom('task')
    .select(['vm', 'state', 'rank', 'fault', 'message'])
    .where('parent', '=', parent)
    .orderBy('rank')
    .orderBy('id')
    .execute()
  const left = siblings.filter((each) => each.state === 'queued' || each.state === 'running')
  if (left.length > 0) {
    const lowest = left[0]?.rank
    await tx
      .updateTable('task')
      .set({ progress: Math.floor((100 * (siblings.length - left.length)) / siblings.length) })
      .where('id', '=', parent)
      .execute()
    return left.flatMap(({ rank, vm }) => (rank === lowest && vm !== null ? [vm] : []))
  }
  const failed =
    siblings.find((each) => each.state === 'error') ??
    siblings.find((each) => each.state === 'canceled')
  const ended = await tx
    .updateTable('task')
    .set({
      state: failed?.state ?? 'success',
      ended_at: sql`clock_timestamp()`,
      ...(failed ? { fault: failed.fault, message: failed.message } : { progress: 100 }),
    })
    .where('id', '=', parent)
    .where('state', 'in', ['queued', 'running'])
    .returningAll()
    .executeTakeFirst()
  if (!ended) return []
  await emitEnd(tx, ended)
  if (ended.kind === 'delete') await closeVapp(tx, ended)
  return []
}

/** After its last VM, the vApp is deleted too; if a VM is left, the vApp accepts requests again. */
async function closeVapp(tx: Tx, { vapp, state }: TaskRow): Promise<void> {
  if (vapp === null) return
  await tx
    .updateTable('vapp')
    .set(state === 'success' ? { deleted_at: sql`clock_timestamp()` } : { closed: false })
    .where('id', '=', vapp)
    .execute()
}

const emitEnd = (tx: Tx, task: TaskRow): Promise<void> =>
  emitEvent(tx, { kind: `task.${task.state}`, task, details: { message: task.message } })

/** Enough to replace the task that ended, also if one of them is woken twice. */
const WOKEN_NEXT = 4

/** How many are considered. */
const CONSIDERED = 64
/** A VM that was woken a moment ago needs no second wake-up. */
const JUST_WOKEN = '2 s'

/**
 * The children of a bulk operation have no order. Each end wakes a few of the next, and not those that were just woken: a wake-up of
 * all that are left, at every end, would grow with the square of their number. The sweep wakes the others.
 */
async function endBulkChild(tx: Tx, parent: TaskId, children: number): Promise<readonly VmId[]> {
  await recordBulk(tx, parent, children)
  const { rows } = await sql<{ id: VmId }>`
    with next as (
      select vm.id from (select vm from task where parent = ${parent} and state = 'queued'
        order by rank, id limit ${CONSIDERED}) waiting join vm on vm.id = waiting.vm
      where vm.holder is null and (vm.woken_at is null or vm.woken_at < clock_timestamp() - ${JUST_WOKEN}::interval)
      order by vm.id limit ${WOKEN_NEXT} for no key update of vm skip locked)
    update vm set woken_at = clock_timestamp() from next where vm.id = next.id returning vm.id`.execute(
    tx,
  )
  return rows.map(({ id }) => id)
}

/** Writes the progress of a bulk operation from the states of its children, or its end after the last of them. */
export async function recordBulk(tx: Tx, parent: TaskId, children: number): Promise<TaskRow> {
  const { rows: counts } = await sql<{ open: number }>`select count(*)::integer as open from task
    where parent = ${parent} and state in ('queued', 'running')`.execute(tx)
  const open = counts[0]?.open ?? 0
  if (open > 0) {
    return tx
      .updateTable('task')
      .set({ progress: Math.floor((100 * (children - open)) / children) })
      .where('id', '=', parent)
      .returningAll()
      .executeTakeFirstOrThrow()
  }
  const ended = await tx
    .updateTable('task')
    .set({ ended_at: sql`clock_timestamp()`, progress: 100, ...(await bulkResult(tx, parent)) })
    .where('id', '=', parent)
    .returningAll()
    .executeTakeFirstOrThrow()
  await emitEnd(tx, ended)
  return ended
}

/** The result of a bulk operation: an error if one child failed, with the number of those that failed and the first reason. */
async function bulkResult(
  tx: Tx,
  parent: TaskId,
): Promise<Pick<TaskRow, 'state' | 'fault' | 'message'>> {
  const { rows } = await sql<Record<'total' | 'failed' | 'canceled', number>>`
    select count(*)::integer as total, count(*) filter (where state = 'error')::integer as failed,
      count(*) filter (where state = 'canceled')::integer as canceled
    from task where parent = ${parent}`.execute(tx)
  const { total, failed, canceled } = rows[0] ?? { total: 0, failed: 0, canceled: 0 }
  if (failed === 0 && canceled === 0) return { state: 'success', fault: null, message: null }
  const first = await tx
    .selectFrom('task')
    .select(['state', 'fault', 'message'])
    .where('parent', '=', parent)
    .where('state', '=', failed > 0 ? 'error' : 'canceled')
    .orderBy('id')
    .limit(1)
    .executeTakeFirstOrThrow()
  if (failed === 0) {
    return { ...first, message: `canceled for ${canceled} of ${total} VMs` }
  }
  const others = canceled > 0 ? `, ${canceled} were canceled` : ''
  return {
    ...first,
    message: `${failed} of ${total} VMs failed${others}, the first because ${first.message ?? 'of an unknown reason'}`,
  }
}
