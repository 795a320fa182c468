import { useState } from 'react'

import type { ExternalNetworkQueryRecord } from '../../api/query.ts'
import { usePageTitle } from '../../app/page-title.ts'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { ConfirmDialog } from '../../components/dialog.tsx'
import { ErrorState } from '../../components/empty-state.tsx'
import { Menu } from '../../components/menu.tsx'
import { Meter } from '../../components/meter.tsx'
import { Table, type PageTableColumn } from '../../components/table.tsx'
import { useSession } from '../../data/session.ts'
import { useChange } from '../../data/use-change.ts'
import { useRecords } from '../../data/use-record-list.ts'
import { rangeText } from '../../model/networks/network.ts'
import { en } from '../../text/en.ts'
import { formatCount } from '../../text/format.ts'
import { ExternalNetworkDialog } from './external-network-dialog.tsx'

import page from '../../styles/page.module.css'

/** Networks of the site that edge gateways lead to, for the administrators of the cloud. */
export function ExternalNetworksPage() {
  const { data, error, refetch } = useRecords('externalNetwork', { sort: 'name' })
  const [edited, setEdited] = useState<ExternalNetworkQueryRecord | 'new'>()
  const [deleted, setDeleted] = useState<ExternalNetworkQueryRecord>()
  const { rights, role } = useSession()
  const { makeChange } = useChange()
  usePageTitle({ text: 'External networks', total: data?.total })
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />
  const unavailable = rights.has('external:admin')
    ? undefined
    : en.missingRight(role, 'external:admin')
  const remove = (network: ExternalNetworkQueryRecord): void => {
    setDeleted(undefined)
    makeChange({
      href: network.href,
      method: 'DELETE',
      success: `Deleted ${network.name}`,
      failure: `${network.name} was not deleted`,
    })
  }
  const setDefault = (network: ExternalNetworkQueryRecord): void =>
    makeChange({
      href: network.href,
      method: 'PUT',
      body: { name: network.name, isDefault: !network.isDefault },
      success: network.isDefault
        ? `${network.name} is no longer the default`
        : `${network.name} is the default`,
      failure: `${network.name} was not changed`,
    })
  const tools: PageTableColumn<ExternalNetworkQueryRecord> = {
    key: 'tools',
    title: 'Actions',
    isTitleHidden: true,
    isNumeric: true,
    isEssential: true,
    cell: (network) => {
      const because =
        unavailable ??
        (network.kind === 'outbound' ? 'the system made it, and needs it as it is' : undefined)
      return (
        <Menu
          trigger={<Button small tone="plain" icon="more" label={`Actions of ${network.name}`} />}
          groups={[
            {
              items: [
                {
                  text: 'Change',
                  icon: 'gear',
                  unavailable: because,
                  onSelect: () => setEdited(network),
                },
                {
                  text: network.isDefault ? 'No longer the default' : 'Make it the default',
                  icon: 'check',
                  unavailable: because,
                  onSelect: () => setDefault(network),
                },
                {
                  text: 'Delete',
                  icon: 'trash',
                  isDangerous: true,
                  unavailable: because,
                  onSelect: () => setDeleted(network),
                },
              ],
            },
          ]}
        />
      )
    },
  }
  return (
    <div className={`${page['page']} ${page['scrolling']}`} aria-busy={!data}>
      <p className={page['small']}>
        Edge gateways lead to an external network. New ones lead to the default, if a host has its
        uplink; without a default they lead to outbound, behind the addresses of the hosts.
      </p>
      <Card
        title="External networks"
        flush
        tools={
          <Button small icon="plus" unavailable={unavailable} onClick={() => setEdited('new')}>
            Create external network
          </Button>
        }
      >
        <Table
          label="External networks"
          rows={data?.records ?? []}
          keyOf={({ href }) => href}
          empty={data ? 'There is no network server yet.' : 'The networks are being read.'}
          columns={[...columns, tools]}
        />
      </Card>
      {edited !== undefined && (
        <ExternalNetworkDialog
          href={edited === 'new' ? undefined : edited.href}
          onClose={() => setEdited(undefined)}
        />
      )}
      {deleted && (
        <ConfirmDialog
          title={`Delete ${deleted.name}`}
          action="Delete"
          icon="trash"
          onClose={() => setDeleted(undefined)}
          onConfirm={() => remove(deleted)}
        >
          <p>No edge gateway may lead to it. Its addresses can then be used by others.</p>
        </ConfirmDialog>
      )}
    </div>
  )
}

const columns: readonly PageTableColumn<ExternalNetworkQueryRecord>[] = [
  {
    key: 'name',
    title: 'Name',
    isEssential: true,
    cell: ({ name, isDefault }) => (
      <>
        <span className={page['strong']}>{name}</span>
        {isDefault && <span className={page['soft']}> (default)</span>}
      </>
    ),
  },
  {
    key: 'uplink',
    title: 'Uplink',
    cell: ({ uplink, vlan }) => (vlan === undefined ? uplink : `${uplink}, VLAN ${vlan}`),
  },
  {
    key: 'range',
    title: 'Range',
    isEssential: true,
    cell: ({ gateway, netmask }) => (
      <span className={page['mono']}>{rangeText(gateway, netmask) ?? '–'}</span>
    ),
  },
  {
    key: 'gateways',
    title: 'Edge gateways',
    isNumeric: true,
    cell: ({ numberOfEdgeGateways }) => formatCount(numberOfEdgeGateways),
  },
  {
    key: 'pool',
    title: 'Pool',
    isNumeric: true,
    cell: ({ totalIpCount }) => formatCount(totalIpCount),
  },
  {
    key: 'used',
    title: 'Addresses in use',
    isNumeric: true,
    cell: ({ usedIpCount }) => formatCount(usedIpCount),
  },
  {
    key: 'share',
    title: 'Share',
    width: '9rem',
    cell: ({ name, usedIpCount, totalIpCount }) => (
      <Meter
        share={totalIpCount === 0 ? 0 : usedIpCount / totalIpCount}
        label={`Addresses of ${name} in use`}
      />
    ),
  },
]
