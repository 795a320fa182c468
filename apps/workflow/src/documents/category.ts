import { may, type WorkflowPrincipal } from '../identity/rights.ts'
import type { CategoryRow } from '../store/categories.ts'
import type { ListedWorkflow } from '../store/list-workflows.ts'
import type { WorkflowHrefs } from './addresses.ts'
import { field, listDocument, resource, type Document } from './document.ts'
import { link, relations, type DocumentLink } from './link.ts'

const TYPE = 'WorkflowCategory'

const attributesOf = ({ id, name, description, path }: CategoryRow) => ({
  id,
  name,
  description,
  type: TYPE,
  path,
  categoryType: TYPE,
})

export const categoryLink = (row: CategoryRow, hrefs: WorkflowHrefs): DocumentLink => ({
  rel: 'down',
  href: hrefs.category(row.id),
  attributes: attributesOf(row),
})

export const categoriesDocument = (rows: readonly CategoryRow[], hrefs: WorkflowHrefs): Document =>
  listDocument(
    'inventory-items',
    { total: rows.length },
    'link',
    rows.map((row) => link(categoryLink(row, hrefs))),
  )

export const categoryDocument = (
  row: CategoryRow,
  inside: Readonly<{ categories: readonly CategoryRow[]; workflows: readonly ListedWorkflow[] }>,
  { principal, hrefs }: Readonly<{ principal: WorkflowPrincipal; hrefs: WorkflowHrefs }>,
): Document => {
  const { id, name, description, path, parent } = row
  const href = hrefs.category(id)
  return resource(
    'category',
    { href },
    relations([
      ...(parent === null ? [] : [{ rel: 'up', href: hrefs.category(parent) }]),
      ...(may(principal, 'workflow:edit') ? [{ rel: 'remove', href }] : []),
      ...inside.categories.map((each) => categoryLink(each, hrefs)),
      ...inside.workflows.map((each) => ({
        rel: 'down',
        href: hrefs.workflow(each.id),
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
