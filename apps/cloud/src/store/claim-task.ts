import type { FaultKind } from '@skerry/fault'
import type { HostId, TaskId, VmId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import type { Tx } from '../world.ts'
import { claimable, open } from './claimable.ts'
import type { Database } from './database.ts'
import type { Task } from './queue.ts'
import { staleClaim, writeClaimed, type VmRow } from './vms.ts'

/** How long a claim lasts that nobody renews. Leases decide who tries; numbers decide who may. */
export const LEASE_SECONDS = 15
const lease = sql<Date>`clock_timestamp() + ${sql.lit(`${LEASE_SECONDS} s`)}::interval`

export interface ClaimRules {
  /** What is carried out at once: neither a host nor an organisation can take all hands. */
  readonly perHost: number
  readonly perOrg: number
  /** How many seconds an operation may take from its start. */
  within(operation: string): number
}

export interface Claim {
  readonly task: TaskId
  readonly number: string
}

export interface Claimed {
  readonly task: Task
  readonly vm: VmRow
  readonly number: string
  /** Nobody has begun it before: there is nothing to undo. */
  readonly first: boolean
}

/**
 * The head of the VM's queue under a new number: whoever had it before has lost it. Undefined when
 * there is nothing to do now, and then the holder has let go, in the same transaction.
 */
export async function claimTask(
  db: Kysely<Database>,
  id: VmId,
  holder: string,
  rules: ClaimRules,
): Promise<Claimed | undefined> {
  return db.transaction().execute(async (tx) => {
    const locked = await tx
      .selectFrom('vm')
      .selectAll()
      .select(
        sql<boolean>`holder is not null and holder <> ${holder} and lease_until > clock_timestamp()`.as(
          'held',
        ),
      )
      .where('id', '=', id)
      .forNoKeyUpdate()
      .executeTakeFirst()
    if (!locked || locked.held) return undefined
    const head = await tx
      .selectFrom('task')
      .selectAll()
      .where('vm', '=', id)
      // As it stands in the index: a plan that is kept for all values cannot know that these two are meant.
      .where(sql<boolean>`state in ('queued', 'running')`)
      .orderBy('place')
      .limit(1)
      .executeTakeFirst()
    if (!head || !(await mayBegin(tx, locked, head, rules))) {
      await tx
        .updateTable('vm')
        .set({ holder: null, lease_until: null, rings: 0 })
        .where('id', '=', id)
        .execute()
      return undefined
    }
    const { number, ...task } = await tx
      .with('claimed', (with_) =>
        with_
          .updateTable('vm')
          .set({ number: sql`next_number()`, holder, lease_until: lease, rings: 0 })
          .where('id', '=', id)
          .returning('number'),
      )
      .updateTable('task')
      .set({
        state: 'running',
        started_at: sql`coalesce(started_at, clock_timestamp())`,
        deadline: sql`coalesce(deadline, clock_timestamp() + make_interval(secs => ${rules.within(head.operation)}))`,
        found: sql`coalesce(found, ${locked.status})`,
      })
      .from('claimed')
      .where('task.id', '=', head.id)
      .returningAll('task')
      .returning('claimed.number')
      .executeTakeFirstOrThrow()
    const { held: _, ...vm } = locked
    return { task, vm: { ...vm, number, holder }, number, first: head.state === 'queued' }
  })
}

/** Whether the head may act now, and there are hands for it. */
async function mayBegin(tx: Tx, vm: VmRow, head: Task, rules: ClaimRules): Promise<boolean> {
  const { rows } = await sql<{ may: boolean }>`
    select ${claimable}
      and (select count(*) from vm other where other.host = vm.host and other.id <> vm.id
        and other.deleted_at is null and other.lease_until > clock_timestamp()) < ${rules.perHost}
      and (select count(*) from vm other where other.org = vm.org and other.id <> vm.id
        and other.holder is not null and other.lease_until > clock_timestamp()) < ${rules.perOrg} as may
    from vm join task head on head.vm = vm.id
    where vm.id = ${vm.id} and head.id = ${head.id}`.execute(tx)
  return rows[0]?.may ?? false
}

export async function isOpen(db: Kysely<Database>, host: HostId): Promise<boolean> {
  const { rows } = await sql`select from host where id = ${host} and ${open}`.execute(db)
  return rows.length > 0
}

/** With so much of its time left a lease goes on as it is: a step that comes at once after its claim writes nothing. */
const FRESH = sql.lit(`${LEASE_SECONDS - 1} s`)

/** Task and VM, as long as the claim is the newest; and the lease goes on. */
export async function readClaimed(
  db: Kysely<Database>,
  { task: id, number }: Claim,
): Promise<{ task: Task & { late: boolean }; vm: VmRow }> {
  const vm = await db
    .selectFrom('vm')
    .selectAll()
    .select(
      sql<boolean>`coalesce(lease_until > clock_timestamp() + ${FRESH}::interval, false)`.as(
        'fresh',
      ),
    )
    .where('id', '=', (eb) => eb.selectFrom('task').select('task.vm').where('task.id', '=', id))
    .where('number', '=', number)
    .executeTakeFirst()
  if (!vm) throw staleClaim(number)
  if (!vm.fresh) await writeClaimed(db, vm.id, number, { lease_until: lease })
  const task = await db
    .selectFrom('task')
    .selectAll()
    .select(sql<boolean>`coalesce(clock_timestamp() > deadline, false)`.as('late'))
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  if (task.state !== 'running') throw staleClaim(number)
  return { task, vm }
}

export interface Reason {
  readonly kind: FaultKind
  readonly message: string
}

/** Committed before the first undo, with a new number: a forward step still on its way is then refused. */
export async function turnBack(
  db: Kysely<Database>,
  { task: id, number }: Claim,
  { kind, message }: Reason,
): Promise<string> {
  return db.transaction().execute(async (tx) => {
    const held = await tx
      .selectFrom('vm')
      .select('id')
      .where('id', '=', (eb) => eb.selectFrom('task').select('task.vm').where('task.id', '=', id))
      .where('number', '=', number)
      .forNoKeyUpdate()
      .executeTakeFirst()
    // A twin of this run may have ended the task: what has succeeded is not undone.
    const turned =
      held &&
      (await tx
        .updateTable('task')
        .set({ direction: 'back', fault: kind, message })
        .where('id', '=', id)
        .where('state', '=', 'running')
        .returning('id')
        .executeTakeFirst())
    if (!turned) throw staleClaim(number)
    const vm = await tx
      .updateTable('vm')
      .set({ number: sql`next_number()`, lease_until: lease })
      .where('id', '=', held.id)
      .returning('number')
      .executeTakeFirstOrThrow()
    return vm.number
  })
}

/** Its point of no return is here: cancel comes too late from now on. */
export async function commitTask(db: Kysely<Database>, id: TaskId): Promise<void> {
  await db
    .updateTable('task')
    .set({ committed: true })
    .where('id', '=', id)
    .where('state', '=', 'running')
    .execute()
}

export async function recordProgress(
  db: Kysely<Database>,
  { task, number }: Claim,
  percent: number,
): Promise<{ cancel: boolean } | undefined> {
  return db
    .updateTable('task')
    .set({ progress: sql`greatest(progress, ${Math.floor(percent)})` })
    .from('vm')
    .whereRef('vm.id', '=', 'task.vm')
    .where('task.id', '=', task)
    .where('vm.number', '=', number)
    .where('task.state', '=', 'running')
    .returning(sql<boolean>`task.cancel and not task.committed`.as('cancel'))
    .executeTakeFirst()
}
