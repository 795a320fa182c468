import type { RunError, RunValues } from '../store/database.ts'
import { hasEnded, type ExecutionRow } from '../store/executions.ts'
import type { LogRow } from '../store/logs.ts'
import type { WorkflowHrefs } from './addresses.ts'
import { field, listDocument, resource, time, type Document } from './document.ts'
import { relations, type DocumentLink } from './link.ts'
import { parameterValues } from './parameters.ts'

export function executionDocument(
  row: ExecutionRow,
  form: RunValues | null,
  hrefs: WorkflowHrefs,
): Document {
  const { id, workflow, name, state, error } = row
  const href = hrefs.execution(workflow, id)
  const links: DocumentLink[] = [
    { rel: 'up', href: hrefs.workflow(workflow) },
    ...['state', 'logs', 'syslogs', 'interaction', 'schema', 'events'].map((at) => ({
      rel: 'down',
      href: `${href}${at}/`,
    })),
    ...(hasEnded(row) ? [{ rel: 'remove', href }] : [{ rel: 'cancel', href: `${href}state/` }]),
  ]
  return resource(
    'workflow-execution',
    { href },
    relations(links),
    field('id', id),
    field('state', state),
    parameterValues('input-parameters', form, row.input),
    parameterValues('output-parameters', null, row.output),
    field('start-date', time(row.started_at)),
    field('end-date', time(row.ended_at)),
    field('started-by', row.account_name),
    field('name', name),
    field('version', row.version),
    field('content-exception', error ? exceptionOf(error) : undefined),
    field('current-item-display-name', row.step_name ?? undefined),
    field('current-item', row.step ?? undefined),
    field('business-state', row.cancel && !hasEnded(row) ? 'canceling' : undefined),
  )
}

/** One line for users; details for programs are in the log. */
export const exceptionOf = ({ title, detail, status, instance }: RunError): string =>
  [
    [title, detail].filter(Boolean).join(': ') || 'the run failed',
    ...(status === undefined ? [] : [`(${status})`]),
    ...(instance === undefined ? [] : [`at ${instance}`]),
  ].join(' ')

export const executionsDocument = (
  {
    rows,
    total,
    hrefs,
  }: Readonly<{ rows: readonly ExecutionRow[]; total: number; hrefs: WorkflowHrefs }>,
  href: string,
): Document =>
  resource(
    'workflow-executions',
    { href, total },
    relations(
      rows.map((row) => ({
        rel: 'down',
        href: hrefs.execution(row.workflow, row.id),
        attributes: {
          id: row.id,
          name: row.name,
          state: row.state,
          startedBy: row.account_name,
          startDate: time(row.started_at),
          endDate: time(row.ended_at),
          version: row.version,
        },
      })),
      total,
    ),
  )

/** Clients read `value`; the reference of later releases has `state`. */
export const stateDocument = ({ state }: Pick<ExecutionRow, 'state'>): Document => {
  const { xml } = resource('execution-state', {}, field('value', state))
  return { xml, json: { value: state, state } }
}

export function logsDocument(
  rows: readonly LogRow[],
  { account_name: user }: Pick<ExecutionRow, 'account_name'>,
): Document {
  const entries = rows.map((row) =>
    resource(
      'entry',
      {},
      field('severity', row.severity),
      field('time-stamp', time(row.at)),
      field('time-stamp-val', row.at.getTime()),
      field('short-description', row.summary),
      field('long-description', row.detail),
      field('user', user),
      field('origin', row.origin),
      field('number', row.seq),
    ),
  )
  const { xml } = listDocument('logs', {}, 'entry', entries)
  return { xml, json: { logs: entries.map(({ json }) => ({ entry: json })) } }
}
