import { Fault } from '@skerry/fault'
import type { TaskId, VmId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import { emitEvent } from '../database/events.ts'
import type { Tx, Claim, CloudTables, TaskRow } from '../database/tables.ts'
import type { DesiredPower } from '../domain/vm-status.ts'
import { lockVm, type VmRow } from '../inventory/vms.ts'
import { cancelBulk } from './cancel-bulk.ts'
import { endParent, lockParent, type EndState } from './end-parent.ts'
import { queueOf } from './queue.ts'

export interface TaskEnd {
  /** Other VMs whose queues may continue because of it. */
  readonly others: readonly VmId[]
  /** Whether the VM's own queue should be checked again; if not, its holder is cleared. */
  readonly more: boolean
}

/**
 * Writes the end of a task and its event in one transaction, guarded by the fencing token; a task never leaves an end
 * state. If it was the last of its queue, the same transaction clears the holder.
 */
export async function endTask(
  db: Kysely<CloudTables>,
  { task: id, fence: number }: Claim,
): Promise<TaskEnd> {
  return withTask<TaskEnd>(db, id, async (tx, task, vm) => {
    if (vm.fence !== number || task.state !== 'running') return { others: [], more: true }
    const back = task.fault === 'canceled' ? 'canceled' : 'error'
    const state = task.direction === 'forward' ? 'success' : back
    const { others, empty } = await end(tx, task, vm, state, free)
    return { others, more: !empty }
  })
}

const free = { holder: null, lease_until: null, wake_attempts: 0 } as const

/** A queued task ends at once; a running one is rolled back at its next step, unless it has passed the point of no return. */
export async function cancelTask(db: Kysely<CloudTables>, id: TaskId): Promise<readonly VmId[]> {
  const special = await db
    .selectFrom('task')
    .select(['children', 'state'])
    .where('id', '=', id)
    .where((where) =>
      where.or([
        where('children', 'is not', null),
        where('network', 'is not', null),
        where('edge_gateway', 'is not', null),
      ]),
    )
    .executeTakeFirst()
  if (special?.children === null) {
    if (special.state !== 'running') return []
    throw new Fault('conflict', 'the change is made, and on its way to the hosts', {
      hint: 'undo it with another change',
    })
  }
  if (special) return inTransaction(db, (tx) => cancelBulk(tx, id))
  const children = await db
    .selectFrom('task')
    .select('id')
    .where('parent', '=', id)
    .where('state', 'in', ['queued', 'running'])
    // By VM, as every request that locks several, so that two cannot deadlock.
    .orderBy('vm')
    .orderBy('position', 'desc')
    .execute()
  const toWake: VmId[] = []
  // A task of a vApp ends with its last child: without open children it has ended, and there is nothing to cancel.
  const alone = db.selectFrom('task').select('id').where('id', '=', id).where('vm', 'is not', null)
  for (const { id: each } of children.length > 0 ? children : await alone.execute()) {
    toWake.push(
      ...(await withTask<readonly VmId[]>(db, each, async (tx, task, vm) => {
        if (task.state === 'queued') return (await end(tx, task, vm, 'canceled')).others
        if (task.state !== 'running') return []
        await tx
          .updateTable('task')
          .set({ cancel_requested: true })
          .where('id', '=', each)
          .execute()
        return [vm.id]
      })),
    )
  }
  return toWake
}

/** Ends an open task in error without rollback, and invalidates the claim on its VM. */
export async function failTask(
  db: Kysely<CloudTables>,
  id: TaskId,
  message: string,
): Promise<void> {
  await withTask<void>(db, id, async (tx, task, vm) => {
    if (task.state !== 'queued' && task.state !== 'running') return
    await tx
      .updateTable('vm')
      // The host reports whether its memory was saved.
      .set({ fence: sql`next_fence()`, holder: null, lease_until: null, saving_mib: 0 })
      .where('id', '=', vm.id)
      .execute()
    await tx
      .updateTable('task')
      .set({ fault: 'unavailable', message })
      .where('id', '=', id)
      .execute()
    await end(tx, task, vm, 'error')
  })
}

/** Locks in the global order: first the parent, since the end of a child may end it. */
async function withTask<T>(
  db: Kysely<CloudTables>,
  id: TaskId,
  work: (tx: Tx, task: TaskRow, vm: VmRow) => Promise<T>,
): Promise<T> {
  return inTransaction(db, async (tx) => {
    const found = await tx
      .selectFrom('task')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    if (found.vm === null) throw new Fault('conflict', 'a parent task ends with its last child')
    if (found.parent !== null) await lockParent(tx, found.parent)
    const vm = await lockVm(tx, found.vm)
    if (!vm) throw new Fault('not-found', 'the VM of this task no longer exists')
    // Read again: it may have changed before the lock was taken.
    const task = await tx
      .selectFrom('task')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    return work(tx, task, vm)
  })
}

const inTransaction = <T>(db: Kysely<CloudTables>, work: (tx: Tx) => Promise<T>): Promise<T> =>
  db.isTransaction ? work(db as Tx) : db.transaction().execute(work)

/** `whenEmpty`: changes to the VM's row if its queue is empty afterwards. */
async function end(
  tx: Tx,
  task: TaskRow,
  vm: VmRow,
  state: EndState,
  whenEmpty: Partial<typeof free> = {},
): Promise<{ readonly others: readonly VmId[]; readonly empty: boolean }> {
  const ended = await tx
    .updateTable('task')
    .set({
      state,
      ended_at: sql`clock_timestamp()`,
      ...(state === 'success' && { progress: 100 }),
      ...(state === 'canceled' &&
        task.fault === null && { fault: 'canceled', message: 'canceled' }),
    })
    .where('id', '=', task.id)
    .returningAll()
    .executeTakeFirstOrThrow()
  // A failed or canceled delete opens the queue again.
  const undeleted = state !== 'success' && vm.closed && vm.deleted_at === null
  const reopened = undeleted && !(await closing(tx, vm.id))
  const { empty, target } = await queueOf(tx, vm.id)
  const unmade = state === 'canceled' && vm.status === 'UNRESOLVED' && vm.host === null
  await tx
    .updateTable('vm')
    .set({
      queue_target: target,
      ...(empty && whenEmpty),
      ...(state === 'success' &&
        isWanted(task.target_status) && { desired_power: task.target_status }),
      ...(reopened && { closed: false }),
      // A VM whose creation was canceled before its start can be deleted, like one whose creation failed.
      ...(unmade && !(await making(tx, vm.id)) && { status: 'FAILED_CREATION' as const }),
    })
    .where('id', '=', vm.id)
    .execute()
  await emitEvent(tx, { kind: `task.${state}`, task: ended, details: { message: ended.message } })
  const others = ended.parent === null ? [] : await endParent(tx, ended, ended.parent, state)
  return { others, empty }
}

async function closing(tx: Tx, vm: VmId): Promise<boolean> {
  const { rows } = await sql`select from task where vm = ${vm} and kind = 'delete'
    and state in ('queued', 'running') limit 1`.execute(tx)
  return rows.length > 0
}

async function making(tx: Tx, vm: VmId): Promise<boolean> {
  const { rows } = await sql`select from task where vm = ${vm} and kind in ('create', 'copy')
    and state in ('queued', 'running') limit 1`.execute(tx)
  return rows.length > 0
}

const isWanted = (status: TaskRow['target_status']): status is DesiredPower =>
  status === 'POWERED_ON' || status === 'POWERED_OFF' || status === 'SUSPENDED'
