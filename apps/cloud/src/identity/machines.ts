import type { HostId, VmId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import type { CloudTables } from '../database/tables.ts'

/** Which of these hosts must be rejected: revoked, lost or unknown ones. */
export async function refusedAmong(
  db: Kysely<CloudTables>,
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
  db: Kysely<CloudTables>,
): Promise<{ readonly id: string; readonly epoch: number }> {
  return db.selectFrom('cloud').select(['id', 'epoch']).executeTakeFirstOrThrow()
}

/** Starts the next epoch: older certificates of cells, consoles and workflow servers are invalid. */
export async function raiseEpoch(db: Kysely<CloudTables>): Promise<number> {
  const { epoch } = await db
    .updateTable('cloud')
    .set({ epoch: sql`epoch + 1` })
    .returning('epoch')
    .executeTakeFirstOrThrow()
  return epoch
}

/** False if the host was revoked meanwhile. */
export async function recordKey(
  db: Kysely<CloudTables>,
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

/** Access depends on the VM, never on the digest: a host gets an image only for a VM that is placed on it. */
export async function needsImage(
  db: Kysely<CloudTables>,
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
