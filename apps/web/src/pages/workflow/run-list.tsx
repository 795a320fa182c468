import { Link } from 'react-router'

import { attributesOf, type RunsDocument } from '../../api/workflows.ts'
import { paths } from '../../app/paths.ts'
import { RunState } from '../../app/workflows/run-state.tsx'
import { Card } from '../../components/card.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { Table } from '../../components/table.tsx'
import { useWorkflowList } from '../../data/workflows/use-workflows.ts'
import { formatCount, formatDateTime } from '../../text/format.ts'

import page from '../../styles/page.module.css'

const SHOWN = 25

/** The latest runs of a workflow. */
export function RunList({ workflow, path }: Readonly<{ workflow: string; path: string }>) {
  const { data } = useWorkflowList<RunsDocument>(`${path}/executions?maxResult=${SHOWN}`)
  const rows = data?.relations.link.map(attributesOf) ?? []
  return (
    <Card
      title="Runs"
      flush
      tools={
        data &&
        data.total > rows.length && (
          <span className={page['small']}>
            the latest {rows.length} of {formatCount(data.total)}
          </span>
        )
      }
    >
      <Table
        label="Runs"
        rows={rows}
        keyOf={({ id = '' }) => id}
        empty="No runs yet."
        columns={[
          {
            key: 'state',
            title: 'State',
            isEssential: true,
            cell: (run) => <RunState state={run['state'] ?? ''} />,
          },
          {
            key: 'started',
            title: 'Started',
            isEssential: true,
            cell: (run) => (
              <Link className={page['strong']} to={paths.run(workflow, run['id'] ?? '')}>
                {formatDateTime(run['startDate'] ?? '')}
              </Link>
            ),
          },
          { key: 'by', title: 'Started by', cell: (run) => run['startedBy'] },
          {
            key: 'ended',
            title: 'Ended',
            cell: (run) =>
              run['endDate'] === undefined ? '–' : <RelativeTime time={run['endDate']} />,
          },
        ]}
      />
    </Card>
  )
}
