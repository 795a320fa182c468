import { Link, useNavigate } from 'react-router'

import { idOf } from '../../api/client.ts'
import type { NetworkRecord } from '../../api/query.ts'
import { NetworkKindLabel } from '../../app/networks/network-kind.tsx'
import { paths } from '../../app/paths.ts'
import { RecordGrid } from '../../app/record-grid.tsx'
import { useSearch } from '../../app/use-search.ts'
import { Button } from '../../components/button.tsx'
import { CommandLine } from '../../components/command-line.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { FilterBar, FilterInput } from '../../components/filter-bar.tsx'
import type { GridColumn } from '../../components/grid/grid-column.ts'
import { Meter } from '../../components/meter.tsx'
import { useSession } from '../../data/session.ts'
import { nameFilter } from '../../model/filter.ts'
import { kindOfLink, rangeText } from '../../model/networks/network.ts'
import { textParam } from '../../model/search-params.ts'
import { en } from '../../text/en.ts'
import { formatCount } from '../../text/format.ts'

import page from '../../styles/page.module.css'

const schema = { q: textParam(), sort: textParam('name') }

export function NetworksPage() {
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
            unavailable={
              rights.has('network:edit') ? undefined : en.missingRight(role, 'network:edit')
            }
            onClick={() => void navigate(paths.newNetwork)}
          >
            Create network
          </Button>
        }
      >
        <FilterInput
          value={search.q}
          placeholder="Filter by name: back*"
          onChange={(q) => change({ q }, 'replace')}
        />
      </FilterBar>
      <RecordGrid
        title="Networks"
        type="orgVdcNetwork"
        filter={filter}
        sort={search.sort}
        onSort={(sort) => change({ sort })}
        columns={columns}
        narrow={narrowNetwork}
        onOpen={(network) => void navigate(paths.network(idOf(network.href)))}
        empty={
          <EmptyState
            title={filter === '' ? 'No networks yet' : 'No network matches this filter'}
            commands={<CommandLine text="skerry network list" />}
          >
            <p>
              VMs on a network reach each other on whichever hosts they run. The first VM of an
              organisation makes the network default, if the site has a network server. Without one
              every VM has the network of its host.
            </p>
          </EmptyState>
        }
      />
    </div>
  )
}

const rangeOf = ({ defaultGateway, netmask }: NetworkRecord): string =>
  rangeText(defaultGateway, netmask) ?? '–'

const narrowNetwork = (network: NetworkRecord) => (
  <div className={page['narrowRow']}>
    <Link className={page['strong']} to={paths.network(idOf(network.href))}>
      {network.name}
    </Link>
    <small>
      <NetworkKindLabel kind={kindOfLink(network.linkType)} />
      <span className={page['mono']}>{rangeOf(network)}</span>
    </small>
  </div>
)

const columns: readonly GridColumn<NetworkRecord>[] = [
  {
    key: 'name',
    title: 'Name',
    width: 'minmax(10rem, 1.4fr)',
    sort: 'name',
    cell: (network) => (
      <Link className={page['strong']} to={paths.network(idOf(network.href))} tabIndex={-1}>
        {network.name}
      </Link>
    ),
  },
  {
    key: 'kind',
    title: 'Kind',
    width: '8rem',
    cell: ({ linkType }) => <NetworkKindLabel kind={kindOfLink(linkType)} />,
  },
  {
    key: 'range',
    title: 'Range',
    width: '10rem',
    cell: (network) => <span className={page['mono']}>{rangeOf(network)}</span>,
  },
  {
    key: 'used',
    title: 'Addresses in use',
    width: 'minmax(9rem, 1fr)',
    cell: ({ name, usedIpCount, totalIpCount }) => (
      <Meter
        share={totalIpCount === 0 ? 0 : usedIpCount / totalIpCount}
        label={`Addresses of ${name} in use`}
      />
    ),
  },
  {
    key: 'addresses',
    title: 'Used',
    width: '6rem',
    isNumeric: true,
    cell: ({ usedIpCount }) => formatCount(usedIpCount),
  },
  {
    key: 'pool',
    title: 'Of',
    width: '6rem',
    isNumeric: true,
    cell: ({ totalIpCount }) => formatCount(totalIpCount),
  },
  {
    key: 'connected',
    title: 'Connected to',
    width: 'minmax(9rem, .8fr)',
    cell: ({ connectedTo }) => <span className={page['soft']}>{connectedTo ?? '–'}</span>,
  },
  {
    key: 'vdc',
    title: 'Data centre',
    width: 'minmax(8rem, .8fr)',
    cell: ({ vdcName, isShared }) => (
      <span className={page['soft']}>{isShared ? 'all' : vdcName}</span>
    ),
  },
  {
    key: 'state',
    title: 'State',
    width: '8rem',
    cell: ({ isBusy }) => (
      <span className={isBusy ? page['warn'] : page['good']}>{en.networkState(isBusy)}</span>
    ),
  },
]
