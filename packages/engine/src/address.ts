import { Fault } from '@skerry/fault'
import * as libvirt from '@skerry/libvirt'

import { findVm, readFacts, type Found } from './find-domain.ts'
import { agentAnswers } from './guest.ts'
import type { Host } from './host.ts'
import { macOf } from './mac.ts'
import { findNeighbour } from './neighbours.ts'
import { readPowerOf } from './read-power.ts'
import type { Owner } from './record.ts'

const { DomainInterfaceAddressesSource, IPAddrType } = libvirt

export interface Address {
  readonly address: string
  /** Who knows it: our own DHCP server, the guest itself, or the host as the guest's neighbour. */
  readonly from: 'lease' | 'agent' | 'neighbour'
}

/** The guest's address, or a fault that says why none is known. */
export async function readAddress(host: Host, id: string, owner?: Owner): Promise<Address> {
  const found = await findRunning(host, id, owner)
  const address = await findAddress(host, found)
  if (address) return address
  throw new Fault('conflict', `VM ${id} has no address yet: ${await why(host, found)}`, {
    hint: 'ask again in a few seconds',
  })
}

/**
 * The address of a guest that runs, as far as the host itself knows it: from our DHCP server or, on
 * a bridge, as its neighbour. Nobody waits for the guest's agent, so this is cheap enough for every
 * row of a list.
 */
export async function readLease(host: Host, id: string): Promise<string | undefined> {
  const found = await findVm(host, id)
  const { power } = await readPowerOf(host, found.dom)
  if (power !== 'on' && power !== 'paused') return undefined
  const [leased] = await addresses(host, found, DomainInterfaceAddressesSource.lease)
  return leased ?? (await seenOnBridge(host, found))
}

/** Waits for the address of a guest that is starting. */
export async function waitForAddress(host: Host, id: string, timeoutMs: number): Promise<Address> {
  const found = await findRunning(host, id)
  const { name } = found.dom
  const address = await host.changes.until(name, timeoutMs, () => findAddress(host, found))
  if (address) return address
  const reason = await why(host, found)
  throw new Fault('timed-out', `VM ${id} got no address within ${timeoutMs / 1000} s: ${reason}`)
}

async function findRunning(host: Host, id: string, owner?: Owner): Promise<Found> {
  const found = await findVm(host, id, owner)
  const { power } = await readPowerOf(host, found.dom)
  if (power === 'on' || power === 'paused') return found
  throw new Fault('conflict', `VM ${id} is ${power} and has no address`, {
    hint: `turn VM ${id} on`,
    state: power,
  })
}

/** The guest knows better than a lease that it may have given back; the lease is there sooner. */
async function findAddress(host: Host, found: Found): Promise<Address | undefined> {
  const fromAgent = await addresses(host, found, DomainInterfaceAddressesSource.agent)
  const fromLease = await addresses(host, found, DomainInterfaceAddressesSource.lease)
  const leased = fromLease.find((address) => fromAgent.length === 0 || fromAgent.includes(address))
  if (leased !== undefined) return { address: leased, from: 'lease' }
  const [told] = fromAgent
  if (told !== undefined) return { address: told, from: 'agent' }
  const seen = await seenOnBridge(host, found)
  return seen === undefined ? undefined : { address: seen, from: 'neighbour' }
}

/** Others give out addresses on a bridge; the host knows those that it has spoken with. */
async function seenOnBridge(host: Host, { dom }: Found): Promise<string | undefined> {
  const { bridge, mac } = await readFacts(host, dom)
  return bridge === undefined ? undefined : findNeighbour(bridge, mac)
}

async function why(host: Host, { dom }: Found): Promise<string> {
  if (await agentAnswers(host, dom)) return 'its guest runs but has not asked for one'
  const { bridge } = await readFacts(host, dom)
  return bridge === undefined
    ? 'it has taken none by DHCP and its guest agent does not answer'
    : `its guest agent does not answer, and this machine has seen none on the bridge ${bridge}`
}

/** Those on the card that we gave it first: a guest may have networks of its own inside. */
async function addresses({ link }: Host, found: Found, source: number): Promise<string[]> {
  const { dom, record } = found
  const own = macOf(record.uuid)
  try {
    const { ifaces } = await link.call(libvirt.domainInterfaceAddresses, { dom, source, flags: 0 })
    return ifaces
      .filter(({ name }) => name !== 'lo')
      .sort((a, b) => Number(b.hwaddr === own) - Number(a.hwaddr === own))
      .flatMap(({ addrs }) => addrs)
      .filter(({ type, addr }) => type === IPAddrType.ipv4 && !addr.startsWith('169.254.'))
      .map(({ addr }) => addr)
  } catch (error) {
    if (error instanceof Fault && source === DomainInterfaceAddressesSource.agent) return []
    throw error
  }
}
