import * as libvirt from '@skerry/libvirt'
import { element, renderElement } from '@skerry/xml'

import type { Link } from './link.ts'
import { fixedAddressesDirectory, type Paths } from './paths.ts'
import { hostSegment, type Segment } from './segment.ts'
import { saysLibvirt } from './to-fault.ts'

export const NETWORK_BYTES_MAX = 4 * 1024 * 1024

interface Where {
  readonly link: Link
  readonly paths: Paths
}

/** Defines the network where it is missing and starts it where it does not run; says whether it did. */
export async function ensureNetwork(
  { link, paths }: Where,
  segment: Segment = hostSegment,
): Promise<{ readonly started: boolean }> {
  const net = await findNetwork({ link, paths }, segment)
  const { active } = await link.call(libvirt.networkIsActive, { net })
  if (active === 1) return { started: false }
  try {
    await link.call(libvirt.networkCreate, { net })
  } catch (error) {
    // Somebody else started it between the question and this.
    if (!saysLibvirt(error, libvirt.ErrorCode.operationInvalid)) throw error
  }
  return { started: true }
}

/** Defined where it is missing. */
export async function findNetwork(
  { link, paths }: Where,
  segment: Segment = hostSegment,
): Promise<libvirt.Network> {
  return (
    (await lookUpNetwork(link, segment.network)) ??
    (await link.call(libvirt.networkDefineXml, { xml: networkXml(segment, paths) })).net
  )
}

export async function lookUpNetwork(
  link: Link,
  name: string,
): Promise<libvirt.Network | undefined> {
  try {
    return (await link.call(libvirt.networkLookupByName, { name })).net
  } catch (error) {
    if (saysLibvirt(error, libvirt.ErrorCode.noNetwork)) return undefined
    throw error
  }
}

/** The network as we want it; with the uuid of one that is there it replaces that one. */
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
      // Nobody else gives out addresses here, so none has to be tried for 3 s before it is offered.
      element(
        'dnsmasq:options',
        {},
        element('dnsmasq:option', { value: 'no-ping' }),
        element('dnsmasq:option', { value: `dhcp-hostsdir=${entries}` }),
      ),
    ),
  )
}
