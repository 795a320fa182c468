import { Link } from 'react-router'

import type { CellCondition, CellDocument, CellsDocument } from '../../api/documents.ts'
import { usePageTitle } from '../../app/page-title.ts'
import { paths } from '../../app/paths.ts'
import { Card, Facts } from '../../components/card.tsx'
import { EmptyState, ErrorState } from '../../components/empty-state.tsx'
import { Icon } from '../../components/icon.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { Table } from '../../components/table.tsx'
import { useDocument } from '../../data/use-documents.ts'
import { cellStateOf, type CellState } from '../../model/cell.ts'
import { en } from '../../text/en.ts'
import { formatCount } from '../../text/format.ts'

import page from '../../styles/page.module.css'

/** A cell reports every 2 s; it counts as dead after 15 s. */
const READ_MS = 5000

export function CellsPage() {
  const { data, error, refetch } = useDocument<CellsDocument>('/api/admin/cells', READ_MS)
  usePageTitle({ text: 'Cells' })
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!data) return <div className={page['page']} aria-busy="true" />
  const cells = data.cell ?? []
  return (
    <div className={`${page['page']} ${page['scrolling']}`}>
      <p className={page['small']}>
        Cells are the servers of this cloud. They share the hosts: if one dies, the others follow
        its hosts and continue its tasks.
      </p>
      {cells.length === 0 && (
        <EmptyState title="No cell reports">
          <p>A cell reports itself every 2 s as long as it reaches PostgreSQL.</p>
        </EmptyState>
      )}
      <div className={page['stack']}>
        {cells.map((cell) => (
          <CellCard key={cell.name} cell={cell} />
        ))}
      </div>
    </div>
  )
}

const tones = {
  good: ['good', 'check'],
  warning: ['warn', 'warning'],
  unfit: ['bad', 'warning'],
  dead: ['bad', 'offline'],
} as const satisfies Readonly<Record<CellState, readonly [tone: string, icon: string]>>

function CellCard({ cell }: { readonly cell: CellDocument }) {
  const state = cellStateOf(cell)
  const [tone, icon] = tones[state]
  return (
    <Card
      title={cell.name}
      tools={
        <span className={`${page['state']} ${page[tone]}`} title={en.cellMeaning[state]}>
          <Icon name={icon} size={14} />
          {en.cellState[state]}
        </span>
      }
    >
      <div className={page['stack']}>
        <Facts
          rows={[
            state === 'good' ? undefined : ['State', en.cellMeaning[state]],
            [
              'Hosts followed',
              <Link
                key="hosts"
                className={page['link']}
                to={`${paths.adminHosts}?cell=${encodeURIComponent(cell.name)}`}
              >
                {formatCount(cell.numberOfHosts)}
              </Link>,
            ],
            ['Last heartbeat', <RelativeTime key="seen" time={cell.lastSeen} />],
            cell.version !== undefined && ['Version', cell.version],
          ]}
        />
        <Table
          label={`Checks of ${cell.name}`}
          rows={cell.condition ?? []}
          keyOf={({ name }) => name}
          empty="This cell reports no checks: it is of an older version."
          columns={conditionColumns}
        />
      </div>
    </Card>
  )
}

const conditionColumns = [
  {
    key: 'name',
    title: 'Check',
    width: '11rem',
    isEssential: true,
    cell: ({ name, isOk }: CellCondition) => (
      <span className={`${page['state']} ${page[isOk ? 'good' : 'bad']}`}>
        <Icon name={isOk ? 'check' : 'warning'} size={14} />
        {en.condition(name)}
        <span className="visually-hidden">{isOk ? 'ok' : 'not ok'}</span>
      </span>
    ),
  },
  {
    key: 'found',
    title: 'Found',
    isEssential: true,
    cell: ({ value }: CellCondition) => value,
  },
  {
    key: 'since',
    title: 'Since',
    width: '7rem',
    isNumeric: true,
    cell: ({ since }: CellCondition) => <RelativeTime time={since} />,
  },
]
