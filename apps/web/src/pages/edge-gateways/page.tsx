import { Link, useNavigate } from 'react-router'

import { idOf } from '../../api/client.ts'
import type { EdgeGatewayQueryRecord } from '../../api/query.ts'
import { paths } from '../../app/paths.ts'
import { RecordGrid } from '../../app/records/record-grid.tsx'
import { useSearch } from '../../app/use-search.ts'
import { EmptyState } from '../../components/empty-state.tsx'
import type { GridColumn } from '../../components/grid/grid-column.ts'
import { textParam } from '../../model/search-params.ts'
import { en } from '../../text/en.ts'
import { formatCount } from '../../text/format.ts'

import page from '../../styles/page.module.css'

const schema = { sort: textParam('name') }

export function EdgeGatewaysPage() {
  const [search, change] = useSearch(schema)
  const navigate = useNavigate()
  return (
    <div className={page['page']}>
      <RecordGrid
        title="Edge gateways"
        type="edgeGateway"
        filter=""
        sort={search.sort}
        onSort={(sort) => change({ sort })}
        columns={columns}
        narrow={narrowGateway}
        onOpen={(gateway) => void navigate(paths.edgeGateway(idOf(gateway.href)))}
        empty={
          <EmptyState title="No edge gateways yet">
            <p>
              The first routed network of a data centre makes its edge gateway. It leads to the
              outside, and its rules say what may come in.
            </p>
          </EmptyState>
        }
      />
    </div>
  )
}

const narrowGateway = (gateway: EdgeGatewayQueryRecord) => (
  <div className={page['narrowRow']}>
    <Link className={page['strong']} to={paths.edgeGateway(idOf(gateway.href))}>
      {gateway.name}
    </Link>
    <small>
      <span className={page['mono']}>{gateway.ipAddress}</span>
      <span>{gateway.externalNetworkName}</span>
    </small>
  </div>
)

const columns: readonly GridColumn<EdgeGatewayQueryRecord>[] = [
  {
    key: 'name',
    title: 'Name',
    width: 'minmax(9rem, 1.2fr)',
    sort: 'name',
    cell: (gateway) => (
      <Link className={page['strong']} to={paths.edgeGateway(idOf(gateway.href))} tabIndex={-1}>
        {gateway.name}
      </Link>
    ),
  },
  {
    key: 'address',
    title: 'Own address',
    width: '10rem',
    cell: ({ ipAddress }) => <span className={page['mono']}>{ipAddress}</span>,
  },
  {
    key: 'external',
    title: 'External network',
    width: 'minmax(11rem, 1fr)',
    cell: ({ externalNetworkName }) => externalNetworkName,
  },
  {
    key: 'vdc',
    title: 'Data centre',
    width: 'minmax(8rem, 1fr)',
    cell: ({ vdcName }) => <span className={page['soft']}>{vdcName}</span>,
  },
  {
    key: 'networks',
    title: 'Networks',
    width: '7rem',
    isNumeric: true,
    cell: ({ numberOfOrgNetworks }) => formatCount(numberOfOrgNetworks),
  },
  {
    key: 'addresses',
    title: 'Addresses',
    width: '7.5rem',
    isNumeric: true,
    cell: ({ numberOfExternalAddresses }) => formatCount(numberOfExternalAddresses),
  },
  {
    key: 'state',
    title: 'State',
    width: '7rem',
    cell: ({ isBusy }) => (
      <span className={isBusy ? page['warn'] : page['good']}>{en.networkState(isBusy)}</span>
    ),
  },
]
