// A user without rights, a group, a vApp and a catalog to share, with their addresses; and lists as they are written and read.
import { attribute, element, renderDocument, text, type Element } from '@skerry/xml'
import { sql } from 'kysely'

import type { Permission } from '../src/domain/roles.ts'
import type { ShareLevel } from '../src/domain/shares.ts'
import { addProviderRow } from './provider-row.ts'
import { fresh } from './rights-table.ts'
import { addRoleRow } from './role-row.ts'
import { addShareUser, type ShareUser } from './share-row.ts'
import { find, type TenantsApi } from './tenants-api.ts'

/** A user whose role has these rights, and the one to log out. */
export async function addUserWith(
  { cloud: { db }, eng: { org } }: TenantsApi,
  rights: readonly Permission[] = [],
  name?: string,
): Promise<ShareUser> {
  const role = fresh()
  await addRoleRow(db, org, role, ['session', ...rights])
  return addShareUser(db, org, role, name)
}

/** A vApp with a VM. */
export async function addSharedVapp(
  { cloud }: TenantsApi,
  status: 'POWERED_OFF' | 'POWERED_ON' = 'POWERED_OFF',
) {
  const { vapp, vms } = await cloud.addVms(1, status)
  return {
    id: String(vapp),
    path: `/api/vApp/vapp-${vapp}`,
    vm: `/api/vApp/vm-${vms[0]}`,
    access: `/api/vApp/vapp-${vapp}/controlAccess`,
    share: `/api/vApp/vapp-${vapp}/action/controlAccess`,
  }
}

/** A catalog with a template. */
export async function addSharedCatalog({ cloud: { db }, eng: { org } }: TenantsApi) {
  const { id } = await db
    .insertInto('catalog')
    .values({ org, name: fresh() })
    .returning('id')
    .executeTakeFirstOrThrow()
  const { rows } = await sql<{ template: string; item: string }>`with made as (
      insert into template (org, name, image, cpus, memory_mib, disk_mib)
      select org, ${fresh()}, image, 1, 64, 64 from template where org = ${org} limit 1 returning id, name)
    insert into catalog_item (org, catalog, name, template) select ${org}, ${id}, name, id from made
    returning template, id as item`.execute(db)
  const { template = '', item = '' } = rows[0] ?? {}
  const path = `/api/catalog/${id}`
  return {
    id,
    path,
    access: `${path}/controlAccess`,
    share: `${path}/action/controlAccess`,
    template,
    templatePath: `/api/vAppTemplate/vappTemplate-${template}`,
    itemPath: `/api/catalogItem/${item}`,
  }
}

export const setting = (subject: Readonly<Record<string, string>>, level: string): Element =>
  element('AccessSetting', {}, element('Subject', subject), element('AccessLevel', {}, level))
export const listOf = (settings: readonly Element[], everyone?: string): string =>
  renderDocument(
    element(
      'ControlAccessParams',
      {},
      element('IsSharedToEveryone', {}, String(everyone !== undefined)),
      everyone !== undefined && element('EveryoneAccessLevel', {}, everyone),
      settings.length > 0 && element('AccessSettings', {}, ...settings),
    ),
  )
export const withUsers = (
  level: ShareLevel,
  ...users: readonly Pick<ShareUser, 'user'>[]
): string => listOf(users.map(({ user }) => setting({ type: 'user', name: user }, level)))

/** What the document of a list says. */
export const entriesIn = (document: Element): string[] => [
  ...find(document, 'EveryoneAccessLevel').map((each) => `everyone ${text(each)}`),
  ...find(document, 'AccessSettings', 'AccessSetting').map((each) => {
    const [subject] = find(each, 'Subject')
    const names = ['type', 'name', 'provider'].flatMap((name) => attribute(subject, name) ?? [])
    return [...names, text(find(each, 'AccessLevel')[0])].join(' ')
  }),
]

/** A group that has a role, of a provider of its own. */
export async function addSharedGroup(
  { cloud: { db }, eng: { org } }: TenantsApi,
  name: string,
  provider = fresh(),
): Promise<string> {
  const id = await addProviderRow(db, org, provider)
  await db.insertInto('group_role').values({ org, provider: id, name, role: 'user' }).execute()
  return id
}
