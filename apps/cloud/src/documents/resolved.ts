import { element, type Element } from '@skerry/xml'

import type { Caller } from '../auth/caller.ts'
import { at } from '../dialect/addresses.ts'
import { link, type Hrefs } from '../http/links.ts'
import type { Resolved } from '../http/resolve.ts'

const media = {
  vm: 'vm',
  vapp: 'vApp',
  task: 'task',
  org: 'org',
  vdc: 'vdc',
  network: 'orgVdcNetwork',
  gateway: 'admin.edgeGateway',
  securitygroup: 'admin.securityGroup',
  catalog: 'catalog',
  catalogitem: 'catalogItem',
  vapptemplate: 'vAppTemplate',
} as const satisfies Record<Resolved['kind'], string>

/** The resource of an id, and the address of its document. */
export function resolved({ kind, id }: Resolved, { dialect }: Caller, hrefs: Hrefs): Element {
  const urn = dialect.urn(kind, id)
  const href = {
    vm: hrefs.vm,
    vapp: hrefs.vapp,
    task: hrefs.task,
    org: hrefs.org,
    vdc: hrefs.vdc,
    network: hrefs.network,
    gateway: hrefs.edgeGateway,
    securitygroup: hrefs.securityGroup,
    catalog: hrefs.catalog,
    catalogitem: hrefs.catalogItem,
    vapptemplate: hrefs.template,
  }[kind](id)
  return element(
    'Entity',
    { name: urn, id: urn, type: dialect.media('entity'), href: hrefs.resolved(urn) },
    link('alternate', href, { type: dialect.media(media[kind]) }),
  )
}

/** The entity resolver: the address that clients append an id to. */
export const resolver = ({ dialect }: Caller, hrefs: Hrefs): Element =>
  element(
    'Entity',
    { name: 'entityResolver', type: dialect.media('entity'), href: `${hrefs.to(at.resolver)}/` },
    element('Description', {}, 'Append an id to this address: a URN, or the last part of an href.'),
  )
