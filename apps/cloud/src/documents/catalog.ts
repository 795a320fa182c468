import { element, type Element } from '@skerry/xml'

import type { Asker } from '../http/asker.ts'
import { link, type Hrefs } from '../http/links.ts'
import { may } from '../identity/authorize.ts'
import type { CatalogItemRow, CatalogRow } from '../store/catalogs.ts'
import type { TemplateRow } from '../store/orgs.ts'

export const catalog = (
  { id, org, name, created_at }: CatalogRow,
  items: readonly CatalogItemRow[],
  { dialect, who }: Asker,
  hrefs: Hrefs,
): Element =>
  element(
    'Catalog',
    {
      ...{ name, id: dialect.urn('catalog', id) },
      ...{ type: dialect.media('catalog'), href: hrefs.catalog(id) },
    },
    link('up', hrefs.org(org), { type: dialect.media('org') }),
    may(who, 'vm:edit') &&
      link('add', `${hrefs.catalog(id)}/action/upload`, { type: dialect.media('uploadParams') }),
    element(
      'CatalogItems',
      {},
      ...items.map((each) =>
        element('CatalogItem', {
          ...{ type: dialect.media('catalogItem'), name: each.name },
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
  { dialect }: Asker,
  hrefs: Hrefs,
): Element =>
  element(
    'CatalogItem',
    {
      ...{ name, id: dialect.urn('catalogitem', id) },
      ...{ type: dialect.media('catalogItem'), href: hrefs.catalogItem(id) },
    },
    link('up', hrefs.catalog(of), { type: dialect.media('catalog') }),
    element('Entity', {
      ...{ type: dialect.media('vAppTemplate'), name: template.name },
      href: hrefs.template(template.id),
    }),
    element('DateCreated', {}, created_at.toISOString()),
  )
