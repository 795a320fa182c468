import { inside, linkTo, vmIn } from '@skerry/cloud-client'
import { attribute, childrenByLocalName, find, text, type Element } from '@skerry/xml'

import type { CloudSession } from '../../vms/cloud-session.ts'
import { cardsIn, cardSectionIn } from '../cards.ts'
import { kinds, oneNamed } from '../named.ts'
import { onlyOne } from '../only-candidate.ts'

export const edgeOption = {
  edge: { type: 'string', value: 'EDGE', doc: 'edge gateway (default: the only one)' },
} as const

/** The edge gateway that a command line names, or the only one. */
export async function gatewayFor(side: CloudSession, name: string | undefined): Promise<string> {
  if (name !== undefined) return (await oneNamed(side, kinds.edge, name)).href
  return onlyOne(side, kinds.edge, {
    none: 'there is no edge gateway',
    noneHint: 'the first VM or routed network of the organisation makes one: skerry network list',
    several: 'there are several edge gateways',
    option: '--edge',
  })
}

/** A card of a VM with an address on a network of the cloud. */
export interface NetworkedCard {
  readonly index: number
  readonly network: string
  readonly address: string
  /** The edge gateway of its network, if it has one that the user may read. */
  readonly gateway?: string
  /** The external address of a 1:1 rule. */
  readonly external: string | null
}

/** The cards of a VM on networks of the cloud that are not the site's own. Two data centres may have networks of the same name. */
export async function networkedCards(
  { cloud }: CloudSession,
  vm: Element,
): Promise<readonly NetworkedCard[]> {
  const section = cardSectionIn(vm)
  const cards = section ? cardsIn(section) : []
  if (cards.every(({ address }) => address === null)) return []
  const vapp = await cloud.get(`/api/vApp/${vmIn(vm).vapp}`)
  const vdc = await cloud.get(linkTo(vapp, 'up', 'vdc'))
  const networks = inside(vdc, 'AvailableNetworks', 'Network')
  const found: NetworkedCard[] = []
  for (const { index, network: name, address, external } of cards) {
    const href = attribute(
      networks.find((each) => attribute(each, 'name') === name),
      'href',
    )
    if (href === undefined || address === null) continue
    const network = await cloud.get(href)
    if (text(find(network, 'Configuration', 'FenceMode')) === 'bridged') continue
    const [reference] = childrenByLocalName(network, 'EdgeGateway')
    const gateway = attribute(reference, 'href')
    found.push({
      index,
      network: name,
      address,
      external,
      ...(gateway !== undefined && { gateway }),
    })
  }
  return found
}
