import { useNavigate } from 'react-router'

import { idOf } from '../../api/client.ts'
import type { HostQueryRecord } from '../../api/query.ts'
import { paths } from '../../app/paths.ts'
import { RecordGrid } from '../../app/records/record-grid.tsx'
import { useSearch } from '../../app/use-search.ts'
import { Button } from '../../components/button.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Chips, FilterBar, FilterInput } from '../../components/filter-bar.tsx'
import { Meter } from '../../components/meter.tsx'
import { useAllRecords } from '../../data/use-record-list.ts'
import { escapedValue, nameFilter } from '../../model/filter.ts'
import { capacityOf, memoryShare } from '../../model/host.ts'
import { choiceParam, textParam } from '../../model/search-params.ts'
import { CapacityCards } from './capacity-cards.tsx'
import { hostColumns } from './columns.tsx'
import { HostMap } from './host-map.tsx'

import page from '../../styles/page.module.css'
import style from './page.module.css'

const schema = {
  q: textParam(),
  status: choiceParam(['', 'disabled', 'lost'], ''),
  /** The cell that follows the host. */
  cell: textParam(),
  sort: textParam('name'),
}
const statusFilters = { '': '', disabled: 'isEnabled==false', lost: 'state==lost' } as const

export function HostsPage() {
  const [search, change] = useSearch(schema)
  const ofCell = search.cell === '' ? '' : `cellName==${escapedValue(search.cell)}`
  const filter = [statusFilters[search.status], nameFilter(search.q), ofCell]
    .filter((part) => part !== '')
    .join(';')
  const { data: all } = useAllRecords('host')
  const navigate = useNavigate()
  const open = (host: HostQueryRecord): void => void navigate(paths.adminHost(idOf(host.href)))
  return (
    <div className={`${page['page']} ${style['page']}`}>
      {all && all.length > 0 && (
        <>
          <CapacityCards capacity={capacityOf(all)} hosts={all.length} />
          <HostMap hosts={all} onOpen={open} />
        </>
      )}
      <FilterBar>
        <FilterInput
          value={search.q}
          placeholder="Filter by name: host-00*"
          onChange={(q) => change({ q }, 'replace')}
        />
        <Chips
          label="State"
          value={search.status}
          options={[
            { value: '', text: 'All', count: all?.length },
            {
              value: 'disabled',
              text: 'Disabled',
              count: all?.filter((host) => !host.isEnabled).length,
            },
            {
              value: 'lost',
              text: 'Lost',
              count: all?.filter((host) => host.state === 'lost').length,
            },
          ]}
          onChange={(status) => change({ status })}
        />
        {search.cell !== '' && (
          <Button small icon="close" onClick={() => change({ cell: '' })}>
            Followed by {search.cell}
          </Button>
        )}
      </FilterBar>
      <RecordGrid
        className={style['list']}
        title="Hosts"
        type="host"
        filter={filter}
        sort={search.sort}
        onSort={(sort) => change({ sort })}
        columns={hostColumns}
        narrow={narrowHost}
        onOpen={open}
        empty={
          <EmptyState title={filter === '' ? 'No hosts yet' : 'No host matches this filter'}>
            <p>A machine joins the cloud with a command that an administrator runs on it.</p>
          </EmptyState>
        }
      />
    </div>
  )
}

const narrowHost = (host: HostQueryRecord) => (
  <div className={page['narrowRow']}>
    <span className={page['strong']}>{host.name}</span>
    <small>
      <Meter share={memoryShare(host)} label={`Memory of ${host.name}`} />
    </small>
  </div>
)
