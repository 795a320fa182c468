import { element, type Child, type Element } from '@skerry/xml'

import type { ExecutionRow } from '../store/executions.ts'
import type { InteractionRow } from '../store/interactions.ts'
import type { ListedWorkflow } from '../store/list-workflows.ts'
import { renderPage, table, when } from './html.ts'

export const workflowPath = (id: string): string => `/workflows/${encodeURIComponent(id)}`
export const runPath = ({ workflow, id }: Pick<ExecutionRow, 'workflow' | 'id'>): string =>
  `${workflowPath(workflow)}/runs/${id}`

export const stateMark = (state: string, id?: string): Element =>
  element('span', { id, class: `state state-${state}` }, state)

export const runsTable = (caption: string, runs: readonly ExecutionRow[]): Element =>
  table(
    caption,
    ['Run', 'State', 'Step', 'Started by', 'Started', 'Ended'],
    runs.map((run) => [
      element('a', { href: runPath(run) }, run.name),
      stateMark(run.state),
      run.step_name ?? '',
      run.account_name,
      when(run.started_at),
      when(run.ended_at),
    ]),
  )

export interface ListShown {
  readonly user: string
  readonly search: string
  readonly page: number
  readonly more: boolean
  readonly total: number
  readonly workflows: readonly ListedWorkflow[]
  readonly runs: readonly ExecutionRow[]
  readonly waiting: readonly InteractionRow[]
}

export function listPage(shown: ListShown): string {
  const { user, search, workflows, runs, waiting } = shown
  return renderPage(
    { title: 'Workflows', user },
    element('h1', {}, 'Workflows'),
    ...waitingFor(waiting),
    searchForm(search),
    table(
      `${shown.total} workflows`,
      ['Name', 'Folder', 'Version', 'Description'],
      workflows.map((row) => [
        element('a', { href: workflowPath(row.id) }, row.name),
        row.category_name,
        row.version,
        row.description,
      ]),
    ),
    pagesOf(shown),
    element('h2', {}, 'Runs'),
    runs.length === 0
      ? element('p', { class: 'quiet' }, 'Nothing has been run yet.')
      : runsTable('The latest', runs),
  )
}

const searchForm = (search: string): Element =>
  element(
    'form',
    { class: 'search', method: 'get', action: '/', role: 'search' },
    element('input', {
      ...{ type: 'search', name: 'q', value: search, 'aria-label': 'Part of the name' },
      placeholder: 'Part of the name',
    }),
    element('button', { type: 'submit' }, 'Search'),
  )

function waitingFor(waiting: readonly InteractionRow[]): readonly Child[] {
  if (waiting.length === 0) return []
  const links = waiting.map((each) =>
    element(
      'li',
      {},
      element('a', { href: runPath({ workflow: each.workflow, id: each.execution }) }, each.title),
      ` (${each.name})`,
    ),
  )
  return [
    element(
      'section',
      { class: 'panel', 'aria-label': 'Waiting for an answer' },
      element('strong', {}, 'Waiting for an answer'),
      element('ul', {}, ...links),
    ),
  ]
}

function pagesOf({ page, more, search }: ListShown): Element | undefined {
  if (page === 1 && !more) return undefined
  const to = (number: number) => `/?q=${encodeURIComponent(search)}&page=${number}`
  return element(
    'nav',
    { class: 'pages', 'aria-label': 'Pages' },
    page > 1 && element('a', { href: to(page - 1), rel: 'prev' }, 'Earlier'),
    more && element('a', { href: to(page + 1), rel: 'next' }, 'Later'),
  )
}
