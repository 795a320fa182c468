import { Fault } from '@skerry/fault'
import type { HostId, OrgId } from '@skerry/vm'
import { sql, type Kysely, type Selectable } from 'kysely'

import type { Who } from '../identity/authorize.ts'
import type { Tx } from '../world.ts'
import type { Database } from './database.ts'
import type { Task } from './queue.ts'

export type EventRow = Selectable<Database['event']>

export interface Happening {
  readonly kind: string
  readonly task?: Pick<Task, 'id' | 'org' | 'vapp' | 'vm' | 'operation'>
  readonly vm?: { readonly org: OrgId; readonly id: Task['vm']; readonly vapp: Task['vapp'] }
  readonly host?: HostId
  /** Where it is about nothing else that has one. */
  readonly org?: OrgId
  readonly what?: Readonly<Record<string, unknown>>
}

/** Whoever may do something about others is named with it, from where it was asked, and by which run of theirs. */
export const by = ({ user, address, grant }: Pick<Who, 'user' | 'address' | 'grant'>) => ({
  by: user,
  ...(address !== undefined && { from: address }),
  ...(grant !== undefined && { grant }),
})

/** In the same transaction as what it tells of, or it is not true. */
export async function tell(
  tx: Tx | Kysely<Database>,
  { kind, task, vm, host, org, what = {} }: Happening,
): Promise<void> {
  await tx
    .insertInto('event')
    .values({
      kind,
      org: task?.org ?? vm?.org ?? org ?? null,
      vapp: task?.vapp ?? vm?.vapp ?? null,
      vm: task?.vm ?? vm?.id ?? null,
      task: task?.id ?? null,
      host: host ?? null,
      what: JSON.stringify({ ...(task && { operation: task.operation }), ...what }),
    })
    .execute()
}

/** Where a reader is: everything up to here was read. On the wire 'tx-seq'. */
export interface Cursor {
  readonly tx: string
  readonly seq: string
}

/**
 * What happened after the cursor, oldest first. Only what lies below the oldest transaction that is
 * still open: a row may become visible later than one with a higher number, but never below that.
 */
export async function readEvents(
  db: Kysely<Database>,
  after: Cursor,
  limit: number,
): Promise<EventRow[]> {
  return db
    .selectFrom('event')
    .selectAll()
    .where(sql<boolean>`(tx, seq) > (${after.tx}::xid8, ${after.seq}::bigint)`)
    .where(sql<boolean>`tx < pg_snapshot_xmin(pg_current_snapshot())`)
    .orderBy('tx')
    .orderBy('seq')
    .limit(limit)
    .execute()
}

/** The end of what can be read now. */
export async function endOfEvents(db: Kysely<Database>): Promise<Cursor> {
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

/** A cursor that lies ahead of all that there is comes from a time that a restore has taken back. */
export async function requireReached(db: Kysely<Database>, { tx }: Cursor): Promise<void> {
  const { rows } = await sql<{ ahead: boolean }>`
    select ${tx}::xid8 >= pg_snapshot_xmax(pg_current_snapshot()) as ahead`.execute(db)
  if (rows[0]?.ahead !== true) return
  throw new Fault('gone', 'this cursor is of a time that a restore has taken back', {
    hint: 'read what there is, then follow without a cursor',
  })
}
