import * as libvirt from '@skerry/libvirt'
import { element, renderElement } from '@skerry/xml'

import type { Link } from './link.ts'
import { fixedAddressesDirectory, type Paths } from './paths.ts'
import { saysLibvirt } from './to-fault.ts'

/** The network that every guest of this host is on. */
export const NETWORK = 'skerry'

export const BRIDGE = 'skerry0'
/** The host as its guests see it. */
export const HOST_ADDRESS = '10.83.0.1'
/** Wide enough for thousands of guests on one host. */
const ADDRESSES = {
  host: HOST_ADDRESS,
  mask: '255.255.0.0',
  first: '10.83.0.16',
  last: '10.83.31.254',
}

export const NETWORK_BYTES_MAX = 4 * 1024 * 1024

interface Where {
  readonly link: Link
  readonly paths: Paths
}

/** Defines the network where it is missing and starts it where it does not run. */
export async function ensureNetwork({ link, paths }: Where): Promise<void> {
  const net = await findNetwork({ link, paths })
  const { active } = await link.call(libvirt.networkIsActive, { net })
  if (active === 1) return
  try {
    await link.call(libvirt.networkCreate, { net })
  } catch (error) {
    // Somebody else started it between the question and this.
    if (!saysLibvirt(error, libvirt.ErrorCode.operationInvalid)) throw error
  }
}

/** Defined where it is missing. */
export async function findNetwork({ link, paths }: Where): Promise<libvirt.Network> {
  try {
    return (await link.call(libvirt.networkLookupByName, { name: NETWORK })).net
  } catch (error) {
    if (!saysLibvirt(error, libvirt.ErrorCode.noNetwork)) throw error
  }
  return (await link.call(libvirt.networkDefineXml, { xml: networkXml(paths) })).net
}

/** The network as we want it; with the uuid of one that is there it replaces that one. */
export function networkXml(paths: Paths, uuid?: string): string {
  const { host, mask, first, last } = ADDRESSES
  return renderElement(
    element(
      'network',
      { 'xmlns:dnsmasq': 'http://libvirt.org/schemas/network/dnsmasq/1.0' },
      element('name', {}, NETWORK),
      uuid !== undefined && element('uuid', {}, uuid),
      element('forward', { mode: 'nat' }),
      element('bridge', { name: BRIDGE, stp: 'off', delay: 0 }),
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
        element('dnsmasq:option', { value: `dhcp-hostsdir=${fixedAddressesDirectory(paths)}` }),
      ),
    ),
  )
}
