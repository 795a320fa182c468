import { Fault } from '@skerry/fault'
import { sql, type Kysely, type Selectable } from 'kysely'

import type { StoredImage } from '../images/add-image.ts'
import type { Tx } from '../world.ts'
import { orConflict } from './accounts.ts'
import type { CatalogRow } from './catalogs.ts'
import type { Database } from './database.ts'
import { tell } from './events.ts'

export type UploadRow = Selectable<Database['upload']>

/** Who sends says so again with every part that is on disk; one who was killed is given up after this. */
const SENDING = sql.lit('30 s')
const MIB = 1024 ** 2

export interface NewUpload {
  readonly name: string
  readonly bytes: number
  readonly sha256?: string
  readonly cpus: number
  readonly memoryMiB: number
}

export const findUpload = (db: Kysely<Database>, id: string): Promise<UploadRow | undefined> =>
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
  const message = `there is a template ${name}, or one of that name is on its way`
  if (taken) throw new Fault('conflict', message, { hint: 'choose another name' })
  return orConflict(message, () =>
    tx
      .insertInto('upload')
      .values({
        ...{ org, catalog, name, bytes: String(bytes), sha256: sha256 ?? null },
        ...{ cpus, memory_mib: memoryMiB },
      })
      .returningAll()
      .executeTakeFirstOrThrow(),
  )
}

export async function dropUpload(db: Kysely<Database>, { org, id }: UploadRow): Promise<void> {
  await db.deleteFrom('upload').where('org', '=', org).where('id', '=', id).execute()
}

/** One sends at a time. Answers with how much is there. */
export async function beginSending(db: Kysely<Database>, { org, id }: UploadRow): Promise<number> {
  const begun = await db
    .updateTable('upload')
    .set({ sending_until: sql`clock_timestamp() + ${SENDING}::interval`, touched_at: now })
    .where('org', '=', org)
    .where('id', '=', id)
    .where('sending_until', '<', now)
    .returning('received')
    .executeTakeFirst()
  if (begun) return Number(begun.received)
  throw new Fault('conflict', 'somebody is sending to this upload', {
    hint: 'try again in half a minute',
  })
}

const now = sql<Date>`clock_timestamp()`

/** So much is on disk. */
export async function recordReceived(
  db: Kysely<Database>,
  { org, id }: UploadRow,
  received: number,
): Promise<void> {
  await db
    .updateTable('upload')
    .set({
      ...{ received: String(received), touched_at: now },
      sending_until: sql`clock_timestamp() + ${SENDING}::interval`,
    })
    .where('org', '=', org)
    .where('id', '=', id)
    .execute()
}

export async function endSending(db: Kysely<Database>, { org, id }: UploadRow): Promise<void> {
  await db
    .updateTable('upload')
    .set({ sending_until: sql`'-infinity'` })
    .where('org', '=', org)
    .where('id', '=', id)
    .execute()
}

/** The upload becomes a template in its catalog: both or neither. Answers with the id of the catalog's item. */
export async function makeTemplate(
  db: Kysely<Database>,
  row: UploadRow,
  { digest, bytes, virtualBytes }: StoredImage,
): Promise<string> {
  const { org, catalog, name, cpus, memory_mib } = row
  const mib = Math.ceil(virtualBytes / MIB)
  return orConflict(`there is a template ${name} already`, () =>
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
      await tell(tx, { kind: 'template.uploaded', org, what: { name, digest } })
      return id
    }),
  )
}
