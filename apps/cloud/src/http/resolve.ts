import { UUID, type OrgId } from '@skerry/vm'
import type { Kysely } from 'kysely'

import type { CloudTables } from '../database/tables.ts'
import { findVapp } from '../inventory/vapps.ts'
import { findVm } from '../inventory/vms.ts'
import { findTask } from '../tasks/find-task.ts'
import { findCatalog, findCatalogItem } from '../tenants/catalogs.ts'
import { findEdgeGateway } from '../tenants/edge-gateways.ts'
import { findNetwork } from '../tenants/network-rows.ts'
import { findOrg, findTemplate, findVdc } from '../tenants/orgs.ts'
import { findSecurityGroup } from '../tenants/security-groups.ts'

type Find = (db: Kysely<CloudTables>, id: string) => Promise<{ readonly org: OrgId } | undefined>

const finders = {
  vm: findVm,
  vapp: findVapp,
  task: findTask,
  async org(db, id) {
    const found = await findOrg(db, id)
    return found && { org: found.id }
  },
  vdc: findVdc,
  network: findNetwork,
  gateway: findEdgeGateway,
  securitygroup: findSecurityGroup,
  catalog: findCatalog,
  catalogitem: findCatalogItem,
  vapptemplate: findTemplate,
} as const satisfies Record<string, Find>

export interface Resolved {
  readonly org: OrgId
  readonly kind: keyof typeof finders
  readonly id: string
}

const URN = new RegExp(`^urn:[^:]+:([A-Za-z]+):(${UUID})$`)
const PREFIXED = new RegExp(`^(vm|vapp|vappTemplate)-(${UUID})$`)

/** Accepts both forms of ids and hrefs: 'urn:…:vm:UUID' in any dialect, and 'vm-UUID'. */
export async function resolve(
  db: Kysely<CloudTables>,
  text: string,
): Promise<Resolved | undefined> {
  const [, word = '', id = ''] = URN.exec(text) ?? PREFIXED.exec(text) ?? []
  const kind = word.toLowerCase()
  if (!isKind(kind)) return undefined
  const find: Find = finders[kind]
  const found = await find(db, id)
  return found && { org: found.org, kind, id }
}

const isKind = (word: string): word is Resolved['kind'] => Object.hasOwn(finders, word)
