import { element, type Element } from '@skerry/xml'

import type { Caller } from '../auth/caller.ts'
import { at } from '../dialect/addresses.ts'
import { advertisedVersions } from '../dialect/version.ts'
import { may } from '../domain/authorize.ts'
import { linksOf, networkOffer, unavailableOf, vdcOffers } from '../http/action-offers.ts'
import { link, type Hrefs } from '../http/links.ts'
import type { VappRow } from '../inventory/vapps.ts'
import type { CatalogRow } from '../tenants/catalogs.ts'
import type { NetworkRow } from '../tenants/network-rows.ts'
import type { OrgRow, TemplateRow, VdcRow } from '../tenants/orgs.ts'

export const supportedVersions = (hrefs: Hrefs): Element =>
  element(
    'SupportedVersions',
    {},
    ...advertisedVersions.map((version) =>
      element(
        'VersionInfo',
        {},
        element('Version', {}, version),
        element('LoginUrl', {}, hrefs.to(at.sessions)),
      ),
    ),
  )

export const orgList = (orgs: readonly OrgRow[], { dialect }: Caller, hrefs: Hrefs): Element =>
  element(
    'OrgList',
    { type: dialect.media('orgList'), href: hrefs.to(at.orgs) },
    ...orgs.map(({ id, name }) =>
      element('Org', { type: dialect.media('org'), name, href: hrefs.org(id) }),
    ),
  )

interface OrgContents {
  readonly vdcs: readonly VdcRow[]
  readonly catalogs: readonly CatalogRow[]
  readonly networks: readonly Pick<NetworkRow, 'id' | 'name'>[]
}

export function org(
  { id, name }: OrgRow,
  { vdcs, catalogs, networks }: OrgContents,
  caller: Caller,
  hrefs: Hrefs,
): Element {
  const { dialect, principal } = caller
  return element(
    'Org',
    { name, id: dialect.urn('org', id), type: dialect.media('org'), href: hrefs.org(id) },
    ...vdcs.map((vdc) =>
      link('down', hrefs.vdc(vdc.id), { type: dialect.media('vdc'), name: vdc.name }),
    ),
    ...catalogs.map((each) =>
      link('down', hrefs.catalog(each.id), { type: dialect.media('catalog'), name: each.name }),
    ),
    ...networks.map((each) =>
      link('down', hrefs.network(each.id), { type: dialect.media('orgNetwork'), name: each.name }),
    ),
    link('down', hrefs.tasks(id), { type: dialect.media('tasksList') }),
    ...(principal.org === id ? listLinks(caller, hrefs) : []),
    may(principal, 'org:admin') &&
      link('alternate', hrefs.adminOrg(id), { type: dialect.media('admin.org') }),
    element('FullName', {}, name),
  )
}

/** The same lists as queries, for clients that prefer pages. */
const listLinks = ({ dialect }: Caller, hrefs: Hrefs): readonly Element[] =>
  ['orgVdc', 'catalog'].map((name) =>
    link('down', `${hrefs.to(at.query)}?type=${name}&format=records`, {
      type: dialect.media('query.records'),
      name,
    }),
  )

/** The most vApps, and the most templates, that the document of a vdc lists: as many as the largest page of a query. */
export const ENTITIES_SHOWN = 128

interface VdcContents {
  readonly templates: readonly TemplateRow[]
  readonly vapps: {
    readonly first: readonly Pick<VappRow, 'id' | 'name'>[]
    readonly total: number
  }
  readonly networks: readonly Pick<NetworkRow, 'id' | 'name'>[]
  /** Whether networks can be made in it. */
  readonly zoneOpen: boolean
}

/** Queries for all of them, in pages. Only system administrators see those of another organisation. */
function queryLinks(
  { id, org: of }: VdcRow,
  { dialect, principal }: Caller,
  hrefs: Hrefs,
): readonly Element[] {
  const type = dialect.media('query.records')
  const own = principal.org === of
  const vapps = own ? 'vApp' : 'adminVApp'
  const inside = new URLSearchParams({ type: vapps, filter: `vdc==${hrefs.vdc(id)}` })
  const to = (name: string, parameters: URLSearchParams) =>
    link('down', `${hrefs.to(at.query)}?${parameters.toString()}`, { type, name })
  return [
    to(vapps, inside),
    ...(own ? [to('vAppTemplate', new URLSearchParams({ type: 'vAppTemplate' }))] : []),
  ]
}

function edgeGatewayLinks(
  { id }: VdcRow,
  { dialect, principal }: Caller,
  hrefs: Hrefs,
): readonly (Element | false)[] {
  const href = hrefs.edgeGateways(id)
  return [
    may(principal, 'network:read') &&
      link('edgeGateways', href, { type: dialect.media('query.records') }),
    may(principal, 'external:admin') &&
      link('add', href, { type: dialect.media('admin.edgeGateway') }),
  ]
}

export function vdc(
  row: VdcRow,
  { templates, vapps, networks, zoneOpen }: VdcContents,
  caller: Caller,
  hrefs: Hrefs,
): Element {
  const { id, org: of, name, disabled } = row
  const { dialect } = caller
  const href = hrefs.vdc(id)
  const offers = [
    ...vdcOffers(row, href, caller),
    ...(zoneOpen ? [networkOffer(row, hrefs.adminNetworks(id), caller)] : []),
  ]
  return element(
    'Vdc',
    { name, id: dialect.urn('vdc', id), status: 1, type: dialect.media('vdc'), href },
    link('up', hrefs.org(of), { type: dialect.media('org') }),
    ...linksOf(offers),
    ...queryLinks(row, caller, hrefs),
    ...(zoneOpen ? edgeGatewayLinks(row, caller, hrefs) : []),
    ...unavailableOf(offers, caller),
    element(
      'ResourceEntities',
      { total: templates.length + vapps.total },
      ...templates.slice(0, ENTITIES_SHOWN).map((each) =>
        element('ResourceEntity', {
          type: dialect.media('vAppTemplate'),
          name: each.name,
          href: hrefs.template(each.id),
        }),
      ),
      ...vapps.first.map((each) =>
        element('ResourceEntity', {
          type: dialect.media('vApp'),
          name: each.name,
          href: hrefs.vapp(each.id),
        }),
      ),
    ),
    networks.length > 0 &&
      element(
        'AvailableNetworks',
        {},
        ...networks.map((each) =>
          element('Network', {
            type: dialect.media('orgVdcNetwork'),
            name: each.name,
            href: hrefs.network(each.id),
          }),
        ),
      ),
    element('IsEnabled', {}, String(!disabled)),
  )
}
