import { useState } from 'react'
import { Link, useNavigate, useParams } from 'react-router'

import { idOf, pathOf } from '../../api/client.ts'
import { linkOf } from '../../api/documents.ts'
import type { NetworkDocument } from '../../api/network-documents.ts'
import { NetworkKindLabel } from '../../app/networks/network-kind.tsx'
import { usePageTitle } from '../../app/page-title.ts'
import { paths } from '../../app/paths.ts'
import { Button } from '../../components/button.tsx'
import { Card, Facts } from '../../components/card.tsx'
import { CommandLine } from '../../components/command-line.tsx'
import { ConfirmDialog } from '../../components/dialog.tsx'
import { ErrorState } from '../../components/empty-state.tsx'
import { useSession } from '../../data/session.ts'
import { useChange } from '../../data/use-change.ts'
import { useDocument } from '../../data/use-documents.ts'
import { curlCommand, shellQuoted } from '../../model/commands.ts'
import { countAddresses, kindOfFence, rangeText } from '../../model/networks/network.ts'
import { en } from '../../text/en.ts'
import { formatCount } from '../../text/format.ts'
import { AddressesCard } from './addresses-card.tsx'
import { EditDialog } from './edit-dialog.tsx'
import { Ipv6Card } from './ipv6-card.tsx'

import page from '../../styles/page.module.css'

export function NetworkPage() {
  const id = useParams()['network'] ?? ''
  const { data: network, error, refetch } = useDocument<NetworkDocument>(`/api/network/${id}`)
  usePageTitle({ text: 'Networks', to: paths.networks }, { text: network?.name ?? '…' })
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!network) return <div className={page['page']} aria-busy="true" />
  const kind = kindOfFence(network.configuration?.fenceMode)
  return (
    <div className={`${page['page']} ${page['scrolling']}`}>
      <Header network={network} />
      <div className={page['columns']}>
        {kind === 'direct' ? (
          <DirectCard network={network} />
        ) : (
          <AddressesCard href={linkOf(network, 'down', 'allocated')} />
        )}
        <div className={page['stack']}>
          <DetailsCard network={network} />
          {kind !== 'direct' && <Ipv6Card network={network} />}
          <Card title="On a terminal">
            <div className={page['stack']}>
              <CommandLine text={`skerry network info ${shellQuoted(network.name)}`} />
              <CommandLine text={`skerry create VM --network ${shellQuoted(network.name)}`} />
              <CommandLine text={curlCommand('GET', pathOf(network.href))} />
            </div>
          </Card>
        </div>
      </div>
    </div>
  )
}

/** The site gives the VMs of a direct network their addresses: the cloud has none to show. */
const DirectCard = ({ network }: { readonly network: NetworkDocument }) => (
  <Card title="Addresses">
    <div className={page['stack']}>
      <p>
        Its VMs are on the external network {network.configuration?.parentNetwork?.name} itself. The
        site gives them their addresses, by DHCP or by hand: the cloud gives none and lists none.
      </p>
      <p className={page['soft']}>
        No edge gateway and no firewall is before them. A security group still limits what they
        accept and send.
      </p>
    </div>
  </Card>
)

function Header({ network }: { readonly network: NetworkDocument }) {
  const [open, setOpen] = useState<'edit' | 'delete'>()
  const { role } = useSession()
  const editHref = linkOf(network, 'edit')
  const unavailable = editHref === undefined ? en.missingRight(role, 'network:edit') : undefined
  const close = (): void => setOpen(undefined)
  return (
    <div className={page['tools']}>
      <NetworkKindLabel kind={kindOfFence(network.configuration?.fenceMode)} />
      <span className={network.status === 0 ? page['warn'] : page['good']} role="status">
        {en.networkState(network.status === 0)}
      </span>
      <span className={page['rest']} />
      <Button icon="gear" unavailable={unavailable} onClick={() => setOpen('edit')}>
        Change
      </Button>
      <Button icon="trash" unavailable={unavailable} onClick={() => setOpen('delete')}>
        Delete
      </Button>
      {open === 'edit' && editHref !== undefined && (
        <EditDialog network={network} href={editHref} onClose={close} />
      )}
      {open === 'delete' && <DeleteDialog network={network} onClose={close} />}
    </div>
  )
}

interface DeleteDialogProps {
  readonly network: NetworkDocument
  readonly onClose: () => void
}

function DeleteDialog({ network, onClose }: DeleteDialogProps) {
  const { makeChange } = useChange()
  const navigate = useNavigate()
  const remove = (): void => {
    onClose()
    makeChange({
      href: linkOf(network, 'remove') ?? '',
      method: 'DELETE',
      success: `Deleting network ${network.name}`,
      failure: `Network ${network.name} was not deleted`,
      onDone: () => void navigate(paths.networks),
    })
  }
  return (
    <ConfirmDialog
      title={`Delete network ${network.name}`}
      action="Delete"
      icon="trash"
      onClose={onClose}
      onConfirm={remove}
    >
      <p>The network and its addresses are deleted. No VM may be on it.</p>
      <CommandLine text={`skerry network rm ${shellQuoted(network.name)}`} />
    </ConfirmDialog>
  )
}

/** A name alone where the cloud does not link it. */
const GatewayLink = ({
  gateway: { name = '–', href },
}: {
  readonly gateway: NonNullable<NetworkDocument['edgeGateway']>
}) =>
  href === undefined ? (
    name
  ) : (
    <Link className={page['link']} to={paths.edgeGateway(idOf(href))}>
      {name}
    </Link>
  )

function DetailsCard({ network }: { readonly network: NetworkDocument }) {
  const { configuration, edgeGateway, description, isShared = false } = network
  const scope = configuration?.ipScopes?.ipScope
  const external = configuration?.parentNetwork?.name
  const ranges = scope?.ipRanges?.ipRange ?? []
  const mono = (text: string) => <span className={page['mono']}>{text}</span>
  const servers = [scope?.dns1, scope?.dns2].filter(Boolean).join(', ')
  return (
    <Card title="Details">
      <Facts
        rows={[
          description !== undefined && ['Description', description],
          scope !== undefined && ['Range', mono(rangeText(scope.gateway, scope.netmask) ?? '')],
          scope?.gateway !== undefined && ['Router', mono(scope.gateway)],
          ranges.length > 0 && [
            'Pool',
            <span key="pool">
              {ranges.map(({ startAddress, endAddress }) => (
                <span key={startAddress} className={page['mono']}>
                  {startAddress}–{endAddress}{' '}
                </span>
              ))}
            </span>,
          ],
          ranges.length > 0 && ['Addresses', formatCount(countAddresses(ranges))],
          external !== undefined && ['External network', external],
          scope !== undefined && ['Name servers', servers === '' ? 'none' : mono(servers)],
          scope?.dnsSuffix !== undefined && ['Domain', scope.dnsSuffix],
          edgeGateway && ['Edge gateway', <GatewayLink key="gateway" gateway={edgeGateway} />],
          ['Data centres', isShared ? 'all of the organisation' : 'its own'],
          ['ID', mono(idOf(network.href))],
        ]}
      />
    </Card>
  )
}
