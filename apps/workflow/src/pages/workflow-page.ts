import { element } from '@skerry/xml'

import { may, type WorkflowPrincipal } from '../identity/rights.ts'
import type { ExecutionRow } from '../store/executions.ts'
import type { FoundWorkflow, VersionRow } from '../store/workflows.ts'
import { formOf } from './form.ts'
import { breadcrumbs, drawing, renderPage } from './html.ts'
import { runsTable, workflowPath } from './list-page.ts'

export interface WorkflowPageData {
  readonly principal: WorkflowPrincipal
  readonly workflow: FoundWorkflow
  readonly version: VersionRow
  readonly runs: readonly ExecutionRow[]
}

/** Shows the description of a workflow, a form to start it, and its runs. */
export function workflowPage({ principal, workflow, version, runs }: WorkflowPageData): string {
  const { id, name, description, path } = workflow
  const action = `${workflowPath(id)}/runs`
  return renderPage(
    { title: name, user: `${principal.user}@${principal.orgName}` },
    breadcrumbs({ name: 'Workflows', href: '/' }),
    element('h1', {}, name),
    element(
      'p',
      { class: 'quiet' },
      `${path} · version ${workflow.version} · `,
      element('a', { href: `/api/workflows/${id}/content`, type: 'application/xml' }, 'Definition'),
    ),
    description !== '' && element('p', { class: 'prose' }, description),
    may(principal, 'workflow:run') &&
      element(
        'section',
        { class: 'panel', 'aria-labelledby': 'start-title' },
        element('h2', { id: 'start-title' }, 'Start a run'),
        formOf(version.form, { action, button: 'Start', id: 'start' }),
      ),
    element('h2', {}, 'Steps'),
    drawing(`/api/workflows/${id}/schema`, name),
    element('h2', {}, 'Runs'),
    runs.length === 0
      ? element('p', { class: 'quiet' }, 'No runs yet.')
      : runsTable('Newest first', runs),
  )
}
