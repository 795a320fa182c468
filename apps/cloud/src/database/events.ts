import { Fault } from '@skerry/fault'
import type { HostId, OrgId } from '@skerry/vm'
import { sql, type Kysely, type Selectable } from 'kysely'

import type { Principal } from '../domain/authorize.ts'
import type { Tx, CloudTables, TaskRow } from './tables.ts'

export type EventRow = Selectable<CloudTables['event']>

export interface NewEvent {
  readonly kind: string
  readonly task?: Pick<TaskRow, 'id' | 'org' | 'vapp' | 'vm' | 'operation'>
  readonly vm?: { readonly org: OrgId; readonly id: TaskRow['vm']; readonly vapp: TaskRow['vapp'] }
  readonly host?: HostId
  /** For events without a task or VM. */
  readonly org?: OrgId
  readonly details?: Readonly<Record<string, unknown>>
}

/** Audit fields of an event: the user, the client address, and the grant of the workflow run. */
export const by = ({ user, address, grant }: Pick<Principal, 'user' | 'address' | 'grant'>) => ({
  by: user,
  ...(address !== undefined && { from: address }),
  ...(grant !== undefined && { grant }),
})

/** Call it in the transaction of the change that it reports, so that both commit or neither does. */
export const emitEvent = (tx: Tx | Kysely<CloudTables>, event: NewEvent): Promise<void> =>
  emitEvents(tx, [event])

/** The same for several, in one statement. */
export async function emitEvents(
  tx: Tx | Kysely<CloudTables>,
  events: readonly NewEvent[],
): Promise<void> {
  if (events.length === 0) return
  await tx
    .insertInto('event')
    .values(
      events.map(({ kind, task, vm, host, org, details = {} }) => ({
        kind,
        org: task?.org ?? vm?.org ?? org ?? null,
        vapp: task?.vapp ?? vm?.vapp ?? null,
        vm: task?.vm ?? vm?.id ?? null,
        task: task?.id ?? null,
        host: host ?? null,
        details: JSON.stringify({ ...(task && { operation: task.operation }), ...details }),
      })),
    )
    .execute()
}

/** Position of a reader: everything up to here was read. On the wire 'tx-seq'. */
export interface EventCursor {
  readonly tx: string
  readonly seq: string
}

/** Whether the event comes after this position. Both are whole numbers without leading zeros. */
export const isAfter = (event: EventCursor, { tx, seq }: EventCursor): boolean =>
  event.tx === tx ? isGreater(event.seq, seq) : isGreater(event.tx, tx)

const isGreater = (one: string, other: string): boolean =>
  one.length === other.length ? one > other : one.length > other.length

/**
 * Events after the cursor, oldest first; `org`: of this organisation only. Only those below the oldest open transaction: a row may
 * become visible later than one with a higher number, but never below that.
 */
export async function readEvents(
  db: Kysely<CloudTables>,
  after: EventCursor,
  limit: number,
  org?: OrgId,
): Promise<EventRow[]> {
  return db
    .selectFrom('event')
    .selectAll()
    .$if(org !== undefined, (query) => query.where('org', '=', org ?? null))
    .where(sql<boolean>`(tx, seq) > (${after.tx}::xid8, ${after.seq}::bigint)`)
    .where(sql<boolean>`tx < pg_snapshot_xmin(pg_current_snapshot())`)
    .orderBy('tx')
    .orderBy('seq')
    .limit(limit)
    .execute()
}

/** The position of the last event that can be read now. */
export async function endOfEvents(db: Kysely<CloudTables>): Promise<EventCursor> {
  const last = await db
    .selectFrom('event')
    .select(['tx', 'seq'])
    .where(sql<boolean>`tx < pg_snapshot_xmin(pg_current_snapshot())`)
    .orderBy('tx', 'desc')
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  return last ?? { tx: '0', seq: '0' }
}

/** Every event that has happened is of a transaction below this one, also an event that cannot be read yet. */
export async function endOfTransactions(db: Kysely<CloudTables>): Promise<string> {
  const { rows } = await sql<{ end: string }>`
    select pg_snapshot_xmax(pg_current_snapshot())::text as end`.execute(db)
  return rows[0]?.end ?? '0'
}

/** Whether every event below this transaction can be read: no older transaction is open. */
export async function isReadableBelow(db: Kysely<CloudTables>, end: string): Promise<boolean> {
  const { rows } = await sql<{ isReadable: boolean }>`
    select pg_snapshot_xmin(pg_current_snapshot()) >= ${end}::xid8 as "isReadable"`.execute(db)
  return rows[0]?.isReadable === true
}

/** A cursor ahead of all events is from a time that a database restore has undone. */
export async function requireReached(db: Kysely<CloudTables>, { tx }: EventCursor): Promise<void> {
  const { rows } = await sql<{ ahead: boolean }>`
    select ${tx}::xid8 >= pg_snapshot_xmax(pg_current_snapshot()) as ahead`.execute(db)
  if (rows[0]?.ahead !== true) return
  throw new Fault('gone', 'this cursor is from before a database restore', {
    hint: 'read the current state, then follow without a cursor',
  })
}
