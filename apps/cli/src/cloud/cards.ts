import { attribute, childrenByLocalName, element, text, type Element } from '@skerry/xml'

/** A network card of a VM, as its NetworkConnectionSection shows it. */
export interface SeenCard {
  readonly index: number
  readonly network: string
  readonly address: string | null
  /** On a network with IPv6. */
  readonly ipv6: string | null
  /** The external address of a 1:1 rule for its address. */
  readonly external: string | null
  readonly connected: boolean
}

/** The card that a command line wants. */
export interface WantedCard {
  readonly index: number
  readonly network: string
  /** Default: the cloud chooses one. */
  readonly address?: string | undefined
}

const textIn = (card: Element, name: string): string | undefined =>
  text(childrenByLocalName(card, name)[0])?.trim()

const seenCard = (card: Element): SeenCard => ({
  index: Number(textIn(card, 'NetworkConnectionIndex')),
  network: attribute(card, 'network') ?? '',
  address: textIn(card, 'IpAddress') ?? null,
  ipv6: textIn(card, 'Ipv6Address') ?? null,
  external: textIn(card, 'ExternalIpAddress') ?? null,
  connected: textIn(card, 'IsConnected') === 'true',
})

/** The section of a VM's document about its cards. */
export const cardSectionIn = (vm: Element): Element | undefined =>
  childrenByLocalName(vm, 'NetworkConnectionSection')[0]

const connectionsIn = (section: Element): readonly Element[] =>
  childrenByLocalName(section, 'NetworkConnection')

export const cardsIn = (section: Element): readonly SeenCard[] =>
  connectionsIn(section).map(seenCard)

const sectionOf = (cards: readonly Element[]): Element =>
  element(
    'NetworkConnectionSection',
    { 'xmlns:ovf': 'http://schemas.dmtf.org/ovf/envelope/1' },
    element('ovf:Info', {}, 'Network connections'),
    ...cards,
  )

/** On a direct network only DHCP is valid; on all others the cloud chooses the address in this mode as well. */
function cardOf({ index, network, address }: WantedCard, mac: string | undefined): Element {
  return element(
    'NetworkConnection',
    { network },
    element('NetworkConnectionIndex', {}, index),
    address !== undefined && element('IpAddress', {}, address),
    element('IsConnected', {}, 'true'),
    mac !== undefined && element('MACAddress', {}, mac),
    element('IpAddressAllocationMode', {}, address === undefined ? 'DHCP' : 'MANUAL'),
  )
}

/** The same card, with or without its cable. */
const plugged = (card: Element, connected: boolean): Element => ({
  ...card,
  children: card.children.map((part) =>
    typeof part !== 'string' && part.name === 'IsConnected'
      ? element('IsConnected', {}, String(connected))
      : part,
  ),
})

/**
 * The section with this card on this network. A card that is there already keeps its address and is only connected, which a running
 * VM allows; a new index is a new card.
 */
export function connectCard(section: Element, wanted: WantedCard): Element {
  const all = connectionsIn(section)
  const at = all.findIndex((each) => seenCard(each).index === wanted.index)
  const before = all[at]
  if (!before) return sectionOf([...all, cardOf(wanted, undefined)])
  const { network, address } = seenCard(before)
  const stays =
    network === wanted.network && (wanted.address === undefined || wanted.address === address)
  const card = stays ? plugged(before, true) : cardOf(wanted, textIn(before, 'MACAddress'))
  return sectionOf(all.with(at, card))
}

/** The section with this card disconnected; undefined: there is no such card. */
export function disconnectCard(section: Element, index: number): Element | undefined {
  const all = connectionsIn(section)
  const at = all.findIndex((each) => seenCard(each).index === index)
  const before = all[at]
  return before && sectionOf(all.with(at, plugged(before, false)))
}
