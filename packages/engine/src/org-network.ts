import { mkdir, readdir, rm } from 'node:fs/promises'

import { Fault } from '@skerry/fault'
import * as libvirt from '@skerry/libvirt'
import { attribute, children, readXml, type Element } from '@skerry/xml'

import type { Host } from './host.ts'
import { blockAround, prefixOf, readBlock, type Block } from './ipv4.ts'
import { ensureNetwork, lookUpNetwork, NETWORK_BYTES_MAX } from './network.ts'
import { fixedAddressesDirectory } from './paths.ts'
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
} from './segment.ts'
import { ensureWall, ownBlocks } from './wall.ts'

/** One at a time, so that no two organisations are given the same addresses. No VM may be called so. */
const TURN = 'networks of organisations'

/**
 * The network that a VM is on, there and started: that of its organisation, or the host's own where
 * none is named. An organisation's is made for its first VM on this host.
 */
export async function ensureNetworkOf(host: Host, network: string | undefined): Promise<Segment> {
  if (network === undefined) {
    await ensureNetwork(host)
    return hostSegment
  }
  return host.turns.take(TURN, () => ensure(host, network))
}

/** Puts the networks of all VMs back after a reboot, and takes away those that a crash has left. */
export async function settleOrgNetworks(host: Host): Promise<void> {
  for (const network of usedNetworks(host)) {
    await ensureNetworkOf(host, network).catch((error: unknown) =>
      host.note(`the network ${network} of an organisation is not there`, error),
    )
  }
  await dropUnusedNetworks(host)
}

/** The last VM of an organisation takes its network along. Nobody waits for it in vain: what stays is tried again. */
export async function dropUnusedNetworks(host: Host): Promise<void> {
  await host.turns
    .take(TURN, () => drop(host))
    .catch((error: unknown) =>
      host.note('the network of an organisation without VMs is still there', error),
    )
}

async function ensure(host: Host, network: string): Promise<Segment> {
  const { link, paths } = host
  const net = await lookUpNetwork(link, network)
  const number = net ? await numberOfNetwork(host, net) : await chooseNumber(host, network)
  const segment = orgSegment(network, number)
  // The DHCP server is another user, and reads what it finds in here.
  await mkdir(fixedAddressesDirectory(paths, network), { recursive: true, mode: 0o755 })
  const { started } = await ensureNetwork(host, segment)
  // A network that starts puts rules of libvirt's own in front of the wall.
  if (started) await ensureWall(host)
  return segment
}

async function numberOfNetwork(host: Host, net: libvirt.Network): Promise<number> {
  const [block] = addressesIn(await readNetwork(host, net))
  const number = block === undefined ? undefined : orgNumberOf(block.address)
  if (number !== undefined) return number
  throw new Fault('unavailable', `the network ${net.name} was not made by Skerry`, {
    hint: 'remove it with libvirt’s own tools, once nobody is on it',
  })
}

/** Where VMs have addresses of it already, because libvirt lost its networks, it is the one that these are in. */
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
  throw new Fault(
    'no-room',
    `this host has networks for ${ORG_NETWORKS_MAX} organisations, and all are taken`,
  )
}

async function definedBlocks(host: Host): Promise<Block[]> {
  const { nets } = await host.link.call(libvirt.connectListAllNetworks, {
    ...{ needResults: 1, flags: 0 },
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
    // A domain that nothing here knows of is no reason to take its network from it.
    if (usedNetworks(host).has(net.name) || (await hasGuests(net.name))) continue
    const { active } = await link.call(libvirt.networkIsActive, { net })
    if (active === 1) await link.call(libvirt.networkDestroy, { net })
    // Before libvirt forgets it: as long as it is known, whoever comes after a crash does this again.
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
