// The network cards of a VM, and the section that is sent when one of them changes.
import { isAddress } from '@skerry/vm/ipv4'

import type { ConnectionDocument } from '../../api/documents.ts'
import type { NetworkKind } from './network.ts'

export const allocationModes = ['POOL', 'DHCP', 'MANUAL', 'NONE'] as const
export type ModeOfCard = (typeof allocationModes)[number]

/** A card as the user describes it. */
export interface WrittenCard {
  readonly network: string
  readonly mode: ModeOfCard
  /** For MANUAL. */
  readonly address: string
}

/** The cloud gives no addresses on a direct network: the site does, or the guest has its own. */
export const modesOn = (kind: NetworkKind | undefined): readonly ModeOfCard[] =>
  kind === 'direct' ? ['DHCP', 'NONE'] : allocationModes

/** The card on another network, with a mode that it has there. */
export const onNetwork = (
  card: WrittenCard,
  { name, kind }: { readonly name: string; readonly kind: NetworkKind | undefined },
): WrittenCard => {
  const [first = 'DHCP', ...others] = modesOn(kind)
  const mode = [first, ...others].includes(card.mode) ? card.mode : first
  return { ...card, network: name, mode }
}

/** How many cards a VM can have. */
export const CARDS_MAX = 10

export const writtenCard = (card: ConnectionDocument): WrittenCard => ({
  network: card.network,
  mode: allocationModes.find((mode) => mode === card.ipAddressAllocationMode) ?? 'POOL',
  address: card.ipAddress ?? '',
})

export const whyNotCard = ({ network, mode, address }: WrittenCard): string | undefined => {
  if (network === '') return 'the card needs a network'
  return mode === 'MANUAL' && !isAddress(address) ? 'the card needs an IPv4 address' : undefined
}

type SentCard = Omit<ConnectionDocument, 'externalIpAddress' | 'ipv6Address'>

/** What is sent of a card: the cloud shows more than it takes. */
const sent = ({
  network,
  networkConnectionIndex,
  ipAddress,
  isConnected,
  macAddress,
  ipAddressAllocationMode,
}: SentCard): SentCard => ({
  network,
  networkConnectionIndex,
  ...(ipAddress !== undefined && ipAddressAllocationMode === 'MANUAL' && { ipAddress }),
  isConnected,
  ...(macAddress !== undefined && { macAddress }),
  ipAddressAllocationMode,
})

const described = ({ network, mode, address }: WrittenCard) => ({
  network,
  ipAddressAllocationMode: mode,
  ...(mode === 'MANUAL' && { ipAddress: address }),
})

type Cards = readonly ConnectionDocument[]

export const withoutCard = (cards: Cards, index: number): SentCard[] =>
  cards.filter((card) => card.networkConnectionIndex !== index).map(sent)

export const withConnected = (cards: Cards, index: number, isConnected: boolean): SentCard[] =>
  cards.map((card) => sent(card.networkConnectionIndex === index ? { ...card, isConnected } : card))

/** The card with this index becomes as described; without an index a card is added. */
export function withCard(cards: Cards, index: number | undefined, wanted: WrittenCard): SentCard[] {
  if (index !== undefined) {
    return cards.map((card) =>
      sent(card.networkConnectionIndex === index ? { ...card, ...described(wanted) } : card),
    )
  }
  const taken = new Set(cards.map((card) => card.networkConnectionIndex))
  const free = Array.from({ length: CARDS_MAX }, (_, at) => at).find((at) => !taken.has(at)) ?? 0
  const added = { networkConnectionIndex: free, isConnected: true, ...described(wanted) }
  return [...cards.map(sent), added]
}
