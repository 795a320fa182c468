import { element, type Child, type Element } from '@skerry/xml'

import type { ExecutionRow } from '../store/executions.ts'
import type { InteractionRow } from '../store/interactions.ts'
import type { ListedWorkflow } from '../store/list-workflows.ts'
import { renderPage, timeElement } from './html.ts'
import { table } from './table.ts'

export const workflowPath = (id: string): string => `/workflows/${encodeURIComponent(id)}`
export const runPath = ({ workflow, id }: Pick<ExecutionRow, 'workflow' | 'id'>): string =>
  `${workflowPath(workflow)}/runs/${id}`

export const stateMark = (state: string, id?: string): Element =>
  element('span', { id, class: `state state-${state}` }, state)

export const runsTable = (caption: string, runs: readonly ExecutionRow[]): Element =>
  table({
    caption,
    columns: ['Run', 'State', 'Step', 'Started by', 'Started', 'Ended'],
    rows: runs.map((run) => ({
      cells: [
        element('a', { href: runPath(run) }, run.name),
        stateMark(run.state),
        run.step_name ?? '',
        run.account_name,
        timeElement(run.started_at),
        timeElement(run.ended_at),
      ],
    })),
  })

export interface ListPageData {
  readonly user: string
  readonly search: string
  readonly page: number
  readonly more: boolean
  readonly total: number
  readonly workflows: readonly ListedWorkflow[]
  readonly runs: readonly ExecutionRow[]
  readonly waiting: readonly InteractionRow[]
}

export function listPage(shown: ListPageData): string {
  const { user, search, workflows, runs, waiting } = shown
  return renderPage(
    { title: 'Workflows', user },
    element('h1', {}, 'Workflows'),
    ...waitingFor(waiting),
    searchForm(search),
    workflows.length === 0 ? emptyList(search) : workflowsTable(shown),
    pagesOf(shown),
    element('h2', {}, 'Runs'),
    runs.length === 0
      ? element('p', { class: 'quiet' }, 'No runs yet.')
      : runsTable('Latest runs', runs),
  )
}

const workflowsTable = ({ total, workflows }: ListPageData): Element =>
  table({
    caption: total === 1 ? '1 workflow' : `${total} workflows`,
    columns: ['Name', 'Folder', 'Version', 'Description'],
    rows: workflows.map((row) => ({
      cells: [
        element('a', { href: workflowPath(row.id) }, row.name),
        row.category_name,
        row.version,
        row.description !== '' && element('span', { class: 'short' }, row.description),
      ],
    })),
  })

const emptyList = (search: string): Element =>
  element(
    'p',
    { class: 'panel' },
    search === ''
      ? 'No workflows yet. Import one with '
      : `No workflow name contains “${search}”. `,
    search === ''
      ? element('code', {}, 'skerry workflow import FILE')
      : element('a', { href: '/' }, 'Show all'),
    search === '' ? '.' : undefined,
  )

const searchForm = (search: string): Element =>
  element(
    'form',
    { class: 'search', method: 'get', action: '/', role: 'search' },
    element('input', {
      type: 'search',
      name: 'q',
      value: search,
      'aria-label': 'Part of the name',
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
      element('span', { class: 'quiet' }, ` ${each.name}`),
    ),
  )
  return [
    element(
      'section',
      { class: 'panel waits', 'aria-labelledby': 'waits-title' },
      element('h2', { id: 'waits-title' }, 'Waiting for an answer'),
      element('ul', {}, ...links),
    ),
  ]
}

function pagesOf({ page, more, search }: ListPageData): Element | undefined {
  if (page === 1 && !more) return undefined
  const to = (number: number) => `/?q=${encodeURIComponent(search)}&page=${number}`
  return element(
    'nav',
    { class: 'pages', 'aria-label': 'Pages' },
    page > 1 && element('a', { href: to(page - 1), rel: 'prev' }, 'Previous'),
    more && element('a', { href: to(page + 1), rel: 'next' }, 'Next'),
  )
}
