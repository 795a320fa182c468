import type { Hrefs } from '../addresses.ts'
import { may, type Who } from '../identity/rights.ts'
import type { CategoryRow } from '../store/categories.ts'
import type { ListedWorkflow } from '../store/list-workflows.ts'
import { field, repeated, thing, type Document } from './document.ts'
import { link, relations, type Link } from './link.ts'

const TYPE = 'WorkflowCategory'

const attributesOf = ({ id, name, description, path }: CategoryRow) => ({
  ...{ id, name, description, type: TYPE, path, categoryType: TYPE },
})

export const categoryLink = (row: CategoryRow, hrefs: Hrefs): Link => ({
  ...{ rel: 'down', href: hrefs.category(row.id), attributes: attributesOf(row) },
})

export const categoriesDocument = (rows: readonly CategoryRow[], hrefs: Hrefs): Document =>
  repeated(
    'inventory-items',
    { total: rows.length },
    'link',
    rows.map((row) => link(categoryLink(row, hrefs))),
  )

export const categoryDocument = (
  row: CategoryRow,
  inside: Readonly<{ categories: readonly CategoryRow[]; workflows: readonly ListedWorkflow[] }>,
  { who, hrefs }: Readonly<{ who: Who; hrefs: Hrefs }>,
): Document => {
  const { id, name, description, path, parent } = row
  const href = hrefs.category(id)
  return thing(
    'category',
    { href },
    relations([
      ...(parent === null ? [] : [{ rel: 'up', href: hrefs.category(parent) }]),
      ...(may(who, 'workflow:edit') ? [{ rel: 'remove', href }] : []),
      ...inside.categories.map((each) => categoryLink(each, hrefs)),
      ...inside.workflows.map((each) => ({
        ...{ rel: 'down', href: hrefs.workflow(each.id) },
        attributes: { id: each.id, name: each.name, type: 'Workflow', version: each.version },
      })),
    ]),
    field('id', id),
    field('name', name),
    field('description', description),
    field('path', path),
    field('type', TYPE),
  )
}
