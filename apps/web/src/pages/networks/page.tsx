import { Link, useNavigate } from 'react-router'

import { idOf } from '../../api/client.ts'
import type { NetworkRecord } from '../../api/query.ts'
import { NetworkKindLabel } from '../../app/networks/network-kind.tsx'
import { paths } from '../../app/paths.ts'
import { RecordPage } from '../../app/records/record-page.tsx'
import { CommandLine } from '../../components/command-line.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import type { GridColumn } from '../../components/grid/grid-column.ts'
import { Meter } from '../../components/meter.tsx'
import { kindOfLink, rangeText } from '../../model/networks/network.ts'
import { en } from '../../text/en.ts'
import { formatCount } from '../../text/format.ts'

import page from '../../styles/page.module.css'

export function NetworksPage() {
  const navigate = useNavigate()
  return (
    <RecordPage
      title="Networks"
      type="orgVdcNetwork"
      placeholder="Filter by name: back*"
      create={{
        text: 'Create network',
        right: 'network:edit',
        onClick: () => void navigate(paths.newNetwork),
      }}
      columns={columns}
      narrow={narrowNetwork}
      pathOf={({ href }) => paths.network(idOf(href))}
      empty={(filter) => (
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
      )}
    />
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
