import { Fault } from '@skerry/fault'
import * as libvirt from '@skerry/libvirt'

import { findVm } from './find-domain.ts'
import { agentAnswers } from './guest.ts'
import type { Host } from './host.ts'
import { readPowerOf } from './read-power.ts'
import type { Owner } from './record.ts'

const { DomainInterfaceAddressesSource, IPAddrType } = libvirt

export interface Address {
  readonly address: string
  /** Who knows it: our own DHCP server, or the guest itself. */
  readonly from: 'lease' | 'agent'
}

/** The guest's address, or a fault that says why none is known. */
export async function readAddress(host: Host, id: string, owner?: Owner): Promise<Address> {
  const dom = await findRunning(host, id, owner)
  const found = await findAddress(host, dom)
  if (found) return found
  throw new Fault('conflict', `VM ${id} has no address yet: ${await why(host, dom)}`, {
    hint: 'ask again in a few seconds',
  })
}

/**
 * The address that our DHCP server gave a guest that runs. Nobody waits for the guest's agent, so
 * this is cheap enough for every row of a list.
 */
export async function readLease(host: Host, id: string): Promise<string | undefined> {
  const { dom } = await findVm(host, id)
  const { power } = await readPowerOf(host, dom)
  if (power !== 'on' && power !== 'paused') return undefined
  return (await addresses(host, dom, DomainInterfaceAddressesSource.lease))[0]
}

/** Waits for the address of a guest that is starting. */
export async function waitForAddress(host: Host, id: string, timeoutMs: number): Promise<Address> {
  const dom = await findRunning(host, id)
  const found = await host.changes.until(dom.name, timeoutMs, () => findAddress(host, dom))
  if (found) return found
  const reason = await why(host, dom)
  throw new Fault('timed-out', `VM ${id} got no address within ${timeoutMs / 1000} s: ${reason}`)
}

async function findRunning(host: Host, id: string, owner?: Owner): Promise<libvirt.Domain> {
  const { dom } = await findVm(host, id, owner)
  const { power } = await readPowerOf(host, dom)
  if (power === 'on' || power === 'paused') return dom
  throw new Fault('conflict', `VM ${id} is ${power} and has no address`, {
    hint: `turn VM ${id} on`,
    state: power,
  })
}

/** The guest knows better than a lease that it may have given back; the lease is there sooner. */
async function findAddress(host: Host, dom: libvirt.Domain): Promise<Address | undefined> {
  const fromAgent = await addresses(host, dom, DomainInterfaceAddressesSource.agent)
  const fromLease = await addresses(host, dom, DomainInterfaceAddressesSource.lease)
  const leased = fromLease.find((address) => fromAgent.length === 0 || fromAgent.includes(address))
  if (leased !== undefined) return { address: leased, from: 'lease' }
  const [address] = fromAgent
  return address === undefined ? undefined : { address, from: 'agent' }
}

async function why(host: Host, dom: libvirt.Domain): Promise<string> {
  return (await agentAnswers(host, dom))
    ? 'its guest runs but has not asked for one'
    : 'it has taken none by DHCP and its guest agent does not answer'
}

async function addresses({ link }: Host, dom: libvirt.Domain, source: number): Promise<string[]> {
  try {
    const { ifaces } = await link.call(libvirt.domainInterfaceAddresses, { dom, source, flags: 0 })
    return ifaces
      .filter(({ name }) => name !== 'lo')
      .flatMap(({ addrs }) => addrs)
      .filter(({ type, addr }) => type === IPAddrType.ipv4 && !addr.startsWith('169.254.'))
      .map(({ addr }) => addr)
  } catch (error) {
    if (error instanceof Fault && source === DomainInterfaceAddressesSource.agent) return []
    throw error
  }
}
