import { useState } from 'react'
import { Link } from 'react-router'

import { idOf } from '../../api/client.ts'
import {
  linkOf,
  type AdminOrgDocument,
  type AdminVdcDocument,
  type VdcDocument,
} from '../../api/documents.ts'
import { paths } from '../../app/paths.ts'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { ErrorState } from '../../components/empty-state.tsx'
import { Table } from '../../components/table.tsx'
import { useSession } from '../../data/session.ts'
import { useDocument } from '../../data/use-documents.ts'
import { en } from '../../text/en.ts'
import { DirectNetworkDialog } from './direct-network-dialog.tsx'

import page from '../../styles/page.module.css'

/** The data centres of an organisation, with their networks. */
export function VdcsTab({ org }: { readonly org: AdminOrgDocument }) {
  const vdcs = org.vdcs?.vdc ?? []
  if (vdcs.length === 0) return <p className={page['soft']}>No data centres.</p>
  return (
    <div className={page['stack']}>
      {vdcs.map(({ href }) => (
        <VdcCard key={href} org={org.name} href={href} />
      ))}
    </div>
  )
}

interface VdcCardProps {
  /** The name of the organisation. */
  readonly org: string
  readonly href: string
}

function VdcCard({ org, href }: VdcCardProps) {
  const admin = useDocument<AdminVdcDocument>(href)
  const vdc = useDocument<VdcDocument>(linkOf(admin.data, 'alternate', 'vdc'))
  const { rights, role } = useSession()
  const [isCreating, setCreating] = useState(false)
  const error = admin.error ?? vdc.error
  if (error)
    return <ErrorState error={error} onRetry={() => void (admin.error ? admin : vdc).refetch()} />
  const name = admin.data?.name ?? '…'
  const addHref = linkOf(vdc.data, 'add', 'orgVdcNetwork')
  const unavailable = !rights.has('external:admin')
    ? en.missingRight(role, 'external:admin')
    : !vdc.data
      ? 'the data centre is being read'
      : addHref === undefined
        ? 'the site has no network server, or the data centre is disabled'
        : undefined
  return (
    <Card
      title={`Data centre ${name}`}
      flush
      tools={
        <Button
          small
          icon="plus"
          label={`Create direct network in ${name}`}
          unavailable={unavailable}
          onClick={() => setCreating(true)}
        >
          Create direct network
        </Button>
      }
    >
      <Table
        label={`Networks of ${name}`}
        rows={vdc.data?.availableNetworks?.network ?? []}
        keyOf={(network) => network.href}
        empty={vdc.data ? 'No networks yet.' : 'The networks are being read.'}
        columns={[
          {
            key: 'name',
            title: 'Network',
            isEssential: true,
            cell: (network) => (
              <Link className={page['strong']} to={paths.network(idOf(network.href))}>
                {network.name}
              </Link>
            ),
          },
        ]}
      />
      {isCreating && addHref !== undefined && (
        <DirectNetworkDialog
          org={org}
          vdc={name}
          href={addHref}
          onClose={() => setCreating(false)}
        />
      )}
    </Card>
  )
}
