import { element, type Element } from '@skerry/xml'

import { at } from '../addresses.ts'
import type { Asker } from '../http/asker.ts'
import { link, type Hrefs } from '../http/links.ts'
import { toldVersions } from '../http/version.ts'
import { may } from '../identity/authorize.ts'
import type { OrgRow, TemplateRow, VdcRow } from '../store/orgs.ts'

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

export const org = (
  { id, name }: OrgRow,
  vdcs: readonly VdcRow[],
  { dialect }: Asker,
  hrefs: Hrefs,
): Element =>
  element(
    'Org',
    { name, id: dialect.urn('org', id), type: dialect.media('org'), href: hrefs.org(id) },
    ...vdcs.map((vdc) =>
      link('down', hrefs.vdc(vdc.id), { type: dialect.media('vdc'), name: vdc.name }),
    ),
    element('FullName', {}, name),
  )

export function vdc(
  { id, name }: VdcRow,
  templates: readonly TemplateRow[],
  { dialect, who }: Asker,
  hrefs: Hrefs,
): Element {
  const href = hrefs.vdc(id)
  const type = dialect.media('instantiateVAppTemplateParams')
  return element(
    'Vdc',
    { name, id: dialect.urn('vdc', id), status: 1, type: dialect.media('vdc'), href },
    may(who, 'vm:edit') && link('add', `${href}/action/instantiateVAppTemplate`, { type }),
    element(
      'ResourceEntities',
      {},
      ...templates.map((each) =>
        element('ResourceEntity', {
          ...{ type: dialect.media('vAppTemplate'), name: each.name },
          href: hrefs.template(each.id),
        }),
      ),
    ),
  )
}

export const template = (
  { id, name, image }: TemplateRow,
  { dialect }: Asker,
  hrefs: Hrefs,
): Element =>
  element(
    'VAppTemplate',
    {
      ...{ name, id: dialect.urn('vapptemplate', id), status: 8 },
      ...{ type: dialect.media('vAppTemplate'), href: hrefs.template(id) },
    },
    element('Digest', { algorithm: 'sha256' }, image),
  )
