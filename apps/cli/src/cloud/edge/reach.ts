import { Fault } from '@skerry/fault'
import type { Element } from '@skerry/xml'

import type { CloudSession } from '../../vms/cloud-session.ts'
import type { ReachableAddress } from '../../vms/vm-backend.ts'
import { networkedCards, type NetworkedCard } from './find-gateway.ts'
import { publishedAt, type PublishedPort } from './publication.ts'
import { servicesOf } from './seen-gateway.ts'

type Reach = Pick<ReachableAddress, 'address' | 'port' | 'within'>

/**
 * Where a port of a VM is reached: at the external address that leads to it, if one does. Otherwise at its own address, which only its
 * neighbours reach if it is one of a network of the cloud.
 */
export async function reachOf(side: CloudSession, vm: Element, own: PublishedPort): Promise<Reach> {
  const cards = await networkedCards(side, vm)
  for (const card of cards) {
    const published = await publishedCard(side, card, own.port)
    if (published) return published
  }
  return { ...own, within: cards.find(({ address }) => address === own.address)?.network }
}

async function publishedCard(
  { cloud }: CloudSession,
  { external, gateway, address }: NetworkedCard,
  port: number,
): Promise<PublishedPort | undefined> {
  if (external !== null) return { address: external, port }
  if (gateway === undefined) return undefined
  try {
    const services = servicesOf(await cloud.get(gateway))
    return services && publishedAt(services, address, port)
  } catch (error) {
    // A user who may not read the rules has no published address that we could know.
    if (error instanceof Fault && (error.kind === 'forbidden' || error.kind === 'not-found')) {
      return undefined
    }
    throw error
  }
}
