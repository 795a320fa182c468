import * as libvirt from '@skerry/libvirt'
import {
  attribute,
  children,
  childrenByLocalName,
  find,
  readXml,
  text,
  type Element,
} from '@skerry/xml'

import { hostSegment } from '../domain/segment.ts'
import type { Host } from '../host/host.ts'
import { findNetwork, NETWORK_BYTES_MAX, networkXml } from './network.ts'

const DUMP_BYTES_MAX = 4 * 1024 * 1024

/**
 * Updates a network that an older version defined. Restarting a network removes its bridge from
 * the guests on it, so the restart waits until there are none.
 */
export async function renewNetwork(host: Host): Promise<void> {
  await bringUpToDate(host).catch((error: unknown) =>
    host.log('failed to update the guest network', error),
  )
}

async function bringUpToDate(host: Host): Promise<void> {
  const { link, paths } = host
  const net = await findNetwork(host)
  const read = async (flags: number): Promise<Element> => {
    const { xml } = await link.call(libvirt.networkGetXmlDesc, { net, flags })
    return readXml(xml, { bytesMax: NETWORK_BYTES_MAX })
  }
  const wanted = shapeOf(readXml(networkXml(hostSegment, paths), { bytesMax: NETWORK_BYTES_MAX }))
  const defined = await read(libvirt.NetworkXMLFlags.inactive)
  if (shapeOf(defined) !== wanted) {
    await link.call(libvirt.networkDefineXml, {
      xml: networkXml(hostSegment, paths, text(find(defined, 'uuid'))),
    })
  }
  const { active } = await link.call(libvirt.networkIsActive, { net })
  if (active !== 1 || shapeOf(await read(0)) === wanted) return
  const guests = await guestsOnNetwork(host)
  if (guests.length === 0) {
    await link.call(libvirt.networkDestroy, { net })
    return
  }
  host.log(
    `the network ${hostSegment.network} was defined by an older version and cannot be updated while ${guests.join(', ')} run: VM addresses are not fixed; shut the VMs down, then restart vmd`,
  )
}

/** The properties of a network that we define, as one string; libvirt adds many of its own. */
function shapeOf(network: Element): string {
  const ip = find(network, 'ip')
  const range = find(ip, 'dhcp', 'range')
  const [options] = childrenByLocalName(network, 'options')
  return JSON.stringify([
    attribute(find(network, 'forward'), 'mode'),
    attribute(find(network, 'bridge'), 'name'),
    [attribute(ip, 'address'), attribute(ip, 'netmask')],
    [attribute(range, 'start'), attribute(range, 'end')],
    childrenByLocalName(options, 'option').map((option) => attribute(option, 'value')),
  ])
}

async function guestsOnNetwork({ link }: Host): Promise<string[]> {
  const flags = libvirt.ConnectListAllDomainsFlags.active
  const { domains } = await link.call(libvirt.connectListAllDomains, { needResults: 1, flags })
  const names = await Promise.all(
    domains.map(async (dom) => {
      const { xml } = await link.call(libvirt.domainGetXmlDesc, { dom, flags: 0 })
      const cards = children(
        find(readXml(xml, { bytesMax: DUMP_BYTES_MAX }), 'devices'),
        'interface',
      )
      const isOn = cards.some(
        (card) => attribute(find(card, 'source'), 'network') === hostSegment.network,
      )
      return isOn ? dom.name : undefined
    }),
  )
  return names.filter((name) => name !== undefined)
}
