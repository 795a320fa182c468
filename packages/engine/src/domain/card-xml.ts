import type { Nic } from '@skerry/vm'
import { attribute, children, element, find, type Element } from '@skerry/xml'

import type { DomainDefinition } from '../host/definition.ts'
import type { Datapath } from '../host/known-overlay.ts'
import { hostSegment } from './segment.ts'

/** The bridge of Open vSwitch that OVN connects across hosts; its name is OVN's. */
export const OVERLAY_BRIDGE = 'br-int'

type CardsOf = Pick<DomainDefinition, 'mac' | 'bridge' | 'network' | 'overlay'>

/** The network cards of a guest, in the order of their indexes. */
export function cards({ mac, bridge, network, overlay }: CardsOf): Element[] {
  if (overlay) return byIndex(overlay.nics).map((nic) => overlayCard(nic, overlay.datapath))
  return [
    element(
      'interface',
      { type: bridge === undefined ? 'network' : 'bridge' },
      element('mac', { address: mac }),
      element(
        'source',
        bridge === undefined ? { network: network ?? hostSegment.network } : { bridge },
      ),
      element('model', { type: 'virtio' }),
    ),
  ]
}

const byIndex = (nics: readonly Nic[]): Nic[] => nics.toSorted((a, b) => a.index - b.index)

function overlayCard({ id, mac, mtu, connected }: Nic, datapath: Datapath): Element {
  return element(
    'interface',
    { type: 'bridge' },
    element('mac', { address: mac }),
    element('source', { bridge: OVERLAY_BRIDGE }),
    element('virtualport', { type: 'openvswitch' }, element('parameters', { interfaceid: id })),
    element('model', { type: 'virtio' }),
    datapath === 'netdev' && withoutOffloads(),
    element('mtu', { size: mtu }),
    linkOf(connected),
  )
}

/** Open vSwitch's own process drops packets whose checksum the guest left to its card. */
function withoutOffloads(): Element {
  const guest = { csum: 'off', tso4: 'off', tso6: 'off', ecn: 'off', ufo: 'off' }
  return element(
    'driver',
    { name: 'qemu' },
    element('host', { ...guest, gso: 'off' }),
    element('guest', guest),
  )
}

const linkOf = (connected: boolean): Element =>
  element('link', { state: connected ? 'up' : 'down' })

/** A card on a network across hosts, as a domain has it. */
export type PluggedNic = Pick<Nic, 'id' | 'mac' | 'mtu' | 'connected'>

/** The cards of a dumped domain; undefined if it has a card of another kind. */
export function readPlugged(domain: Element | undefined): PluggedNic[] | undefined {
  const all = children(find(domain, 'devices'), 'interface')
  if (!all.every(isPlugged)) return undefined
  return all.map((card) => ({
    id: idOf(card),
    mac: attribute(find(card, 'mac'), 'address') ?? '',
    mtu: Number(attribute(find(card, 'mtu'), 'size') ?? 0),
    connected: attribute(find(card, 'link'), 'state') !== 'down',
  }))
}

export const isPlugged = (card: Element | undefined): boolean =>
  attribute(find(card, 'virtualport'), 'type') === 'openvswitch'

const idOf = (card: Element): string =>
  attribute(find(card, 'virtualport', 'parameters'), 'interfaceid') ?? ''

/** Whether a domain has exactly these cards, with these links. */
export function hasCards(
  plugged: readonly PluggedNic[] | undefined,
  nics: readonly Nic[],
): boolean {
  const shape = (list: readonly PluggedNic[]) =>
    JSON.stringify(list.map(({ id, mac, mtu, connected }) => [id, mac, mtu, connected]))
  return plugged !== undefined && shape(plugged) === shape(byIndex(nics))
}

/** The cards of a dumped domain whose links differ from these, as they should be. */
export function otherLinks(domain: Element, nics: readonly Nic[]): Element[] {
  const plugged = children(find(domain, 'devices'), 'interface').filter(isPlugged)
  return plugged.flatMap((card) => {
    const wanted = nics.find(({ id }) => id === idOf(card))?.connected
    const now = attribute(find(card, 'link'), 'state') !== 'down'
    if (wanted === undefined || wanted === now) return []
    const rest = card.children.filter((part) => typeof part === 'string' || part.name !== 'link')
    return [element('interface', { ...card.attributes }, ...rest, linkOf(wanted))]
  })
}
