import type { OrgId } from '@skerry/vm'
import type { Kysely, Selectable } from 'kysely'

import type { CloudTables } from '../database/tables.ts'
import type { Principal } from '../domain/authorize.ts'

export type OrgRow = Selectable<CloudTables['org']>
export type VdcRow = Selectable<CloudTables['vdc']>
export type TemplateRow = Selectable<CloudTables['template']>

export async function findOrg(db: Kysely<CloudTables>, id: string): Promise<OrgRow | undefined> {
  return db
    .selectFrom('org')
    .selectAll()
    .where('id', '=', id as OrgId)
    .executeTakeFirst()
}

export async function findVdc(db: Kysely<CloudTables>, id: string): Promise<VdcRow | undefined> {
  return db.selectFrom('vdc').selectAll().where('id', '=', id).executeTakeFirst()
}

export async function findTemplate(
  db: Kysely<CloudTables>,
  id: string,
): Promise<TemplateRow | undefined> {
  return db.selectFrom('template').selectAll().where('id', '=', id).executeTakeFirst()
}

/** All organisations for system administrators, their own for other users. */
export function orgsSeenBy(db: Kysely<CloudTables>, { role, org }: Principal): Promise<OrgRow[]> {
  const rows = db.selectFrom('org').selectAll().orderBy('name')
  return (role === 'system administrator' ? rows : rows.where('id', '=', org)).execute()
}

export const vdcsOf = (db: Kysely<CloudTables>, org: OrgId): Promise<VdcRow[]> =>
  db.selectFrom('vdc').selectAll().where('org', '=', org).orderBy('name').execute()

export const templatesOf = (db: Kysely<CloudTables>, org: OrgId): Promise<TemplateRow[]> =>
  db.selectFrom('template').selectAll().where('org', '=', org).orderBy('name').execute()
