import { stat } from 'node:fs/promises'

import { Fault } from '@skerry/fault'
import * as libvirt from '@skerry/libvirt'
import { whyNotBridge } from '@skerry/vm'
import { attribute, find, readXml } from '@skerry/xml'

import { hostSegment } from '../domain/segment.ts'
import type { Host } from '../host/host.ts'
import { NETWORK_BYTES_MAX } from './network.ts'

/**
 * A guest on a host bridge is on that network like any other machine, outside the firewall. So the
 * operator must have allowed the bridge, and it must exist. Bridges of libvirt's own networks are
 * never allowed, because a guest there would bypass the rules libvirt keeps on them.
 */
export async function requireBridge(host: Host, bridge: string | undefined): Promise<void> {
  if (bridge === undefined) return
  const why = whyNotBridge(bridge)
  if (why !== undefined) throw new Fault('invalid', why)
  if (bridge === hostSegment.bridge || (await bridgesOfNetworks(host)).has(bridge)) {
    throw new Fault('invalid', `bridge ${bridge} belongs to a libvirt network`, {
      hint: 'name a bridge of your own, or leave bridge out for the network that every VM has',
    })
  }
  if (!host.bridges.includes(bridge)) {
    throw new Fault('conflict', `bridge ${bridge} is not allowed for VMs on this machine`, {
      hint: `allow it when starting vmd: skerry vmd --bridge ${bridge}`,
    })
  }
  if (await isBridge(bridge)) return
  throw new Fault('conflict', `this machine has no bridge ${bridge}`, {
    hint: `create it: ip link add ${bridge} type bridge; ip link set ${bridge} up`,
  })
}

const isBridge = async (name: string): Promise<boolean> =>
  (await stat(`/sys/class/net/${name}/bridge`).catch(() => undefined)) !== undefined

/** The bridges that libvirt created, or would create, for its networks. */
async function bridgesOfNetworks({ link }: Host): Promise<Set<string>> {
  const { nets } = await link.call(libvirt.connectListAllNetworks, { needResults: 1, flags: 0 })
  const names = await Promise.all(
    nets.map(async (net) => {
      const { xml } = await link.call(libvirt.networkGetXmlDesc, { net, flags: 0 })
      const network = readXml(xml, { bytesMax: NETWORK_BYTES_MAX })
      // Such a network only refers to a bridge created by someone else.
      const isForeign = attribute(find(network, 'forward'), 'mode') === 'bridge'
      return isForeign ? undefined : attribute(find(network, 'bridge'), 'name')
    }),
  )
  return new Set(names.filter((name) => name !== undefined))
}
