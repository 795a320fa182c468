import type { DrawnColumn, DrawnStep } from '../../api/workflows.ts'
import { Card } from '../../components/card.tsx'
import { Table } from '../../components/table.tsx'
import type { KeptLog } from '../../model/workflows/run-log.ts'
import { stepsOf } from '../../model/workflows/workflow-run.ts'
import { formatClock, formatDateTime } from '../../text/format.ts'
import { workflowText } from '../../text/workflows.ts'

import page from '../../styles/page.module.css'

const tones: Readonly<Record<string, string | undefined>> = {
  done: page['good'],
  failed: page['bad'],
}

interface StepTableProps extends Pick<KeptLog, 'times'> {
  readonly column: DrawnColumn
}

/** The steps in words, with the times that the log has of them. */
export function StepTable({ column, times }: StepTableProps) {
  const time = (at: string | undefined) => (at === undefined ? '–' : formatClock(at))
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
          { key: 'began', title: 'Began', cell: ({ place }) => time(times.get(place)?.began) },
          {
            key: 'ended',
            title: 'Ended',
            cell: (step) => (isOver(step) ? time(times.get(step.place)?.ended) : '–'),
          },
        ]}
      />
    </Card>
  )
}

export const RunLog = ({ log: { lines, leftOut } }: { readonly log: KeptLog }) => (
  <Card
    title="Log"
    flush
    tools={
      leftOut > 0 && (
        <span className={page['small']}>{workflowText.linesShown(lines.length, leftOut)}</span>
      )
    }
  >
    <Table
      label="Log"
      rows={lines}
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
