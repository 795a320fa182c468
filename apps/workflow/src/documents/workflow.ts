import { may, permissions, rights, type WorkflowPrincipal } from '../identity/rights.ts'
import type { FoundWorkflow, VersionRow } from '../store/workflows.ts'
import { at, type WorkflowHrefs } from './addresses.ts'
import { field, list, listDocument, resource, time, type Document } from './document.ts'
import { relations, type DocumentLink } from './link.ts'
import { declaredParameters } from './parameters.ts'

/** The output schema, if the author declared one. */
const outputOf = ({ document }: VersionRow) => {
  const { output } = document as { output?: { schema?: { document?: Record<string, unknown> } } }
  return output?.schema?.document
}

export function workflowDocument(
  workflow: FoundWorkflow,
  version: VersionRow,
  { principal, hrefs }: Readonly<{ principal: WorkflowPrincipal; hrefs: WorkflowHrefs }>,
): Document {
  const { id, name, description, category, path, tags } = workflow
  const href = hrefs.workflow(id)
  const below = (rel: string, where: string): DocumentLink => ({
    rel,
    href: hrefs.below(id, where),
  })
  const links: DocumentLink[] = [
    { rel: 'up', href: hrefs.category(category) },
    ...(may(principal, 'workflow:run') ? [below('add', 'executions')] : []),
    ...(may(principal, 'workflow:edit') ? [{ rel: 'remove', href }] : []),
    ...['executions', 'presentation', 'tasks', 'schema', 'content'].map((at) => below('down', at)),
    ...['versions', 'permissions', 'interactions'].map((at) => below('down', at)),
  ]
  return resource(
    'workflow',
    { href, 'customized-icon': false },
    relations(links),
    field('id', id),
    declaredParameters('input-parameters', version.form),
    declaredParameters('output-parameters', outputOf(version)),
    field('name', name),
    field('description', description),
    field('version', workflow.version),
    field('category', path),
    field('owner', workflow.owner_name),
    field('organization', workflow.org_name),
    field('digest', workflow.digest),
    field('changed-at', time(workflow.changed_at)),
    list(
      'tags',
      tags.map((tag) => resource('tag', { name: tag })),
    ),
  )
}

export const versionsDocument = (
  workflow: FoundWorkflow,
  versions: readonly Pick<VersionRow, 'version' | 'digest' | 'made_by' | 'made_at'>[],
): Document =>
  listDocument(
    'versions',
    {},
    'version',
    versions.map(({ version, digest, made_by: by, made_at: made }) =>
      resource(
        'version',
        { name: version, current: digest === workflow.digest },
        field('digest', digest),
        field('made-by', by),
        field('made-at', time(made)),
      ),
    ),
  )

/** The rights of each role of the cloud. */
export const permissionsDocument = (workflow: FoundWorkflow, hrefs: WorkflowHrefs): Document =>
  listDocument(
    'permissions',
    { href: hrefs.below(workflow.id, 'permissions') },
    'permission',
    Object.entries(rights).map(([principal, allowed]) => {
      const has: readonly string[] = allowed
      const names = permissions.filter((each) => has.includes(each))
      return resource(
        'permission',
        {},
        field('principal', principal),
        field('rights', names.map((each) => each.replace('workflow:', '')).join(' ')),
      )
    }),
  )

export const catalogDocument = (
  workflow: FoundWorkflow,
  { principal, hrefs }: Readonly<{ principal: WorkflowPrincipal; hrefs: WorkflowHrefs }>,
): Document => {
  const href = `${hrefs.to(at.catalog)}/${workflow.id}/`
  const attributes = {
    id: workflow.id,
    name: workflow.name,
    description: workflow.description,
    version: workflow.version,
    type: 'Workflow',
    canExecute: may(principal, 'workflow:run'),
    categoryName: workflow.category_name,
  }
  return resource('catalog-item', { href }, relations([{ rel: 'self', href, attributes }]))
}
