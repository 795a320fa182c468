import { Link } from 'react-router'

import { idOf } from '../../api/client.ts'
import type { HostQueryRecord } from '../../api/query.ts'
import { paths } from '../../app/paths.ts'
import type { GridColumn } from '../../components/grid/grid-column.ts'
import { Meter } from '../../components/meter.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { memoryShare } from '../../model/host.ts'
import { formatCount } from '../../text/format.ts'
import { HostStateLabel } from './host-state.tsx'

import page from '../../styles/page.module.css'

export const hostColumns: readonly GridColumn<HostQueryRecord>[] = [
  {
    key: 'name',
    title: 'Name',
    width: 'minmax(8rem, 1fr)',
    sort: 'name',
    cell: (host) => (
      <Link className={page['strong']} to={paths.adminHost(idOf(host.href))} tabIndex={-1}>
        {host.name}
      </Link>
    ),
  },
  {
    key: 'state',
    title: 'State',
    width: '7rem',
    cell: (host) => <HostStateLabel host={host} />,
  },
  {
    key: 'cpus',
    title: 'CPUs',
    width: 'minmax(6rem, 1fr)',
    cell: (host) =>
      host.cpusUsed === undefined ? (
        formatCount(host.numOfCpusLogical)
      ) : (
        <Meter share={host.cpusUsed / host.numOfCpusLogical} label={`CPUs of ${host.name}`} />
      ),
  },
  {
    key: 'memory',
    title: 'Memory',
    width: 'minmax(6rem, 1fr)',
    sort: 'memUsed',
    cell: (host) => <Meter share={memoryShare(host)} label={`Memory of ${host.name}`} />,
  },
  {
    key: 'storage',
    title: 'Storage',
    width: 'minmax(6rem, 1fr)',
    sort: 'storageUsed',
    cell: (host) => (
      <Meter
        share={host.storageUsed / Math.max(1, host.storageTotal)}
        label={`Storage of ${host.name}`}
      />
    ),
  },
  {
    key: 'vms',
    title: 'VMs',
    width: '4.5rem',
    sort: 'numberOfVMs',
    isNumeric: true,
    cell: (host) => formatCount(host.numberOfVMs),
  },
  {
    key: 'version',
    title: 'Version',
    width: '5rem',
    cell: (host) => <span className={page['soft']}>{host.version}</span>,
  },
  {
    key: 'address',
    title: 'Address',
    width: '7rem',
    cell: (host) => <span className={page['mono']}>{host.address}</span>,
  },
  {
    key: 'cell',
    title: 'Cell',
    width: 'minmax(5rem, .5fr)',
    cell: (host) => <span className={page['soft']}>{host.cellName}</span>,
  },
  {
    key: 'seen',
    title: 'Last seen',
    width: '6rem',
    isNumeric: true,
    cell: (host) => host.lastSeen !== undefined && <RelativeTime time={host.lastSeen} />,
  },
]
