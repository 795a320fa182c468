import { Link, useNavigate } from 'react-router'

import { idOf } from '../../api/client.ts'
import type { VAppRecord } from '../../api/query.ts'
import { paths } from '../../app/paths.ts'
import { RecordGrid } from '../../app/record-grid.tsx'
import { useSearch } from '../../app/use-search.ts'
import { Button } from '../../components/button.tsx'
import { CommandLine } from '../../components/command-line.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { FilterBar, FilterInput } from '../../components/filter-bar.tsx'
import type { GridColumn } from '../../components/grid/grid-column.ts'
import { PowerLabel } from '../../components/power-label.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { useSession } from '../../data/session.ts'
import { listCommand } from '../../model/commands.ts'
import { nameFilter } from '../../model/filter.ts'
import { powerOfWord } from '../../model/power.ts'
import { textParam } from '../../model/search-params.ts'
import { en } from '../../text/en.ts'
import { formatCount } from '../../text/format.ts'

import page from '../../styles/page.module.css'

const schema = { q: textParam(), sort: textParam('name') }

export function VAppsPage() {
  const [search, change] = useSearch(schema)
  const filter = nameFilter(search.q)
  const { rights, role } = useSession()
  const navigate = useNavigate()
  return (
    <div className={page['page']}>
      <FilterBar
        action={
          <Button
            tone="primary"
            icon="plus"
            unavailable={rights.has('vm:edit') ? undefined : en.missingRight(role, 'vm:edit')}
            onClick={() => void navigate(paths.newVapp)}
          >
            Create vApp
          </Button>
        }
      >
        <FilterInput
          value={search.q}
          placeholder="Filter by name: shop*"
          onChange={(q) => change({ q }, 'replace')}
        />
      </FilterBar>
      <RecordGrid
        title="vApps"
        type="vApp"
        filter={filter}
        sort={search.sort}
        onSort={(sort) => change({ sort })}
        columns={columns}
        narrow={narrowVApp}
        onOpen={(vapp) => void navigate(paths.vapp(idOf(vapp.href)))}
        empty={
          <EmptyState
            title={filter === '' ? 'No vApps yet' : 'No vApp matches this filter'}
            commands={<CommandLine text={listCommand('vapp', filter)} />}
          >
            <p>A vApp is a group of VMs that are started, stopped and copied together.</p>
          </EmptyState>
        }
      />
    </div>
  )
}

const narrowVApp = (vapp: VAppRecord) => (
  <div className={page['narrowRow']}>
    <Link className={page['strong']} to={paths.vapp(idOf(vapp.href))}>
      {vapp.name}
    </Link>
    <small>
      <PowerLabel power={powerOfWord(vapp.status)} isBusy={vapp.isBusy} />
      <span>{en.vms(vapp.numberOfVMs)}</span>
    </small>
  </div>
)

const columns: readonly GridColumn<VAppRecord>[] = [
  {
    key: 'status',
    title: 'State',
    width: '9.5rem',
    cell: (vapp) => <PowerLabel power={powerOfWord(vapp.status)} isBusy={vapp.isBusy} />,
  },
  {
    key: 'name',
    title: 'Name',
    width: 'minmax(12rem, 1.6fr)',
    sort: 'name',
    cell: (vapp) => (
      <Link className={page['strong']} to={paths.vapp(idOf(vapp.href))} tabIndex={-1}>
        {vapp.name}
      </Link>
    ),
  },
  {
    key: 'vms',
    title: 'VMs',
    width: '5rem',
    isNumeric: true,
    cell: (vapp) => formatCount(vapp.numberOfVMs),
  },
  {
    key: 'vdc',
    title: 'Data centre',
    width: 'minmax(8rem, 1fr)',
    cell: (vapp) => <span className={page['soft']}>{vapp.vdcName}</span>,
  },
  {
    key: 'owner',
    title: 'Owner',
    width: 'minmax(7rem, .8fr)',
    sort: 'ownerName',
    cell: (vapp) => <span className={page['soft']}>{vapp.ownerName}</span>,
  },
  {
    key: 'lease',
    title: 'Lease',
    width: '7rem',
    cell: (vapp) =>
      vapp.isExpired ? <span className={page['bad']}>expired</span> : <span>–</span>,
  },
  {
    key: 'created',
    title: 'Created',
    width: '8rem',
    sort: 'creationDate',
    isNumeric: true,
    cell: (vapp) => <RelativeTime time={vapp.creationDate} />,
  },
]
