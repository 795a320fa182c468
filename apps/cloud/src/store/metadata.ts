import { Fault } from '@skerry/fault'
import { sql, type Kysely, type Selectable } from 'kysely'

import type { Tx } from '../world.ts'
import type { Database } from './database.ts'
import type { Subject } from './done-task.ts'
import { lockVapp } from './vapps.ts'

export type MetadataRow = Selectable<Database['metadata']>
export type MetadataEntry = Pick<MetadataRow, 'key' | 'type' | 'value'>

/** Of one thing. It is for notes, not for a database. */
const MOST = 200

const about = (db: Kysely<Database>, { org, vapp, vm }: Subject) =>
  db
    .selectFrom('metadata')
    .selectAll()
    .where('org', '=', org)
    .where('vapp', '=', vapp)
    .where('vm', vm === null ? 'is' : '=', vm)

export const metadataOf = (db: Kysely<Database>, subject: Subject): Promise<MetadataRow[]> =>
  about(db, subject).orderBy('key').execute()

export async function metadataAt(
  db: Kysely<Database>,
  subject: Subject,
  key: string,
): Promise<MetadataRow> {
  const row = await about(db, subject).where('key', '=', key).executeTakeFirst()
  if (!row) throw new Fault('not-found', 'there is no metadata of this key')
  return row
}

/** Those of the same key are replaced, all others stay. */
export async function mergeMetadata(
  tx: Tx,
  subject: Subject,
  entries: readonly MetadataEntry[],
): Promise<void> {
  await lockVapp(tx, subject.vapp)
  for (const { key, type, value } of entries) {
    const { org, vapp, vm } = subject
    await sql`insert into metadata (org, vapp, vm, key, type, value)
      values (${org}, ${vapp}, ${vm}, ${key}, ${type}, ${value})
      on conflict (org, coalesce(vm, vapp), key) do update set type = excluded.type, value = excluded.value`.execute(
      tx,
    )
  }
  if ((await metadataOf(tx, subject)).length > MOST) {
    throw new Fault('conflict', `there are at most ${MOST} entries of metadata on one thing`)
  }
}

export async function dropMetadata(tx: Tx, subject: Subject, key: string): Promise<void> {
  const { org, vapp, vm } = await metadataAt(tx, subject, key)
  await tx
    .deleteFrom('metadata')
    .where('org', '=', org)
    .where('vapp', '=', vapp)
    .where('vm', vm === null ? 'is' : '=', vm)
    .where('key', '=', key)
    .execute()
}
