import { createSocket } from 'node:dgram'
import { setTimeout as sleep } from 'node:timers/promises'

import { Fault } from '@skerry/fault'
import * as libvirt from '@skerry/libvirt'

import { findVm, readFacts, type FoundVm } from '../domain/find-domain.ts'
import { macOf } from '../domain/mac.ts'
import { readPowerOf } from '../domain/read-power.ts'
import { hostSegment } from '../domain/segment.ts'
import type { Host } from '../host/host.ts'
import type { Owner } from '../host/owner.ts'
import { leasedOn } from '../network/dhcp-server.ts'
import { findNeighbours } from '../network/neighbours.ts'
import {
  addressCounts,
  bridgeNetwork,
  hostOnBridge,
  ownAddresses,
  segmentNetwork,
} from './guest-network.ts'
import { claimedAddresses } from './guest.ts'

export interface GuestAddress {
  readonly address: string
  /** The source: our own DHCP server, the guest agent, or the host's neighbour table. */
  readonly from: 'lease' | 'agent' | 'neighbour'
  /** This machine's address on the same network; connections to the guest use it as their source. */
  readonly local: string
}

/** The result of one lookup. */
interface AddressLookup {
  readonly address?: GuestAddress
  readonly agent: 'answers' | 'silent' | 'not asked'
  readonly bridge: string | undefined
}

/** The guest's address, or a fault with the reason why none is known. */
export async function readAddress(host: Host, id: string, owner?: Owner): Promise<GuestAddress> {
  const found = await findRunning(host, id, owner)
  const { address, ...looked } = await lookUpAddress(host, found)
  if (address) return address
  throw new Fault('conflict', `VM ${id} has no address yet: ${whyNone(looked)}`, {
    hint: 'retry in a few seconds',
  })
}

/**
 * The address of a running guest as far as the host itself knows it: from our DHCP server or, on a
 * bridge, from the neighbour table. It never waits for the guest agent, so it is cheap enough for
 * every row of a list.
 */
export async function readLease(host: Host, id: string): Promise<string | undefined> {
  const found = await findVm(host, id)
  const { power } = await readPowerOf(host, found.dom)
  if (power !== 'on' && power !== 'paused') return undefined
  return (await knownToHost(host, found))?.address
}

/** Waits until a starting guest has an address. */
export async function waitForAddress(
  host: Host,
  id: string,
  timeoutMs: number,
): Promise<GuestAddress> {
  const found = await findRunning(host, id)
  const { name } = found.dom
  let last: AddressLookup | undefined
  const address = await host.changes.until(name, timeoutMs, async () => {
    last = await lookUpAddress(host, found)
    return last.address
  })
  if (address) return address
  const reason = whyNone(last ?? { agent: 'silent', bridge: undefined })
  throw new Fault('timed-out', `VM ${id} got no address within ${timeoutMs / 1000} s: ${reason}`)
}

async function findRunning(host: Host, id: string, owner?: Owner): Promise<FoundVm> {
  const found = await findVm(host, id, owner)
  const { power } = await readPowerOf(host, found.dom)
  if (power === 'on' || power === 'paused') return found
  throw new Fault('conflict', `VM ${id} is ${power} and has no address`, {
    hint: `turn VM ${id} on`,
    state: power,
  })
}

/**
 * Sources on the host come first; the guest agent is queried only if they know nothing. The
 * agent's answer counts on our own networks only, and there only for an address that no other VM
 * has.
 */
async function lookUpAddress(host: Host, found: FoundVm): Promise<AddressLookup> {
  const known = await knownToHost(host, found)
  if (known) return { address: known, agent: 'not asked', bridge: undefined }
  const { bridge, mac } = await readFacts(host, found.dom)
  const claims = await claimedAddresses(host, found.dom, mac)
  if (claims === undefined) return { agent: 'silent', bridge }
  const address =
    bridge === undefined
      ? await claimedOnSegment(host, found, claims)
      : await claimedOnBridge(bridge, mac, claims)
  return { ...(address && { address }), agent: 'answers', bridge }
}

async function claimedOnBridge(
  bridge: string,
  mac: string,
  claims: readonly string[],
): Promise<GuestAddress | undefined> {
  await speakTo(bridge, claims)
  return seenOnBridge(bridge, mac)
}

async function claimedOnSegment(
  host: Host,
  { record }: FoundVm,
  claims: readonly string[],
): Promise<GuestAddress | undefined> {
  if (claims.length === 0) return undefined
  const mac = macOf(record.uuid)
  const network = segmentNetwork(record, host.records.all(), ownAddresses())
  const lent = await leasedOn(host, record.network ?? hostSegment.network, mac)
  const address = claims.find((each) => addressCounts(each, network) && !lent.has(each))
  return address === undefined ? undefined : { address, from: 'agent', local: network.host }
}

async function knownToHost(host: Host, found: FoundVm): Promise<GuestAddress | undefined> {
  const leased = await leaseOf(host, found)
  if (leased) return leased
  const { bridge, mac } = await readFacts(host, found.dom)
  return bridge === undefined ? undefined : seenOnBridge(bridge, mac)
}

/** Prefers the address reserved for the VM, if the guest has leased it. */
async function leaseOf(host: Host, { dom, record }: FoundVm): Promise<GuestAddress | undefined> {
  const source = libvirt.DomainInterfaceAddressesSource.lease
  const requested = { dom, source, flags: 0 }
  const { ifaces } = await host.link.call(libvirt.domainInterfaceAddresses, requested)
  const own = macOf(record.uuid)
  const leased = ifaces
    .filter(({ hwaddr }) => hwaddr === own)
    .flatMap(({ addrs }) => addrs.map(({ addr }) => addr))
    .sort((a, b) => Number(b === record.address) - Number(a === record.address))
  if (leased.length === 0) return undefined
  const network = segmentNetwork(record, host.records.all(), ownAddresses())
  const address = leased.find((each) => addressCounts(each, network))
  return address === undefined ? undefined : { address, from: 'lease', local: network.host }
}

/** Foreign DHCP servers assign addresses on a bridge; the host knows those it has exchanged packets with. */
async function seenOnBridge(bridge: string, mac: string): Promise<GuestAddress | undefined> {
  const seen = await findNeighbours(bridge, mac)
  const machine = ownAddresses()
  const network = bridgeNetwork(bridge, seen, machine)
  const address = seen.find((each) => addressCounts(each, network))
  const local = address === undefined ? undefined : hostOnBridge(bridge, address, machine)
  return address === undefined || local === undefined
    ? undefined
    : { address, from: 'neighbour', local }
}

/** The discard port: no service listens there, but sending to it triggers an ARP request for the address. */
const DISCARD = 9
const LOOKS = 5
const LOOK_MS = 40

/**
 * Sends one datagram to each address that a guest claims on a bridge, so that the neighbour table
 * shows which card really has it. Nothing is sent outside the bridge's own networks.
 */
async function speakTo(bridge: string, claims: readonly string[]): Promise<void> {
  const machine = ownAddresses()
  const network = bridgeNetwork(bridge, claims, machine)
  const near = claims.filter((each) => addressCounts(each, network))
  for (const address of near) {
    const socket = createSocket('udp4')
    // The address may be unused; then there is nothing to see either.
    socket.on('error', () => undefined)
    await new Promise<void>((resolve) => {
      socket.bind({ address: hostOnBridge(bridge, address, machine) ?? '0.0.0.0' }, () =>
        socket.send('', DISCARD, address, () => resolve()),
      )
      socket.once('error', () => resolve())
    })
    socket.close()
  }
  if (near.length === 0) return
  for (let look = 0; look < LOOKS; look++) {
    await sleep(LOOK_MS)
    const all = await findNeighbours(bridge)
    if (near.every((each) => all.includes(each))) return
  }
}

function whyNone({ agent, bridge }: Omit<AddressLookup, 'address'>): string {
  if (agent !== 'silent') {
    return bridge === undefined
      ? 'the guest runs but has not requested one'
      : `the guest runs, but this machine has not seen its address on the bridge ${bridge}`
  }
  return bridge === undefined
    ? 'it has no DHCP lease and its guest agent does not answer'
    : `its guest agent does not answer, and this machine has not seen its address on the bridge ${bridge}`
}
