import { element, type Element } from '@skerry/xml'

import { at } from '../addresses.ts'
import type { Asker } from '../http/asker.ts'
import { link, type Hrefs } from '../http/links.ts'
import { toldVersions } from '../http/version.ts'
import { may } from '../identity/authorize.ts'
import type { CatalogRow } from '../store/catalogs.ts'
import type { OrgRow, TemplateRow, VdcRow } from '../store/orgs.ts'
import type { VappRow } from '../store/vapps.ts'

export const supportedVersions = (hrefs: Hrefs): Element =>
  element(
    'SupportedVersions',
    {},
    ...toldVersions.map((version) =>
      element(
        'VersionInfo',
        {},
        element('Version', {}, version),
        element('LoginUrl', {}, hrefs.to(at.sessions)),
      ),
    ),
  )

export const orgList = (orgs: readonly OrgRow[], { dialect }: Asker, hrefs: Hrefs): Element =>
  element(
    'OrgList',
    { type: dialect.media('orgList'), href: hrefs.to(at.orgs) },
    ...orgs.map(({ id, name }) =>
      element('Org', { type: dialect.media('org'), name, href: hrefs.org(id) }),
    ),
  )

export function org(
  { id, name }: OrgRow,
  {
    vdcs,
    catalogs,
  }: { readonly vdcs: readonly VdcRow[]; readonly catalogs: readonly CatalogRow[] },
  asker: Asker,
  hrefs: Hrefs,
): Element {
  const { dialect, who } = asker
  return element(
    'Org',
    { name, id: dialect.urn('org', id), type: dialect.media('org'), href: hrefs.org(id) },
    ...vdcs.map((vdc) =>
      link('down', hrefs.vdc(vdc.id), { type: dialect.media('vdc'), name: vdc.name }),
    ),
    ...catalogs.map((each) =>
      link('down', hrefs.catalog(each.id), { type: dialect.media('catalog'), name: each.name }),
    ),
    link('down', hrefs.tasks(id), { type: dialect.media('tasksList') }),
    ...(who.org === id ? listLinks(asker, hrefs) : []),
    may(who, 'org:admin') &&
      link('alternate', hrefs.adminOrg(id), { type: dialect.media('admin.org') }),
    element('FullName', {}, name),
  )
}

/** The same lists as queries, which some clients would rather page through than take whole. */
const listLinks = ({ dialect }: Asker, hrefs: Hrefs): readonly Element[] =>
  ['orgVdc', 'catalog'].map((name) =>
    link('down', `${hrefs.to(at.query)}?type=${name}&format=records`, {
      ...{ type: dialect.media('query.records'), name },
    }),
  )

/** So many vApps, and so many templates, of a vdc are named in its document: as many as fit on the largest page of a query. */
export const ENTITIES_SHOWN = 128

interface Inside {
  readonly templates: readonly TemplateRow[]
  readonly vapps: {
    readonly first: readonly Pick<VappRow, 'id' | 'name'>[]
    readonly total: number
  }
}

/** Where all of them are, a page at a time: of another organisation only those who rule see any. */
function queryLinks(
  { id, org: of }: VdcRow,
  { dialect, who }: Asker,
  hrefs: Hrefs,
): readonly Element[] {
  const type = dialect.media('query.records')
  const own = who.org === of
  const vapps = own ? 'vApp' : 'adminVApp'
  const inside = new URLSearchParams({ type: vapps, filter: `vdc==${hrefs.vdc(id)}` })
  const to = (name: string, parameters: URLSearchParams) =>
    link('down', `${hrefs.to(at.query)}?${parameters.toString()}`, { type, name })
  return [
    to(vapps, inside),
    ...(own ? [to('vAppTemplate', new URLSearchParams({ type: 'vAppTemplate' }))] : []),
  ]
}

export function vdc(
  row: VdcRow,
  { templates, vapps }: Inside,
  asker: Asker,
  hrefs: Hrefs,
): Element {
  const { id, org: of, name, disabled } = row
  const { dialect, who } = asker
  const href = hrefs.vdc(id)
  const type = dialect.media('instantiateVAppTemplateParams')
  return element(
    'Vdc',
    { name, id: dialect.urn('vdc', id), status: 1, type: dialect.media('vdc'), href },
    link('up', hrefs.org(of), { type: dialect.media('org') }),
    ...(may(who, 'vm:edit') && !disabled
      ? [
          link('add', `${href}/action/instantiateVAppTemplate`, { type }),
          link('add', `${href}/action/composeVApp`, { type: dialect.media('composeVAppParams') }),
          link('add', `${href}/action/cloneVApp`, { type: dialect.media('cloneVAppParams') }),
        ]
      : []),
    ...queryLinks(row, asker, hrefs),
    element(
      'ResourceEntities',
      { total: templates.length + vapps.total },
      ...templates.slice(0, ENTITIES_SHOWN).map((each) =>
        element('ResourceEntity', {
          ...{ type: dialect.media('vAppTemplate'), name: each.name },
          href: hrefs.template(each.id),
        }),
      ),
      ...vapps.first.map((each) =>
        element('ResourceEntity', {
          ...{ type: dialect.media('vApp'), name: each.name, href: hrefs.vapp(each.id) },
        }),
      ),
    ),
    element('IsEnabled', {}, String(!disabled)),
  )
}
