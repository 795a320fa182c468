import { Fault } from '@skerry/fault'
import type { Kysely, Selectable } from 'kysely'

import type { VappId } from '../ids.ts'
import type { Tx } from '../world.ts'
import type { Database } from './database.ts'
import type { VdcRow } from './orgs.ts'
import type { VmRow } from './vms.ts'

export type VappRow = Selectable<Database['vapp']>

export async function findVapp(
  db: Kysely<Database>,
  id: string,
  { gone = false } = {},
): Promise<VappRow | undefined> {
  const query = db
    .selectFrom('vapp')
    .selectAll()
    .where('id', '=', id as VappId)
  return (gone ? query : query.where('deleted_at', 'is', null)).executeTakeFirst()
}

/** Those that are in a vdc: the first by name, and how many there are. */
export async function vappsOf(
  db: Kysely<Database>,
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

/** Its VMs by id, which is the order of their locks. */
export async function vmsOf(
  db: Kysely<Database>,
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

/** Also one that was deleted: a request that comes again is told of what it made. */
export async function readVapp(db: Kysely<Database>, id: VappId): Promise<VappRow> {
  return db.selectFrom('vapp').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
}

interface NewVapp {
  readonly vdc: VdcRow
  readonly name: string
  readonly owner: string
}

/** Written down: a vApp without VMs. */
export async function addEmptyVapp(tx: Tx, { vdc, name, owner }: NewVapp): Promise<VappId> {
  const made = await tx
    .insertInto('vapp')
    .values({ org: vdc.org, vdc: vdc.id, name, owner })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst()
  if (made) return made.id
  throw new Fault('conflict', `there is already a vApp ${name}`, { hint: 'choose another name' })
}
