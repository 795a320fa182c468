import { Fault } from '@skerry/fault'
import type { OrgId, VmId } from '@skerry/vm'
import type { Kysely, Selectable } from 'kysely'

import type { Tx, CloudTables } from '../database/tables.ts'
import type { VappId } from '../domain/ids.ts'
import type { VdcRow } from '../tenants/orgs.ts'
import type { VmRow } from './vms.ts'

export type VappRow = Selectable<CloudTables['vapp']>

/** The vApp, or one of its VMs, that an immediate operation changes. */
export interface Subject {
  readonly org: OrgId
  readonly vapp: VappId
  readonly vm: VmId | null
}

export async function findVapp(
  db: Kysely<CloudTables>,
  id: string,
  { gone = false } = {},
): Promise<VappRow | undefined> {
  const query = db
    .selectFrom('vapp')
    .selectAll()
    .where('id', '=', id as VappId)
  return (gone ? query : query.where('deleted_at', 'is', null)).executeTakeFirst()
}

/** The vApps of a vDC: the first by name, and the total. */
export async function vappsOf(
  db: Kysely<CloudTables>,
  { org, id }: VdcRow,
  most: number,
): Promise<{ readonly first: Pick<VappRow, 'id' | 'name'>[]; readonly total: number }> {
  const there = db
    .selectFrom('vapp')
    .where('org', '=', org)
    .where('vdc', '=', id)
    .where('deleted_at', 'is', null)
  const first = await there.select(['id', 'name']).orderBy('name').limit(most).execute()
  if (first.length < most) return { first, total: first.length }
  const { count } = await there
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow()
  return { first, total: Number(count) }
}

export async function lockVapp(tx: Tx, id: VappId): Promise<VappRow | undefined> {
  return tx.selectFrom('vapp').selectAll().where('id', '=', id).forNoKeyUpdate().executeTakeFirst()
}

/** Its VMs by id, which is their lock order. */
export async function vmsOf(
  db: Kysely<CloudTables>,
  id: VappId,
  { locked = false } = {},
): Promise<VmRow[]> {
  const query = db
    .selectFrom('vm')
    .selectAll()
    .where('vapp', '=', id)
    .where('deleted_at', 'is', null)
    .orderBy('id')
  return (locked ? query.forNoKeyUpdate() : query).execute()
}

/** Includes a deleted vApp: a repeated request gets the vApp that it created. */
export async function readVapp(db: Kysely<CloudTables>, id: VappId): Promise<VappRow> {
  return db.selectFrom('vapp').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
}

interface NewVapp {
  readonly vdc: VdcRow
  readonly name: string
  readonly owner: string
}

/** Inserts a vApp without VMs. */
export async function addEmptyVapp(tx: Tx, { vdc, name, owner }: NewVapp): Promise<VappId> {
  const made = await tx
    .insertInto('vapp')
    .values({ org: vdc.org, vdc: vdc.id, name, owner })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst()
  if (made) return made.id
  throw new Fault('conflict', `vApp ${name} already exists`, { hint: 'choose another name' })
}
