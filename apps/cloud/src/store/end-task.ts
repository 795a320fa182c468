import { Fault } from '@skerry/fault'
import type { TaskId, VmId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import type { VappId } from '../ids.ts'
import type { Wanted } from '../vm-status.ts'
import type { Tx } from '../world.ts'
import type { Claim } from './claim-task.ts'
import type { Database, TaskState } from './database.ts'
import { tell } from './events.ts'
import { queueOf, type Task } from './queue.ts'
import { lockVapp } from './vapps.ts'
import { lockVm, type VmRow } from './vms.ts'

type Ended = Extract<TaskState, 'success' | 'error' | 'canceled'>

export interface End {
  /** Other VMs that may go on because of it. */
  readonly others: readonly VmId[]
  /** Whether the VM's own queue should be looked at again; if not, its holder has let go. */
  readonly more: boolean
}

/**
 * The end and its event in one transaction, guarded by the number; a task never leaves an end state.
 * Where it was the last of its queue, the holder lets go in the same one.
 */
export async function endTask(db: Kysely<Database>, { task: id, number }: Claim): Promise<End> {
  return withTask<End>(db, id, async (tx, task, vm) => {
    if (vm.number !== number || task.state !== 'running') return { others: [], more: true }
    const back = task.fault === 'canceled' ? 'canceled' : 'error'
    const state = task.direction === 'forward' ? 'success' : back
    const { others, empty } = await end(tx, task, vm, state, free)
    return { others, more: !empty }
  })
}

const free = { holder: null, lease_until: null, rings: 0 } as const

/** A queued task ends at once; a running one turns back at its next step, unless it is too late. */
export async function cancelTask(db: Kysely<Database>, id: TaskId): Promise<readonly VmId[]> {
  const children = await db
    .selectFrom('task')
    .select('id')
    .where('parent', '=', id)
    .where('state', 'in', ['queued', 'running'])
    .orderBy('place', 'desc')
    .execute()
  const rung: VmId[] = []
  // One of a vApp ends with its last part: where none is left it has ended, and there is nothing to stop.
  const alone = db.selectFrom('task').select('id').where('id', '=', id).where('vm', 'is not', null)
  for (const { id: each } of children.length > 0 ? children : await alone.execute()) {
    rung.push(
      ...(await withTask<readonly VmId[]>(db, each, async (tx, task, vm) => {
        if (task.state === 'queued') return (await end(tx, task, vm, 'canceled')).others
        if (task.state !== 'running') return []
        await tx.updateTable('task').set({ cancel: true }).where('id', '=', each).execute()
        return [vm.id]
      })),
    )
  }
  return rung
}

/** An open task ends in error where it is, and whoever holds its VM holds it no longer. */
export async function failTask(db: Kysely<Database>, id: TaskId, message: string): Promise<void> {
  await withTask<void>(db, id, async (tx, task, vm) => {
    if (task.state !== 'queued' && task.state !== 'running') return
    await tx
      .updateTable('vm')
      .set({ number: sql`next_number()`, holder: null, lease_until: null })
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

/** Locks in their order: first the vApp of the parent, which need not be the child's, since the end of a child may end its parent. */
async function withTask<T>(
  db: Kysely<Database>,
  id: TaskId,
  work: (tx: Tx, task: Task, vm: VmRow) => Promise<T>,
): Promise<T> {
  const run = async (tx: Tx): Promise<T> => {
    const found = await tx
      .selectFrom('task')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    if (found.vm === null) throw new Fault('conflict', 'a task of a vApp ends with its last part')
    if (found.parent !== null) await lockVapp(tx, await vappOf(tx, found.parent))
    const vm = await lockVm(tx, found.vm)
    if (!vm) throw new Fault('not-found', 'the VM of this task is no more')
    // Read again: it may have changed before the lock was ours.
    const task = await tx
      .selectFrom('task')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    return work(tx, task, vm)
  }
  return db.isTransaction ? run(db as Tx) : db.transaction().execute(run)
}

async function vappOf(tx: Tx, task: TaskId): Promise<VappId> {
  const { vapp } = await tx
    .selectFrom('task')
    .select('vapp')
    .where('id', '=', task)
    .executeTakeFirstOrThrow()
  return vapp
}

/** `whenEmpty`: what becomes of the VM's row if nothing is left in its queue. */
async function end(
  tx: Tx,
  task: Task,
  vm: VmRow,
  state: Ended,
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
  // A delete that did not happen opens the queue again.
  const undeleted = state !== 'success' && vm.closed && vm.deleted_at === null
  const reopened = undeleted && !(await closing(tx, vm.id))
  const { empty, leads } = await queueOf(tx, vm.id)
  const unmade = state === 'canceled' && vm.status === 'UNRESOLVED' && vm.host === null
  await tx
    .updateTable('vm')
    .set({
      leads,
      ...(empty && whenEmpty),
      ...(state === 'success' && isWanted(task.leads) && { wanted: task.leads }),
      ...(reopened && { closed: false }),
      // What was given up before it was begun can be deleted, as what failed.
      ...(unmade && !(await making(tx, vm.id)) && { status: 'FAILED_CREATION' as const }),
    })
    .where('id', '=', vm.id)
    .execute()
  await tell(tx, { kind: `task.${state}`, task: ended, what: { message: ended.message } })
  const others = ended.parent === null ? [] : await endParent(tx, ended, ended.parent, state)
  return { others, empty }
}

async function closing(tx: Tx, vm: VmId): Promise<boolean> {
  const { rows } = await sql`select from task where vm = ${vm} and operation = 'delete'
    and state in ('queued', 'running') limit 1`.execute(tx)
  return rows.length > 0
}

async function making(tx: Tx, vm: VmId): Promise<boolean> {
  const { rows } = await sql`select from task where vm = ${vm} and operation in ('create', 'clone')
    and state in ('queued', 'running') limit 1`.execute(tx)
  return rows.length > 0
}

const isWanted = (status: Task['leads']): status is Wanted =>
  status === 'POWERED_ON' || status === 'POWERED_OFF' || status === 'SUSPENDED'

/** The transaction that ends a child ends the parent, or lets the next rank begin. */
async function endParent(
  tx: Tx,
  child: Task,
  parent: TaskId,
  state: Ended,
): Promise<readonly VmId[]> {
  if (state !== 'success' && child.strict) {
    await tx
      .updateTable('task')
      .set({ cancel: true })
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
  await tell(tx, { kind: `task.${ended.state}`, task: ended, what: { message: ended.message } })
  if (ended.operation === 'delete') await closeVapp(tx, ended)
  return []
}

/** With its last VM a vApp is gone; with a VM left it can be asked for things again. */
async function closeVapp(tx: Tx, { vapp, state }: Task): Promise<void> {
  await tx
    .updateTable('vapp')
    .set(state === 'success' ? { deleted_at: sql`clock_timestamp()` } : { closed: false })
    .where('id', '=', vapp)
    .execute()
}
