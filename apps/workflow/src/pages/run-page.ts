import { element, type Child, type Element } from '@skerry/xml'

import { exceptionOf } from '../documents/execution.ts'
import { may, type WorkflowPrincipal } from '../identity/rights.ts'
import { hasEnded, type ExecutionRow } from '../store/executions.ts'
import { mayAnswer, type InteractionRow } from '../store/interactions.ts'
import type { LogRow } from '../store/logs.ts'
import { formOf } from './form.ts'
import { breadcrumbs, drawing, renderPage, timeElement } from './html.ts'
import { runPath, stateMark, workflowPath } from './list-page.ts'
import { table, type Row } from './table.ts'

export interface RunPageData {
  readonly principal: WorkflowPrincipal
  readonly run: ExecutionRow
  readonly logs: readonly LogRow[]
  readonly requested: InteractionRow | undefined
}

export function runPage({ principal, run, logs, requested }: RunPageData): string {
  const { id, workflow, name, error } = run
  const api = `/api/workflows/${workflow}/executions/${id}`
  const over = hasEnded(run)
  const events = over
    ? {}
    : {
        'data-events': `${api}/events`,
        'data-seen': logs.at(-1)?.seq ?? 0,
        'data-asked': requested?.id ?? '',
      }
  return renderPage(
    { title: `${name}: ${run.state}`, user: `${principal.user}@${principal.orgName}`, live: !over },
    element(
      'div',
      events,
      breadcrumbs({ name: 'Workflows', href: '/' }, { name, href: workflowPath(workflow) }),
      element(
        'div',
        { class: 'head' },
        element('h1', {}, `Run of ${name}`),
        element('p', { role: 'status' }, stateMark(run.state, 'state')),
        over || !mayEnd(principal, run) ? undefined : cancelForm(run),
      ),
      runFacts(run),
      error === null ? undefined : element('p', { class: 'panel wrong' }, exceptionOf(error)),
      ...(requested && may(principal, 'workflow:run')
        ? [interactionForm(principal, run, requested)]
        : []),
    ),
    element('h2', {}, 'Steps'),
    drawing(`${api}/schema?n=${run.number}`, name),
    element(
      'div',
      { class: 'values' },
      values('Inputs', run.input),
      run.output === null ? undefined : values('Outputs', run.output),
    ),
    element('h2', {}, 'Log'),
    table({
      caption: 'Oldest first',
      columns: ['Time', 'Event', 'Details'],
      id: 'log',
      rows: logs.map(logRow),
    }),
  )
}

const mayEnd = (principal: WorkflowPrincipal, { account }: ExecutionRow): boolean =>
  may(principal, 'workflow:admin') ||
  (may(principal, 'workflow:run') && principal.account === account)

const logRow = (row: LogRow): Row => ({
  kind: `log-${row.severity}`,
  cells: [timeElement(row.at), row.summary, row.detail],
})

function runFacts(run: ExecutionRow): Element {
  const pair = (name: string, ...value: readonly Child[]): Element =>
    element('div', {}, element('dt', {}, name), element('dd', {}, ...value))
  return element(
    'dl',
    {},
    pair('Step', element('span', { id: 'step' }, run.step_name ?? '')),
    pair('Started by', run.account_name),
    pair('Started', timeElement(run.started_at)),
    ...(run.ended_at === null ? [] : [pair('Ended', timeElement(run.ended_at))]),
    pair('Version', run.version),
  )
}

const interactionForm = (
  principal: WorkflowPrincipal,
  run: ExecutionRow,
  requested: InteractionRow,
): Element => {
  const { title, text, form, id } = requested
  return element(
    'section',
    { class: 'panel waits', 'aria-labelledby': 'ask-title' },
    element('h2', { id: 'ask-title' }, title),
    text === '' ? undefined : element('p', {}, text),
    mayAnswer(principal, requested, run)
      ? formOf(form, {
          action: `${runPath(run)}/answer?id=${encodeURIComponent(id)}`,
          button: 'Answer',
          id: 'answer',
        })
      : element('p', {}, 'Another user must answer this: the run acts on your behalf.'),
  )
}

const cancelForm = (run: ExecutionRow): Element =>
  element(
    'form',
    { method: 'post', action: `${runPath(run)}/cancel` },
    run.cancel
      ? element('p', { class: 'quiet' }, 'The run is being canceled.')
      : element('button', { type: 'submit', class: 'second' }, 'Cancel the run'),
  )

const values = (name: string, value: unknown): Element =>
  element(
    'section',
    {},
    element('h2', {}, name),
    element('pre', { tabindex: 0 }, JSON.stringify(value, undefined, 2)),
  )
