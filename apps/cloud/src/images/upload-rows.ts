import { Fault } from '@skerry/fault'
import { sql, type Kysely, type Selectable } from 'kysely'

import { emitEvent } from '../database/events.ts'
import type { Tx, CloudTables } from '../database/tables.ts'
import { orConflict } from '../tenants/accounts.ts'
import type { CatalogRow } from '../tenants/catalogs.ts'
import type { StoredImage } from './add-image.ts'

export type UploadRow = Selectable<CloudTables['upload']>

/** A sender renews its lease with every part on disk; after this time without renewal another may send. */
const SENDING = sql.lit('30 s')
const MIB = 1024 ** 2

export interface NewUpload {
  readonly name: string
  readonly bytes: number
  readonly sha256?: string
  readonly cpus: number
  readonly memoryMiB: number
}

export const findUpload = (db: Kysely<CloudTables>, id: string): Promise<UploadRow | undefined> =>
  db.selectFrom('upload').selectAll().where('id', '=', id).executeTakeFirst()

export async function addUpload(
  tx: Tx,
  { org, id: catalog }: CatalogRow,
  { name, bytes, sha256, cpus, memoryMiB }: NewUpload,
): Promise<UploadRow> {
  const taken = await tx
    .selectFrom('template')
    .select('id')
    .where('org', '=', org)
    .where('name', '=', name)
    .executeTakeFirst()
  const message = `template ${name} already exists or is being uploaded`
  if (taken) throw new Fault('conflict', message, { hint: 'choose another name' })
  return orConflict(message, () =>
    tx
      .insertInto('upload')
      .values({
        org,
        catalog,
        name,
        bytes: String(bytes),
        sha256: sha256 ?? null,
        cpus,
        memory_mib: memoryMiB,
      })
      .returningAll()
      .executeTakeFirstOrThrow(),
  )
}

export async function dropUpload(db: Kysely<CloudTables>, { org, id }: UploadRow): Promise<void> {
  await db.deleteFrom('upload').where('org', '=', org).where('id', '=', id).execute()
}

/** Allows one sender at a time. Returns the number of bytes received so far. */
export async function beginSending(
  db: Kysely<CloudTables>,
  { org, id }: UploadRow,
): Promise<number> {
  const begun = await db
    .updateTable('upload')
    .set({ sending_until: sql`clock_timestamp() + ${SENDING}::interval`, touched_at: now })
    .where('org', '=', org)
    .where('id', '=', id)
    .where('sending_until', '<', now)
    .returning('received')
    .executeTakeFirst()
  if (begun) return Number(begun.received)
  throw new Fault('conflict', 'another client is sending to this upload', {
    hint: 'try again in half a minute',
  })
}

const now = sql<Date>`clock_timestamp()`

/** Records how many bytes are on disk. */
export async function recordReceived(
  db: Kysely<CloudTables>,
  { org, id }: UploadRow,
  received: number,
): Promise<void> {
  await db
    .updateTable('upload')
    .set({
      received: String(received),
      touched_at: now,
      sending_until: sql`clock_timestamp() + ${SENDING}::interval`,
    })
    .where('org', '=', org)
    .where('id', '=', id)
    .execute()
}

export async function endSending(db: Kysely<CloudTables>, { org, id }: UploadRow): Promise<void> {
  await db
    .updateTable('upload')
    .set({ sending_until: sql`'-infinity'` })
    .where('org', '=', org)
    .where('id', '=', id)
    .execute()
}

/** Turns the upload into a template in its catalog, in one transaction. Returns the id of the catalog item. */
export async function makeTemplate(
  db: Kysely<CloudTables>,
  row: UploadRow,
  { digest, bytes, virtualBytes }: StoredImage,
): Promise<string> {
  const { org, catalog, name, cpus, memory_mib } = row
  const mib = Math.ceil(virtualBytes / MIB)
  return orConflict(`template ${name} already exists`, () =>
    db.transaction().execute(async (tx) => {
      await tx
        .insertInto('image')
        .values({ digest, bytes: String(bytes), virtual_mib: mib })
        .onConflict((conflict) => conflict.column('digest').doNothing())
        .execute()
      const { id: template } = await tx
        .insertInto('template')
        .values({ org, name, image: digest, cpus, memory_mib, disk_mib: mib })
        .returning('id')
        .executeTakeFirstOrThrow()
      const { id } = await tx
        .insertInto('catalog_item')
        .values({ org, catalog, name, template })
        .returning('id')
        .executeTakeFirstOrThrow()
      await dropUpload(tx, row)
      await emitEvent(tx, { kind: 'template.uploaded', org, details: { name, digest } })
      return id
    }),
  )
}
