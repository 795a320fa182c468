import { Fault } from '@skerry/fault'
import type { Answer } from '@skerry/service'

import type { Caller } from '../auth/caller.ts'
import type { RequestContext } from '../context.ts'
import type { Tx } from '../database/tables.ts'
import { at } from '../dialect/addresses.ts'
import { controlAccess, type SharedDocument } from '../documents/control-access.ts'
import { hrefsIn, type Hrefs } from '../http/links.ts'
import type { Entity } from '../http/path-resources.ts'
import { readRoute, route } from '../http/route.ts'
import { lockVapp } from '../inventory/vapps.ts'
import { controlAccessParams } from '../params/sharing/control-access.ts'
import {
  readAccessList,
  writeAccessList,
  type AccessEntry,
  type SharedObject,
} from '../sharing/access-lists.ts'
import type { CatalogRow } from '../tenants/catalogs.ts'

const vappOf = (entity: Entity) => {
  if (entity.kind === 'vapp') return entity.vapp
  throw new Fault('invalid', 'vApps are shared, with all their VMs; VMs are not', {
    hint: 'send it to its vApp',
  })
}

const vappAs = (entity: Entity): SharedObject => ({ kind: 'vapp', ...vappOf(entity) })
const catalogAs = (catalog: CatalogRow): SharedObject => ({ kind: 'catalog', ...catalog })

const vappShown = (entity: Entity, hrefs: Hrefs): SharedDocument => {
  const { id, closed } = vappOf(entity)
  return { href: hrefs.vapp(id), media: 'vApp', closed }
}
const catalogShown = ({ id }: CatalogRow, hrefs: Hrefs): SharedDocument => ({
  href: hrefs.catalog(id),
  media: 'catalog',
  closed: false,
})

async function requireOpen(tx: Tx, entity: Entity): Promise<void> {
  const { id, name } = vappOf(entity)
  const vapp = await lockVapp(tx, id)
  if (!vapp || vapp.closed) throw new Fault('conflict', `vApp ${name} is being deleted`)
}

function answer(
  context: RequestContext,
  caller: Caller,
  entries: readonly AccessEntry[],
  shownAt: (hrefs: Hrefs) => SharedDocument,
): Answer {
  const hrefs = hrefsIn(context)
  return { status: 200, body: controlAccess(entries, shownAt(hrefs), caller, hrefs) }
}

const REPLACED =
  'No one gives, changes or takes away a level with more rights than they have there themselves. A share counts from the next request on.'

/** With whom a vApp or a catalog is shared. */
export const sharing = [
  readRoute({
    name: 'readVappAccess',
    path: at.vappAccess,
    permission: 'vm:read',
    answers: { 200: 'controlAccess' },
    doc: 'With whom a vApp is shared: users and groups of its organisation, or everyone in it, each with a level. Roles reach it besides.',
    read: (tx, { entity }) => readAccessList(tx, vappAs(entity)),
    show(context, caller, entries) {
      return answer(context, caller, entries, (hrefs) => vappShown(caller.params.entity, hrefs))
    },
  }),
  route({
    name: 'changeVappAccess',
    method: 'POST',
    path: at.changeVappAccess,
    permission: 'vm:edit',
    takes: controlAccessParams,
    answers: { 200: 'controlAccess' },
    doc: `Replaces the list of those with whom a vApp is shared: ReadOnly shows it, Change also starts, stops and shows its screens, FullControl also changes, deletes and shares it. ${REPLACED}`,
    async handle(context, caller) {
      const { principal, body, params } = caller
      const entries = await context.as(principal, async (tx) => {
        await requireOpen(tx, params.entity)
        return writeAccessList(tx, principal, vappAs(params.entity), body)
      })
      return answer(context, caller, entries, (hrefs) => vappShown(params.entity, hrefs))
    },
  }),
  readRoute({
    name: 'readCatalogAccess',
    path: at.catalogAccess,
    permission: 'org:read',
    answers: { 200: 'controlAccess' },
    doc: 'With whom a catalog is shared: users and groups of its organisation, or everyone in it, each with a level. Roles reach it besides.',
    read: (tx, { catalog }) => readAccessList(tx, catalogAs(catalog)),
    show(context, caller, entries) {
      return answer(context, caller, entries, (hrefs) => catalogShown(caller.params.catalog, hrefs))
    },
  }),
  route({
    name: 'changeCatalogAccess',
    method: 'POST',
    path: at.changeCatalogAccess,
    permission: 'vm:edit',
    takes: controlAccessParams,
    answers: { 200: 'controlAccess' },
    doc: `Replaces the list of those with whom a catalog is shared: ReadOnly shows it with its templates, Change also uploads to it, FullControl also shares it. ${REPLACED}`,
    async handle(context, caller) {
      const { principal, body, params } = caller
      const entries = await context.as(principal, (tx) =>
        writeAccessList(tx, principal, catalogAs(params.catalog), body),
      )
      return answer(context, caller, entries, (hrefs) => catalogShown(params.catalog, hrefs))
    },
  }),
]
