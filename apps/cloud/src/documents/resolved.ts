import { element, type Element } from '@skerry/xml'

import { at } from '../addresses.ts'
import type { Asker } from '../http/asker.ts'
import { link, type Hrefs } from '../http/links.ts'
import type { Resolved } from '../store/resolve.ts'

const media = {
  vm: 'vm',
  vapp: 'vApp',
  task: 'task',
  org: 'org',
  vdc: 'vdc',
  catalog: 'catalog',
  catalogitem: 'catalogItem',
  vapptemplate: 'vAppTemplate',
} as const satisfies Record<Resolved['kind'], string>

/** What an id stands for, and where its document is. */
export function resolved({ kind, id }: Resolved, { dialect }: Asker, hrefs: Hrefs): Element {
  const urn = dialect.urn(kind, id)
  const href = {
    ...{ vm: hrefs.vm, vapp: hrefs.vapp, task: hrefs.task, org: hrefs.org, vdc: hrefs.vdc },
    ...{ catalog: hrefs.catalog, catalogitem: hrefs.catalogItem, vapptemplate: hrefs.template },
  }[kind](id)
  return element(
    'Entity',
    { name: urn, id: urn, type: dialect.media('entity'), href: hrefs.resolved(urn) },
    link('alternate', href, { type: dialect.media(media[kind]) }),
  )
}

/** Where ids are resolved: the address that clients put an id behind. */
export const resolver = ({ dialect }: Asker, hrefs: Hrefs): Element =>
  element(
    'Entity',
    { name: 'entityResolver', type: dialect.media('entity'), href: `${hrefs.to(at.resolver)}/` },
    element(
      'Description',
      {},
      'Put an id behind this address: a URN, or the last part of an href.',
    ),
  )
