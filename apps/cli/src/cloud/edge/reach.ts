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
  const cards = (await unlessHidden(networkedCards(side, vm))) ?? []
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
  const document = gateway === undefined ? undefined : await unlessHidden(cloud.get(gateway))
  const services = document && servicesOf(document)
  return services && publishedAt(services, address, port)
}

/** Undefined for what the user may not read: then the address of the VM is all that is known. */
async function unlessHidden<Result>(reading: Promise<Result>): Promise<Result | undefined> {
  try {
    return await reading
  } catch (error) {
    const isHidden =
      error instanceof Fault && (error.kind === 'forbidden' || error.kind === 'not-found')
    if (isHidden) return undefined
    throw error
  }
}
