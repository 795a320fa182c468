import { element, type Element } from '@skerry/xml'

import type { Caller } from '../auth/caller.ts'
import { may } from '../domain/authorize.ts'
import { link, type Hrefs } from '../http/links.ts'
import type { CatalogItemRow, CatalogRow } from '../tenants/catalogs.ts'
import type { TemplateRow } from '../tenants/orgs.ts'

export const catalog = (
  { id, org, name, created_at }: CatalogRow,
  items: readonly CatalogItemRow[],
  { dialect, principal }: Caller,
  hrefs: Hrefs,
): Element =>
  element(
    'Catalog',
    {
      name,
      id: dialect.urn('catalog', id),
      type: dialect.media('catalog'),
      href: hrefs.catalog(id),
    },
    link('up', hrefs.org(org), { type: dialect.media('org') }),
    may(principal, 'vm:edit') &&
      link('add', `${hrefs.catalog(id)}/action/upload`, { type: dialect.media('uploadParams') }),
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
