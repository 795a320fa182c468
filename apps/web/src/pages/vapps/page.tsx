import { Link, useNavigate } from 'react-router'

import { idOf } from '../../api/client.ts'
import type { VAppRecord } from '../../api/query.ts'
import { paths } from '../../app/paths.ts'
import { RecordPage } from '../../app/records/record-page.tsx'
import { CommandLine } from '../../components/command-line.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import type { GridColumn } from '../../components/grid/grid-column.ts'
import { PowerLabel } from '../../components/power-label.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { listCommand } from '../../model/commands.ts'
import { powerOfWord } from '../../model/power.ts'
import { en } from '../../text/en.ts'
import { formatCount } from '../../text/format.ts'

import page from '../../styles/page.module.css'

export function VAppsPage() {
  const navigate = useNavigate()
  return (
    <RecordPage
      title="vApps"
      type="vApp"
      placeholder="Filter by name: shop*"
      create={{
        text: 'Create vApp',
        right: 'vm:edit',
        onClick: () => void navigate(paths.newVapp),
      }}
      columns={columns}
      narrow={narrowVApp}
      pathOf={({ href }) => paths.vapp(idOf(href))}
      empty={(filter) => (
        <EmptyState
          title={filter === '' ? 'No vApps yet' : 'No vApp matches this filter'}
          commands={<CommandLine text={listCommand('vapp', filter)} />}
        >
          <p>A vApp is a group of VMs that are started, stopped and copied together.</p>
        </EmptyState>
      )}
    />
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
