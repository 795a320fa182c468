import { Fault } from '@skerry/fault'
import { sql, type Kysely, type Selectable } from 'kysely'

import type { Tx, CloudTables } from '../database/tables.ts'
import { lockVapp, type Subject } from './vapps.ts'

export type MetadataRow = Selectable<CloudTables['metadata']>
export type MetadataEntry = Pick<MetadataRow, 'key' | 'type' | 'value'>

/** Per resource. Metadata is for notes, not a database. */
const MOST = 200

const about = (db: Kysely<CloudTables>, { org, vapp, vm }: Subject) =>
  db
    .selectFrom('metadata')
    .selectAll()
    .where('org', '=', org)
    .where('vapp', '=', vapp)
    .where('vm', vm === null ? 'is' : '=', vm)

export const metadataOf = (db: Kysely<CloudTables>, subject: Subject): Promise<MetadataRow[]> =>
  about(db, subject).orderBy('key').execute()

export async function metadataAt(
  db: Kysely<CloudTables>,
  subject: Subject,
  key: string,
): Promise<MetadataRow> {
  const row = await about(db, subject).where('key', '=', key).executeTakeFirst()
  if (!row) throw new Fault('not-found', 'metadata key not found')
  return row
}

/** Replaces entries with the same key; all others stay. */
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
    throw new Fault('conflict', `a resource can have at most ${MOST} metadata entries`)
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
