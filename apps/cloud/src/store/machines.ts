import type { HostId, VmId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import type { Database } from './database.ts'

/** Which of these hosts may not speak to us any more. One that we do not know is one of them. */
export async function refusedAmong(
  db: Kysely<Database>,
  hosts: readonly string[],
): Promise<ReadonlySet<string>> {
  if (hosts.length === 0) return new Set()
  const joined = await db
    .selectFrom('host')
    .select('id')
    .where(sql<boolean>`id = any(${hosts}::uuid[])`)
    .where('state', '=', 'joined')
    .execute()
  const known = new Set<string>(joined.map(({ id }) => id))
  return new Set(hosts.filter((id) => !known.has(id)))
}

export async function readCloud(
  db: Kysely<Database>,
): Promise<{ readonly id: string; readonly epoch: number }> {
  return db.selectFrom('cloud').select(['id', 'epoch']).executeTakeFirstOrThrow()
}

/** From now on certificates of cells, consoles and workflow servers must be of the next epoch. */
export async function raiseEpoch(db: Kysely<Database>): Promise<number> {
  const { epoch } = await db
    .updateTable('cloud')
    .set({ epoch: sql`epoch + 1` })
    .returning('epoch')
    .executeTakeFirstOrThrow()
  return epoch
}

/** False where the host was revoked meanwhile. */
export async function recordKey(
  db: Kysely<Database>,
  id: string,
  publicKey: string,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('host')
    .set({ public_key: publicKey })
    .where('id', '=', id as HostId)
    .where('state', '=', 'joined')
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Rights hang on the VM, never on the digest: a host gets an image for a VM that is placed on it. */
export async function needsImage(
  db: Kysely<Database>,
  { host, vm, digest }: { readonly host: string; readonly vm: string; readonly digest: string },
): Promise<boolean> {
  const row = await db
    .selectFrom('vm')
    .select('id')
    .where('id', '=', vm as VmId)
    .where('host', '=', host as HostId)
    .where('image', '=', digest)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return row !== undefined
}
