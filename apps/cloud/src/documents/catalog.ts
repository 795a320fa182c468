import { element, type Element } from '@skerry/xml'

import type { Caller } from '../auth/caller.ts'
import { linksOf, sharingOffer, unavailableOf, uploadOffer } from '../http/action-offers.ts'
import { link, type Hrefs } from '../http/links.ts'
import type { CatalogItemRow, CatalogRow } from '../tenants/catalogs.ts'
import type { TemplateRow } from '../tenants/orgs.ts'

export function catalog(
  { id, org, name, created_at }: CatalogRow,
  items: readonly CatalogItemRow[],
  caller: Caller,
  hrefs: Hrefs,
): Element {
  const { dialect } = caller
  const href = hrefs.catalog(id)
  const offers = [uploadOffer(href, caller), sharingOffer({ closed: false }, href, caller)]
  return element(
    'Catalog',
    { name, id: dialect.urn('catalog', id), type: dialect.media('catalog'), href },
    link('up', hrefs.org(org), { type: dialect.media('org') }),
    ...linksOf(offers),
    link('controlAccess', `${href}/controlAccess`),
    ...unavailableOf(offers, caller),
    element(
      'CatalogItems',
      {},
      ...items.map((each) =>
        element('CatalogItem', {
          type: dialect.media('catalogItem'),
          name: each.name,
          href: hrefs.catalogItem(each.id),
        }),
      ),
    ),
    element('IsPublished', {}, 'false'),
    element('DateCreated', {}, created_at.toISOString()),
  )
}

export const catalogItem = (
  { id, name, catalog: of, created_at }: CatalogItemRow,
  template: TemplateRow,
  { dialect }: Caller,
  hrefs: Hrefs,
): Element =>
  element(
    'CatalogItem',
    {
      name,
      id: dialect.urn('catalogitem', id),
      type: dialect.media('catalogItem'),
      href: hrefs.catalogItem(id),
    },
    link('up', hrefs.catalog(of), { type: dialect.media('catalog') }),
    element('Entity', {
      type: dialect.media('vAppTemplate'),
      name: template.name,
      href: hrefs.template(template.id),
    }),
    element('DateCreated', {}, created_at.toISOString()),
  )
