import { at, type Hrefs } from '../addresses.ts'
import { may, permissions, rights, type Who } from '../identity/rights.ts'
import type { FoundWorkflow, VersionRow } from '../store/workflows.ts'
import { field, list, repeated, thing, time, type Document } from './document.ts'
import { relations, type Link } from './link.ts'
import { asked } from './parameters.ts'

/** What it gives back, as far as its author has said. */
const outputOf = ({ document }: VersionRow) => {
  const { output } = document as { output?: { schema?: { document?: Record<string, unknown> } } }
  return output?.schema?.document
}

export function workflowDocument(
  workflow: FoundWorkflow,
  version: VersionRow,
  { who, hrefs }: Readonly<{ who: Who; hrefs: Hrefs }>,
): Document {
  const { id, name, description, category, path, tags } = workflow
  const href = hrefs.workflow(id)
  const below = (rel: string, where: string): Link => ({ rel, href: hrefs.below(id, where) })
  const links: Link[] = [
    { rel: 'up', href: hrefs.category(category) },
    ...(may(who, 'workflow:run') ? [below('add', 'executions')] : []),
    ...(may(who, 'workflow:edit') ? [{ rel: 'remove', href }] : []),
    ...['executions', 'presentation', 'tasks', 'schema', 'content'].map((at) => below('down', at)),
    ...['versions', 'permissions', 'interactions'].map((at) => below('down', at)),
  ]
  return thing(
    'workflow',
    { href, 'customized-icon': false },
    relations(links),
    field('id', id),
    asked('input-parameters', version.form),
    asked('output-parameters', outputOf(version)),
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
      tags.map((tag) => thing('tag', { name: tag })),
    ),
  )
}

export const versionsDocument = (
  workflow: FoundWorkflow,
  versions: readonly Pick<VersionRow, 'version' | 'digest' | 'made_by' | 'made_at'>[],
): Document =>
  repeated(
    'versions',
    {},
    'version',
    versions.map(({ version, digest, made_by: by, made_at: made }) =>
      thing(
        'version',
        { name: version, current: digest === workflow.digest },
        field('digest', digest),
        field('made-by', by),
        field('made-at', time(made)),
      ),
    ),
  )

/** Which roles of the cloud may do what here. */
export const permissionsDocument = (workflow: FoundWorkflow, hrefs: Hrefs): Document =>
  repeated(
    'permissions',
    { href: hrefs.below(workflow.id, 'permissions') },
    'permission',
    Object.entries(rights).map(([principal, allowed]) => {
      const has: readonly string[] = allowed
      const told = permissions.filter((each) => has.includes(each))
      return thing(
        'permission',
        {},
        field('principal', principal),
        field('rights', told.map((each) => each.replace('workflow:', '')).join(' ')),
      )
    }),
  )

export const catalogDocument = (
  workflow: FoundWorkflow,
  { who, hrefs }: Readonly<{ who: Who; hrefs: Hrefs }>,
): Document => {
  const href = `${hrefs.to(at.catalog)}/${workflow.id}/`
  const attributes = {
    ...{ id: workflow.id, name: workflow.name, description: workflow.description },
    ...{ version: workflow.version, type: 'Workflow', canExecute: may(who, 'workflow:run') },
    categoryName: workflow.category_name,
  }
  return thing('catalog-item', { href }, relations([{ rel: 'self', href, attributes }]))
}
