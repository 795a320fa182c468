import { linkOf } from '../../api/documents.ts'
import type {
  ExternalAddressDocument,
  ExternalAddressesDocument,
} from '../../api/edge-documents.ts'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { ErrorState } from '../../components/empty-state.tsx'
import { Table, type PageTableColumn } from '../../components/table.tsx'
import { useSession } from '../../data/session.ts'
import { useChange } from '../../data/use-change.ts'
import { useDocument } from '../../data/use-documents.ts'
import { ownAddressOf } from '../../model/networks/edge-gateway.ts'
import { en } from '../../text/en.ts'
import type { GatewayTabProps } from './gateway-tab.ts'

import page from '../../styles/page.module.css'

/** The external addresses that the organisation took. */
export function AddressesTab({ gateway }: GatewayTabProps) {
  const { data, error, refetch } = useDocument<ExternalAddressesDocument>(
    linkOf(gateway, 'down', 'externalAddresses'),
  )
  const { role } = useSession()
  const { makeChange, isPending } = useChange<ExternalAddressDocument>()
  const addHref = linkOf(data, 'add')
  const take = (): void =>
    makeChange({
      href: addHref ?? '',
      method: 'POST',
      body: {},
      success: 'Took an external address',
      failure: 'No external address was taken',
    })
  const release = (address: ExternalAddressDocument): void =>
    makeChange({
      href: linkOf(address, 'remove') ?? '',
      method: 'DELETE',
      success: `Released ${address.ipAddress}`,
      failure: `${address.ipAddress} was not released`,
    })
  const tools: PageTableColumn<ExternalAddressDocument> = {
    key: 'tools',
    title: 'Actions',
    isTitleHidden: true,
    isNumeric: true,
    isEssential: true,
    cell: (address) => (
      <Button
        small
        tone="plain"
        icon="close"
        label={`Release ${address.ipAddress}`}
        unavailable={whyNotRelease(address, addHref === undefined, role)}
        onClick={() => release(address)}
      >
        Release
      </Button>
    ),
  }
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />
  return (
    <Card
      title="External addresses"
      flush
      tools={
        <Button
          small
          icon="plus"
          unavailable={
            !data
              ? 'the addresses are being read'
              : addHref === undefined
                ? en.missingRight(role, 'network:edit')
                : isPending
                  ? 'the change is being sent'
                  : undefined
          }
          onClick={take}
        >
          Take an address
        </Button>
      }
    >
      <p className={`${page['inset']} ${page['soft']}`}>
        Its own address, {ownAddressOf(gateway)}, is for forwarded ports and for what leaves. A VM
        that needs all ports needs an address that the organisation took.
      </p>
      <Table
        label="External addresses"
        rows={data?.externalAddress ?? []}
        keyOf={({ ipAddress }) => ipAddress}
        empty={
          data
            ? 'The organisation took no address of this external network.'
            : 'The addresses are being read.'
        }
        columns={[...columns, tools]}
      />
    </Card>
  )
}

const whyNotRelease = (
  address: ExternalAddressDocument,
  isReader: boolean,
  role: string,
): string | undefined => {
  if (isReader) return en.missingRight(role, 'network:edit')
  return linkOf(address, 'remove') === undefined
    ? 'a rule uses it; remove the rule first'
    : undefined
}

const columns: readonly PageTableColumn<ExternalAddressDocument>[] = [
  {
    key: 'address',
    title: 'Address',
    isEssential: true,
    cell: ({ ipAddress }) => <span className={page['mono']}>{ipAddress}</span>,
  },
  {
    key: 'use',
    title: 'Use',
    isEssential: true,
    cell: ({ isInUse = false }) => (isInUse ? 'in a rule' : 'free'),
  },
]
