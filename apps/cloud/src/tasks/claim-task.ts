import type { FaultKind } from '@skerry/fault'
import type { HostId, TaskId, VmId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import { emitEvent } from '../database/events.ts'
import type { Claim, Tx, CloudTables, TaskRow } from '../database/tables.ts'
import { staleClaim, writeClaimed, type VmRow } from '../inventory/vms.ts'
import { claimable, open } from './claimable.ts'
import { noFailures, recordDeferral } from './waits.ts'

/** How long a claim lasts without renewal. Leases elect a worker; fencing tokens reject stale ones. */
export const LEASE_SECONDS = 15
const lease = sql<Date>`clock_timestamp() + ${sql.lit(`${LEASE_SECONDS} s`)}::interval`

export interface ClaimRules {
  /** Limits on concurrent tasks, so that neither a host nor an organisation can occupy all workers. */
  readonly perHost: number
  readonly perOrg: number
  /** Timeout of an operation in seconds, from its start. */
  within(operation: string): number
}

export interface Claimed {
  readonly task: TaskRow
  readonly vm: VmRow
  readonly fence: string
  /** The task was not started before: there is nothing to undo. */
  readonly first: boolean
}

/**
 * Claims the head of the VM's queue under a new fencing token, which invalidates any earlier claim. Returns undefined
 * when there is nothing to do now; then the same transaction has cleared the holder.
 */
export async function claimTask(
  db: Kysely<CloudTables>,
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
      // Literals, as in the index predicate: with parameters, a generic plan could not use the partial index.
      .where(sql<boolean>`state in ('queued', 'running')`)
      .orderBy('position')
      .limit(1)
      .executeTakeFirst()
    const why = head ? await whyNotNow(tx, locked, head, rules) : 'nothing to do'
    if (!head || why !== undefined) {
      if (head && isLimit(why)) await recordDeferral(tx, head.id, why)
      await tx
        .updateTable('vm')
        .set({ holder: null, lease_until: null, wake_attempts: 0 })
        .where('id', '=', id)
        .execute()
      return undefined
    }
    const { fence, ...task } = await tx
      .with('claimed', (with_) =>
        with_
          .updateTable('vm')
          .set({ fence: sql`next_fence()`, holder, lease_until: lease, wake_attempts: 0 })
          .where('id', '=', id)
          .returning('fence'),
      )
      .updateTable('task')
      .set({
        state: 'running',
        started_at: sql`coalesce(started_at, clock_timestamp())`,
        deadline: sql`coalesce(deadline, clock_timestamp() + make_interval(secs => ${rules.within(head.operation)}))`,
        status_before: sql`coalesce(status_before, ${locked.status})`,
        // A step that failed under an earlier claim is still being retried.
        worker_wait: sql`case when attempts > 0 then worker_wait end`,
        wait_reason: null,
        waiting_since: null,
      })
      .from('claimed')
      .where('task.id', '=', head.id)
      .returningAll('task')
      .returning('claimed.fence')
      .executeTakeFirstOrThrow()
    const { held: _, ...vm } = locked
    const first = head.state === 'queued'
    if (first) await emitEvent(tx, { kind: 'task.running', task })
    return { task, vm: { ...vm, fence, holder }, fence, first }
  })
}

type Limit = 'host-limit' | 'org-limit'
const isLimit = (why: string | undefined): why is Limit =>
  why === 'host-limit' || why === 'org-limit'

/** Why the head may not start now; undefined if it may. */
async function whyNotNow(
  tx: Tx,
  vm: VmRow,
  head: TaskRow,
  rules: ClaimRules,
): Promise<'not claimable' | Limit | undefined> {
  const { rows } = await sql<{ may: boolean; host: boolean; org: boolean }>`
    select ${claimable} as may,
      (select count(*) from vm other where other.host = vm.host and other.id <> vm.id
        and other.deleted_at is null and other.lease_until > clock_timestamp()) < ${rules.perHost} as host,
      (select count(*) from vm other where other.org = vm.org and other.id <> vm.id
        and other.holder is not null and other.lease_until > clock_timestamp()) < ${rules.perOrg} as org
    from vm join task head on head.vm = vm.id
    where vm.id = ${vm.id} and head.id = ${head.id}`.execute(tx)
  const [found] = rows
  if (!found?.may) return 'not claimable'
  if (!found.host) return 'host-limit'
  return found.org ? undefined : 'org-limit'
}

export async function isOpen(db: Kysely<CloudTables>, host: HostId): Promise<boolean> {
  const { rows } = await sql`select from host where id = ${host} and ${open}`.execute(db)
  return rows.length > 0
}

/** A lease with this much time left is not renewed: a step right after its claim writes nothing. */
const FRESH = sql.lit(`${LEASE_SECONDS - 1} s`)

/** Reads task and VM while the claim is the newest, and renews the lease. */
export async function readClaimed(
  db: Kysely<CloudTables>,
  { task: id, fence: number }: Claim,
): Promise<{ task: TaskRow & { late: boolean }; vm: VmRow }> {
  const vm = await db
    .selectFrom('vm')
    .selectAll()
    .select(
      sql<boolean>`coalesce(lease_until > clock_timestamp() + ${FRESH}::interval, false)`.as(
        'fresh',
      ),
    )
    .where('id', '=', (eb) => eb.selectFrom('task').select('task.vm').where('task.id', '=', id))
    .where('fence', '=', number)
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

export interface ClaimReason {
  readonly kind: FaultKind
  readonly message: string
}

/** Committed before the first undo, with a new fencing token, so that a forward step still in flight is rejected. */
export async function turnBack(
  db: Kysely<CloudTables>,
  { task: id, fence: number }: Claim,
  { kind, message }: ClaimReason,
): Promise<string> {
  return db.transaction().execute(async (tx) => {
    const held = await tx
      .selectFrom('vm')
      .select('id')
      .where('id', '=', (eb) => eb.selectFrom('task').select('task.vm').where('task.id', '=', id))
      .where('fence', '=', number)
      .forNoKeyUpdate()
      .executeTakeFirst()
    // A concurrent run may have ended the task; a success is not undone.
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
      .set({ fence: sql`next_fence()`, lease_until: lease })
      .where('id', '=', held.id)
      .returning('fence')
      .executeTakeFirstOrThrow()
    return vm.fence
  })
}

/** Marks the point of no return: from now on the task cannot be canceled. */
export async function commitTask(db: Kysely<CloudTables>, id: TaskId): Promise<void> {
  await db
    .updateTable('task')
    .set({ past_no_return: true })
    .where('id', '=', id)
    .where('state', '=', 'running')
    .execute()
}

export async function recordProgress(
  db: Kysely<CloudTables>,
  { task, fence: number }: Claim,
  percent: number,
  { stepDone = false } = {},
): Promise<{ cancel: boolean } | undefined> {
  return db
    .updateTable('task')
    .set({
      progress: sql`greatest(progress, ${Math.floor(percent)})`,
      ...(stepDone && noFailures),
    })
    .from('vm')
    .whereRef('vm.id', '=', 'task.vm')
    .where('task.id', '=', task)
    .where('vm.fence', '=', number)
    .where('task.state', '=', 'running')
    .returning(sql<boolean>`task.cancel_requested and not task.past_no_return`.as('cancel'))
    .executeTakeFirst()
}
