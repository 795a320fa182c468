import * as libvirt from '@skerry/libvirt'
import { element, renderElement } from '@skerry/xml'

import { hostSegment, type Segment } from '../domain/segment.ts'
import type { LibvirtLink } from '../host/link.ts'
import { fixedAddressesDirectory, type Paths } from '../host/paths.ts'
import { saysLibvirt } from '../host/to-fault.ts'

export const NETWORK_BYTES_MAX = 4 * 1024 * 1024

interface NetworkContext {
  readonly link: LibvirtLink
  readonly paths: Paths
}

/** Defines the network if it is missing and starts it if it is inactive; returns whether it started it. */
export async function ensureNetwork(
  { link, paths }: NetworkContext,
  segment: Segment = hostSegment,
): Promise<{ readonly started: boolean }> {
  const net = await findNetwork({ link, paths }, segment)
  const { active } = await link.call(libvirt.networkIsActive, { net })
  if (active === 1) return { started: false }
  try {
    await link.call(libvirt.networkCreate, { net })
  } catch (error) {
    // Another process started it in between.
    if (!saysLibvirt(error, libvirt.ErrorCode.operationInvalid)) throw error
  }
  return { started: true }
}

/** Defines it if it is missing. */
export async function findNetwork(
  { link, paths }: NetworkContext,
  segment: Segment = hostSegment,
): Promise<libvirt.Network> {
  return (
    (await lookUpNetwork(link, segment.network)) ??
    (await link.call(libvirt.networkDefineXml, { xml: networkXml(segment, paths) })).net
  )
}

export async function lookUpNetwork(
  link: LibvirtLink,
  name: string,
): Promise<libvirt.Network | undefined> {
  try {
    return (await link.call(libvirt.networkLookupByName, { name })).net
  } catch (error) {
    if (saysLibvirt(error, libvirt.ErrorCode.noNetwork)) return undefined
    throw error
  }
}

/** The network XML; with the uuid of an existing network it replaces that one. */
export function networkXml(segment: Segment, paths: Paths, uuid?: string): string {
  const { network, bridge, host, mask, first, last } = segment
  const entries = fixedAddressesDirectory(paths, segment === hostSegment ? undefined : network)
  return renderElement(
    element(
      'network',
      { 'xmlns:dnsmasq': 'http://libvirt.org/schemas/network/dnsmasq/1.0' },
      element('name', {}, network),
      uuid !== undefined && element('uuid', {}, uuid),
      element('forward', { mode: 'nat' }),
      element('bridge', { name: bridge, stp: 'off', delay: 0 }),
      element(
        'ip',
        { address: host, netmask: mask },
        element('dhcp', {}, element('range', { start: first, end: last })),
      ),
      // There is no other DHCP server here, so dnsmasq need not probe an address for 3 s before offering it.
      element(
        'dnsmasq:options',
        {},
        element('dnsmasq:option', { value: 'no-ping' }),
        element('dnsmasq:option', { value: `dhcp-hostsdir=${entries}` }),
      ),
    ),
  )
}
