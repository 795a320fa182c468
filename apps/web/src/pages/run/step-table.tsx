import type { DrawnColumn, DrawnStep, RunLogEntry } from '../../api/workflows.ts'
import { Card } from '../../components/card.tsx'
import { Table } from '../../components/table.tsx'
import { stepsOf } from '../../model/workflow-run.ts'
import { formatClock, formatDateTime } from '../../text/format.ts'
import { workflowText } from '../../text/workflows.ts'

import page from '../../styles/page.module.css'

const tones: Readonly<Record<string, string | undefined>> = {
  done: page['good'],
  failed: page['bad'],
}

interface StepTableProps {
  readonly column: DrawnColumn
  readonly log: readonly RunLogEntry[]
}

/** The steps in words, with the times that the log has of them. */
export function StepTable({ column, log }: StepTableProps) {
  const linesOf = ({ place }: DrawnStep) => log.filter(({ origin }) => origin === place)
  const time = (entry: RunLogEntry | undefined) =>
    entry === undefined ? '–' : formatClock(entry['time-stamp'])
  const isOver = ({ state }: DrawnStep): boolean => state !== undefined && state !== 'running'
  return (
    <Card title="Steps" flush>
      <Table
        label="Steps"
        rows={stepsOf(column)}
        keyOf={({ place }) => place}
        empty="This workflow has no steps."
        columns={[
          { key: 'name', title: 'Step', isEssential: true, cell: ({ name }) => name },
          { key: 'kind', title: 'Kind', cell: ({ kind, detail }) => `${kind} ${detail}`.trim() },
          {
            key: 'state',
            title: 'State',
            isEssential: true,
            cell: ({ state }) => (
              <span className={tones[state ?? ''] ?? ''}>{workflowText.stepState(state)}</span>
            ),
          },
          { key: 'began', title: 'Began', cell: (step) => time(linesOf(step)[0]) },
          {
            key: 'ended',
            title: 'Ended',
            cell: (step) => (isOver(step) ? time(linesOf(step).at(-1)) : '–'),
          },
        ]}
      />
    </Card>
  )
}

export const RunLog = ({ log }: { readonly log: readonly RunLogEntry[] }) => (
  <Card title="Log" flush>
    <Table
      label="Log"
      rows={log}
      keyOf={({ number }) => String(number)}
      empty="Nothing yet."
      columns={[
        {
          key: 'time',
          title: 'Time',
          cell: (entry) => (
            <time dateTime={entry['time-stamp']} title={formatDateTime(entry['time-stamp'])}>
              {formatClock(entry['time-stamp'])}
            </time>
          ),
        },
        {
          key: 'event',
          title: 'Event',
          isEssential: true,
          cell: (entry) => (
            <span className={entry.severity === 'error' ? page['bad'] : ''}>
              {entry['short-description']}
            </span>
          ),
        },
        { key: 'detail', title: 'Details', cell: (entry) => entry['long-description'] },
      ]}
    />
  </Card>
)
