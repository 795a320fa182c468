import { stat } from 'node:fs/promises'

import { Fault } from '@skerry/fault'
import * as libvirt from '@skerry/libvirt'
import { whyNotBridge } from '@skerry/vm'
import { attribute, find, readXml } from '@skerry/xml'

import type { Host } from './host.ts'
import { NETWORK_BYTES_MAX } from './network.ts'
import { hostSegment } from './segment.ts'

/**
 * A guest on a bridge of the host stands on that network as any other machine does, outside of the
 * wall. So the bridge must be one that the operator has named, and there; those of libvirt's own
 * networks are never given out, because a guest would pass by what libvirt keeps on them.
 */
export async function requireBridge(host: Host, bridge: string | undefined): Promise<void> {
  if (bridge === undefined) return
  const why = whyNotBridge(bridge)
  if (why !== undefined) throw new Fault('invalid', why)
  if (bridge === hostSegment.bridge || (await bridgesOfNetworks(host)).has(bridge)) {
    throw new Fault('invalid', `the bridge ${bridge} belongs to a network of libvirt`, {
      hint: 'name a bridge of your own, or leave bridge out for the network that every VM has',
    })
  }
  if (!host.bridges.includes(bridge)) {
    throw new Fault('conflict', `VMs of this machine may not join the bridge ${bridge}`, {
      hint: `whoever runs vmd allows it: skerry vmd --bridge ${bridge}`,
    })
  }
  if (await isBridge(bridge)) return
  throw new Fault('conflict', `this machine has no bridge ${bridge}`, {
    hint: `make it, as by: ip link add ${bridge} type bridge; ip link set ${bridge} up`,
  })
}

const isBridge = async (name: string): Promise<boolean> =>
  (await stat(`/sys/class/net/${name}/bridge`).catch(() => undefined)) !== undefined

/** The bridges that libvirt made, or would make, for its networks. */
async function bridgesOfNetworks({ link }: Host): Promise<Set<string>> {
  const { nets } = await link.call(libvirt.connectListAllNetworks, { needResults: 1, flags: 0 })
  const names = await Promise.all(
    nets.map(async (net) => {
      const { xml } = await link.call(libvirt.networkGetXmlDesc, { net, flags: 0 })
      const network = readXml(xml, { bytesMax: NETWORK_BYTES_MAX })
      // Such a network only names a bridge that somebody else made.
      const isForeign = attribute(find(network, 'forward'), 'mode') === 'bridge'
      return isForeign ? undefined : attribute(find(network, 'bridge'), 'name')
    }),
  )
  return new Set(names.filter((name) => name !== undefined))
}
