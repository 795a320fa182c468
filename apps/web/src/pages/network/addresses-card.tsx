import { useState } from 'react'
import { Link } from 'react-router'

import { idOf } from '../../api/client.ts'
import type {
  AllocatedAddressDocument,
  AllocatedAddressesDocument,
} from '../../api/network-documents.ts'
import { paths } from '../../app/paths.ts'
import { Card } from '../../components/card.tsx'
import { ErrorState } from '../../components/empty-state.tsx'
import { FilterInput } from '../../components/filter-bar.tsx'
import { PowerLabel } from '../../components/power-label.tsx'
import { Table, type PageTableColumn } from '../../components/table.tsx'
import { useDocument } from '../../data/use-documents.ts'
import { formatCount } from '../../text/format.ts'

import page from '../../styles/page.module.css'

/** A network may have 65,000 addresses; the filter finds the others. */
const SHOWN_MAX = 200

const vmOf = ({ link = [] }: AllocatedAddressDocument) => link.find(({ rel }) => rel === 'down')

/** The addresses of a network that VMs have. */
export function AddressesCard({ href }: { readonly href: string | undefined }) {
  const { data, error, refetch } = useDocument<AllocatedAddressesDocument>(href)
  const [filter, setFilter] = useState('')
  const all = data?.ipAddress ?? []
  const found = all.filter(
    (each) => each.ipAddress.includes(filter) || vmOf(each)?.name?.includes(filter),
  )
  if (error)
    return (
      <Card title="Addresses in use">
        <ErrorState error={error} onRetry={() => void refetch()} />
      </Card>
    )
  return (
    <Card title={`Addresses in use${data ? `: ${formatCount(all.length)}` : ''}`} flush>
      {all.length > 0 && (
        <div className={page['inset']}>
          <FilterInput value={filter} placeholder="Filter by VM or address" onChange={setFilter} />
        </div>
      )}
      <Table
        label="Addresses in use"
        rows={found.slice(0, SHOWN_MAX)}
        keyOf={({ ipAddress }) => ipAddress}
        empty={
          data
            ? all.length === 0
              ? 'No VM is on this network.'
              : 'No address matches this filter.'
            : 'The addresses are being read.'
        }
        columns={columns}
      />
      {found.length > SHOWN_MAX && (
        <p className={`${page['inset']} ${page['small']}`}>
          {formatCount(found.length - SHOWN_MAX)} more: filter to find them.
        </p>
      )}
    </Card>
  )
}

const columns: readonly PageTableColumn<AllocatedAddressDocument>[] = [
  {
    key: 'address',
    title: 'Address',
    isEssential: true,
    width: '10rem',
    cell: ({ ipAddress }) => <span className={page['mono']}>{ipAddress}</span>,
  },
  {
    key: 'vm',
    title: 'VM',
    isEssential: true,
    cell: (allocated) => {
      const vm = vmOf(allocated)
      if (!vm) return <span className={page['soft']}>the network itself</span>
      return (
        <Link className={page['strong']} to={paths.vm(idOf(vm.href))}>
          {vm.name}
        </Link>
      )
    },
  },
  {
    key: 'state',
    title: 'State',
    width: '8rem',
    cell: ({ isDeployed = false }) => <PowerLabel power={isDeployed ? 'on' : 'off'} />,
  },
]
