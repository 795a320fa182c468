import type { OrgId } from '@skerry/vm'
import type { Kysely, Selectable } from 'kysely'

import type { Who } from '../identity/authorize.ts'
import type { Database } from './database.ts'

export type OrgRow = Selectable<Database['org']>
export type VdcRow = Selectable<Database['vdc']>
export type TemplateRow = Selectable<Database['template']>

export async function findOrg(db: Kysely<Database>, id: string): Promise<OrgRow | undefined> {
  return db
    .selectFrom('org')
    .selectAll()
    .where('id', '=', id as OrgId)
    .executeTakeFirst()
}

export async function findVdc(db: Kysely<Database>, id: string): Promise<VdcRow | undefined> {
  return db.selectFrom('vdc').selectAll().where('id', '=', id).executeTakeFirst()
}

export async function findTemplate(
  db: Kysely<Database>,
  id: string,
): Promise<TemplateRow | undefined> {
  return db.selectFrom('template').selectAll().where('id', '=', id).executeTakeFirst()
}

/** All of them for those who run the cloud, their own for everybody else. */
export function orgsSeenBy(db: Kysely<Database>, { role, org }: Who): Promise<OrgRow[]> {
  const rows = db.selectFrom('org').selectAll().orderBy('name')
  return (role === 'system administrator' ? rows : rows.where('id', '=', org)).execute()
}

export const vdcsOf = (db: Kysely<Database>, org: OrgId): Promise<VdcRow[]> =>
  db.selectFrom('vdc').selectAll().where('org', '=', org).orderBy('name').execute()

export const templatesOf = (db: Kysely<Database>, org: OrgId): Promise<TemplateRow[]> =>
  db.selectFrom('template').selectAll().where('org', '=', org).orderBy('name').execute()
