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
  const { dom } = await findVm(host, id, owner)
  const { power } = await readPowerOf(host, dom)
  if (power === 'off' || power === 'suspended') {
    throw new Fault('conflict', `VM ${id} is ${power} and has no address`, {
      hint: `turn VM ${id} on`,
    })
  }
  // The guest knows better than a lease that it may have given back; the lease is there sooner.
  const fromAgent = await addresses(host, dom, DomainInterfaceAddressesSource.agent)
  const fromLease = await addresses(host, dom, DomainInterfaceAddressesSource.lease)
  const both = fromLease.find((address) => fromAgent.includes(address))
  const [agent] = fromAgent
  const [lease] = fromLease
  if (both !== undefined || (lease !== undefined && agent === undefined)) {
    return { address: both ?? (lease as string), from: 'lease' }
  }
  if (agent !== undefined) return { address: agent, from: 'agent' }
  throw new Fault('unavailable', `VM ${id} has no address yet: ${await why(host, dom)}`, {
    hint: 'ask again in a few seconds',
  })
}

/** Waits for the address of a guest that is starting. */
export async function waitForAddress(host: Host, id: string, timeoutMs: number): Promise<Address> {
  const { dom } = await findVm(host, id)
  let last: unknown
  const found = await host.changes.until(dom.name, timeoutMs, async () => {
    try {
      return await readAddress(host, id)
    } catch (error) {
      if (!(error instanceof Fault) || error.kind !== 'unavailable') throw error
      last = error
      return undefined
    }
  })
  if (found) return found
  throw new Fault('timed-out', `VM ${id} got no address within ${timeoutMs / 1000} s`, {
    cause: last,
  })
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
