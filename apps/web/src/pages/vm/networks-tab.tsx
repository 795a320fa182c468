import { useState } from 'react'
import { Link } from 'react-router'

import { idOf } from '../../api/client.ts'
import type { ConnectionDocument, TaskDocument } from '../../api/documents.ts'
import { paths } from '../../app/paths.ts'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { Icon } from '../../components/icon.tsx'
import { Menu, type MenuItem } from '../../components/menu.tsx'
import { Table, type PageTableColumn } from '../../components/table.tsx'
import { useSession } from '../../data/session.ts'
import { useChange } from '../../data/use-change.ts'
import { useRecords } from '../../data/use-record-list.ts'
import { CARDS_MAX, withCard, withConnected, withoutCard } from '../../model/networks/cards.ts'
import { kindOfLink } from '../../model/networks/network.ts'
import type { VmDetails } from '../../model/vm.ts'
import { CardDialog } from './card-dialog.tsx'
import { PublishDialog } from './publish-dialog.tsx'

import page from '../../styles/page.module.css'

/** Sends all cards of a VM: a request replaces the list. */
export function useCardsChange(vm: VmDetails) {
  const { makeChange, isPending } = useChange<TaskDocument>()
  const send = (networkConnection: readonly unknown[], what: string, onDone?: () => void): void =>
    makeChange({
      href: vm.cardsHref ?? '',
      method: 'PUT',
      body: { networkConnection },
      success: `${what} of ${vm.name}`,
      failure: `The cards of ${vm.name} were not changed`,
      ...(onDone && { onDone }),
    })
  return { send, isPending }
}

const OFF = 'networks and addresses change while the VM is off'

const whyNot = (vm: VmDetails): string | undefined =>
  vm.cardsHref === undefined
    ? 'your role may not change this VM, or it has the network of its host'
    : vm.power === 'off'
      ? undefined
      : OFF

export function NetworksTab({ vm }: { readonly vm: VmDetails }) {
  const cards = vm.cards ?? []
  const [edited, setEdited] = useState<ConnectionDocument | 'new'>()
  const [published, setPublished] = useState<PublishableCard>()
  const gatewayOf = useGatewayOf()
  const { data } = useRecords('orgVdcNetwork', { sort: 'name' })
  const networks = data?.records ?? []
  const { send } = useCardsChange(vm)
  const unavailable = whyNot(vm)
  const save: Parameters<typeof CardDialog>[0]['onSave'] = (wanted) =>
    send(
      withCard(cards, edited === 'new' ? undefined : edited?.networkConnectionIndex, wanted),
      'Changing the cards',
      () => setEdited(undefined),
    )
  const columns: readonly PageTableColumn<ConnectionDocument>[] = [
    ...cardColumns,
    {
      key: 'network',
      title: 'Network',
      isEssential: true,
      cell: ({ network }) => {
        const found = networks.find(({ name }) => name === network)
        if (!found) return network
        return (
          <Link className={page['strong']} to={paths.network(idOf(found.href))}>
            {network}
          </Link>
        )
      },
    },
    ...addressColumns,
    {
      key: 'tools',
      title: 'Actions',
      isTitleHidden: true,
      isNumeric: true,
      isEssential: true,
      cell: (card) => (
        <CardMenu
          vm={vm}
          card={card}
          isOnly={cards.length === 1}
          publish={publishItem(card, gatewayOf?.(card.network), !gatewayOf, setPublished)}
          onEdit={() => setEdited(card)}
        />
      ),
    },
  ]
  return (
    <Card
      title="Network cards"
      flush
      tools={
        <Button
          small
          icon="plus"
          unavailable={
            unavailable ??
            (cards.length >= CARDS_MAX
              ? `a VM has ${CARDS_MAX} at most`
              : data
                ? undefined
                : 'the networks are being read')
          }
          onClick={() => setEdited('new')}
        >
          Add card
        </Button>
      }
    >
      <Table
        label="Network cards"
        rows={cards}
        keyOf={(card) => String(card.networkConnectionIndex)}
        empty="The host has not reported a card of this VM yet."
        columns={columns}
      />
      {edited !== undefined && (
        <CardDialog
          card={edited === 'new' ? undefined : edited}
          networks={networks.map(({ name, linkType }) => ({ name, kind: kindOfLink(linkType) }))}
          onSave={save}
          onClose={() => setEdited(undefined)}
        />
      )}
      {published && (
        <PublishDialog {...published} vmName={vm.name} onClose={() => setPublished(undefined)} />
      )}
    </Card>
  )
}

interface PublishableCard {
  readonly card: number
  readonly address: string
  readonly gatewayHref: string
}

/** The edge gateway of a network by its name. undefined: they are being read. */
function useGatewayOf(): ((network: string) => string | undefined) | undefined {
  const { rights } = useSession()
  const isEnabled = rights.has('network:read')
  const gateways = useRecords('edgeGateway', { isEnabled })
  const networks = useRecords('orgVdcNetwork', { sort: 'name' })
  if (gateways.isLoading || networks.isLoading) return undefined
  return (name) => {
    const network = networks.data?.records.find((each) => each.name === name)
    return gateways.data?.records.find(
      (gateway) =>
        network &&
        kindOfLink(network.linkType) === 'routed' &&
        gateway.name === network.connectedTo &&
        gateway.vdcName === network.vdcName,
    )?.href
  }
}

function publishItem(
  { ipAddress, networkConnectionIndex: card }: ConnectionDocument,
  gatewayHref: string | undefined,
  isReading: boolean,
  onPublish: (card: PublishableCard) => void,
): MenuItem {
  const unavailable = isReading
    ? 'the edge gateways are being read'
    : gatewayHref === undefined
      ? 'its network has no edge gateway; a routed network has one'
      : ipAddress === undefined
        ? 'the card has no address'
        : undefined
  return {
    text: 'Publish a port…',
    icon: 'out',
    unavailable,
    onSelect: () => onPublish({ card, address: ipAddress ?? '', gatewayHref: gatewayHref ?? '' }),
  }
}

const cardColumns: readonly PageTableColumn<ConnectionDocument>[] = [
  {
    key: 'index',
    title: 'Card',
    width: '4rem',
    isEssential: true,
    cell: ({ networkConnectionIndex }) => networkConnectionIndex,
  },
]

const addressColumns: readonly PageTableColumn<ConnectionDocument>[] = [
  {
    key: 'address',
    title: 'Address',
    isEssential: true,
    cell: ({ ipAddress, ipv6Address, externalIpAddress }) => (
      <div className={page['mono']}>
        {ipAddress ?? (ipv6Address === undefined && 'none')}
        {externalIpAddress !== undefined && ` (outside ${externalIpAddress})`}
        {ipv6Address !== undefined && <div className={page['breakable']}>{ipv6Address}</div>}
      </div>
    ),
  },
  {
    key: 'mode',
    title: 'Given by',
    cell: ({ ipAddressAllocationMode: mode }) => <span className={page['soft']}>{mode}</span>,
  },
  {
    key: 'mac',
    title: 'MAC address',
    cell: ({ macAddress }) => <span className={page['mono']}>{macAddress}</span>,
  },
  {
    key: 'cable',
    title: 'Cable',
    cell: ({ isConnected }) => (
      <span className={`${page['state']} ${isConnected ? page['good'] : page['idle']}`}>
        <Icon name={isConnected ? 'check' : 'offline'} size={14} />
        {isConnected ? 'Connected' : 'Disconnected'}
      </span>
    ),
  },
]

interface CardMenuProps {
  readonly vm: VmDetails
  readonly card: ConnectionDocument
  readonly isOnly: boolean
  readonly publish: MenuItem
  readonly onEdit: () => void
}

function CardMenu({ vm, card, isOnly, publish, onEdit }: CardMenuProps) {
  const { send } = useCardsChange(vm)
  const { networkConnectionIndex: index, isConnected } = card
  const cards = vm.cards ?? []
  const unavailable = whyNot(vm)
  return (
    <Menu
      trigger={<Button small tone="plain" icon="more" label={`Actions of card ${index}`} />}
      groups={[
        {
          items: [
            {
              text: isConnected ? 'Disconnect' : 'Connect',
              icon: isConnected ? 'offline' : 'check',
              unavailable: unavailable === OFF ? undefined : unavailable,
              onSelect: () =>
                send(
                  withConnected(cards, index, !isConnected),
                  isConnected ? `Disconnecting card ${index}` : `Connecting card ${index}`,
                ),
            },
            publish,
            { text: 'Change network', icon: 'network', unavailable, onSelect: onEdit },
            {
              text: 'Remove',
              icon: 'trash',
              isDangerous: true,
              unavailable: unavailable ?? (isOnly ? 'a VM has at least one card' : undefined),
              onSelect: () => send(withoutCard(cards, index), `Removing card ${index}`),
            },
          ],
        },
      ]}
    />
  )
}
