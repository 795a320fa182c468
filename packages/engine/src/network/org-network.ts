import { readdir, rm } from 'node:fs/promises'

import { Fault } from '@skerry/fault'
import * as libvirt from '@skerry/libvirt'
import { blockAround, prefixOf, readBlock, type AddressBlock } from '@skerry/vm'
import { attribute, children, readXml, type Element } from '@skerry/xml'

import {
  bridgeOfNetwork,
  freeOrgNumber,
  HOST_BLOCK,
  hostSegment,
  isOrgNetwork,
  ORG_NETWORKS_MAX,
  orgNumberOf,
  orgSegment,
  type Segment,
} from '../domain/segment.ts'
import type { Host } from '../host/host.ts'
import { fixedAddressesDirectory } from '../host/paths.ts'
import { makeDirectory, PUBLIC_DIRECTORY } from '../host/private-files.ts'
import { ensureFirewall, ownBlocks } from './firewall.ts'
import { ensureNetwork, lookUpNetwork, NETWORK_BYTES_MAX } from './network.ts'

/** Serialised, so that no two organisations get the same addresses. No VM id may equal this key. */
const LOCK = 'networks of organisations'

/**
 * Ensures that a VM's network exists and runs: its organisation's, or the host's own if none is
 * given. An organisation's network is created for its first VM on this host.
 */
export async function ensureNetworkOf(host: Host, network: string | undefined): Promise<Segment> {
  if (network === undefined) {
    await ensureNetwork(host)
    return hostSegment
  }
  return host.locks.run(LOCK, () => ensure(host, network))
}

/** Restores the networks of all VMs after a reboot, and removes those that a crash left behind. */
export async function settleOrgNetworks(host: Host): Promise<void> {
  for (const network of usedNetworks(host)) {
    await ensureNetworkOf(host, network).catch((error: unknown) =>
      host.log(`failed to start the organisation network ${network}`, error),
    )
  }
  await dropUnusedNetworks(host)
}

/** Removes the networks of organisations without VMs. It never throws: a failed removal is retried later. */
export async function dropUnusedNetworks(host: Host): Promise<void> {
  await host.locks
    .run(LOCK, () => drop(host))
    .catch((error: unknown) =>
      host.log('failed to remove the networks of organisations without VMs', error),
    )
}

async function ensure(host: Host, network: string): Promise<Segment> {
  const { link, paths } = host
  const net = await lookUpNetwork(link, network)
  const number = net ? await numberOfNetwork(host, net) : await chooseNumber(host, network)
  const segment = orgSegment(network, number)
  // The DHCP server runs as another user and reads this directory.
  await makeDirectory(fixedAddressesDirectory(paths, network), PUBLIC_DIRECTORY)
  const { started } = await ensureNetwork(host, segment)
  // A starting network inserts libvirt's own rules in front of the firewall.
  if (started) await ensureFirewall(host)
  return segment
}

async function numberOfNetwork(host: Host, net: libvirt.Network): Promise<number> {
  const [block] = addressesIn(await readNetwork(host, net))
  const number = block === undefined ? undefined : orgNumberOf(block.address)
  if (number !== undefined) return number
  throw new Fault('unavailable', `network ${net.name} was not created by Skerry`, {
    hint: 'remove it with virsh once no guest uses it',
  })
}

/** If VMs already have addresses (libvirt lost its networks), their network is chosen again. */
async function chooseNumber(host: Host, network: string): Promise<number> {
  const known = host.records.all().flatMap((record) => {
    const number = record.address === undefined ? undefined : orgNumberOf(record.address)
    return number === undefined ? [] : [{ network: record.network, number }]
  })
  const own = known.find((each) => each.network === network)
  if (own) return own.number
  const others = known.map(({ number }) => readBlock(`${orgSegment('', number).host}/24`))
  const taken = [readBlock(HOST_BLOCK), ...others, ...ownBlocks(), ...(await definedBlocks(host))]
  const free = freeOrgNumber(taken)
  if (free !== undefined) return free
  throw new Fault('no-room', `all ${ORG_NETWORKS_MAX} organisation networks of this host are taken`)
}

async function definedBlocks(host: Host): Promise<AddressBlock[]> {
  const { nets } = await host.link.call(libvirt.connectListAllNetworks, {
    needResults: 1,
    flags: 0,
  })
  const all = await Promise.all(nets.map((net) => readNetwork(host, net)))
  return all.flatMap(addressesIn).map(({ address, prefix }) => blockAround(address, prefix))
}

async function readNetwork({ link }: Host, net: libvirt.Network): Promise<Element> {
  const { xml } = await link.call(libvirt.networkGetXmlDesc, { net, flags: 0 })
  return readXml(xml, { bytesMax: NETWORK_BYTES_MAX })
}

function addressesIn(network: Element): { address: string; prefix: number }[] {
  return children(network, 'ip')
    .filter((ip) => (attribute(ip, 'family') ?? 'ipv4') === 'ipv4')
    .map((ip) => {
      const mask = attribute(ip, 'netmask')
      const prefix = mask === undefined ? Number(attribute(ip, 'prefix') ?? 8) : prefixOf(mask)
      return { address: attribute(ip, 'address') ?? '', prefix }
    })
}

async function drop(host: Host): Promise<void> {
  const { link, paths } = host
  const { nets } = await link.call(libvirt.connectListAllNetworks, { needResults: 1, flags: 0 })
  for (const net of nets.filter(({ name }) => isOrgNetwork(name))) {
    // A domain without a record keeps its network as well.
    if (usedNetworks(host).has(net.name) || (await hasGuests(net.name))) continue
    const { active } = await link.call(libvirt.networkIsActive, { net })
    if (active === 1) await link.call(libvirt.networkDestroy, { net })
    // Before libvirt forgets the network: while it is defined, this is repeated after a crash.
    await rm(fixedAddressesDirectory(paths, net.name), { recursive: true, force: true })
    await link.call(libvirt.networkUndefine, { net })
  }
}

const usedNetworks = ({ records }: Host): Set<string> =>
  new Set(records.all().flatMap(({ network }) => (network === undefined ? [] : [network])))

async function hasGuests(network: string): Promise<boolean> {
  const ports = await readdir(`/sys/class/net/${bridgeOfNetwork(network)}/brif`).catch(() => [])
  return ports.some((port) => !port.endsWith('-nic'))
}
