import { networkInterfaces } from 'node:os'

import { blocksOverlap, readBlock } from '@skerry/vm'

import { outbound } from '../domain/segment.ts'
import type { Host } from '../host/host.ts'
import { runTool } from '../host/tool.ts'
import { ensureFirewall, ownBlocks } from './firewall.ts'
import { ensureOutboundDns } from './outbound-dns.ts'

/** Not on a host that is itself on a network with these addresses. */
export const canBeOutbound = ({ hasFirewall }: Host): boolean =>
  hasFirewall && !ownBlocks().some((block) => blocksOverlap(block, readBlock(outbound.block)))

/** Hosts whose firewall was complete once with these rules; from then on it is checked with the others. */
const withFirewall = new WeakSet<Host>()

/** Makes this host the way out of networks across hosts. The firewall comes first: until then the bridge has no address. */
export async function ensureOutbound(host: Host): Promise<void> {
  if (!withFirewall.has(host)) {
    host.overlay.outbound = true
    await ensureFirewall(host)
    withFirewall.add(host)
  }
  const { bridge, address } = outbound
  const isUp = (networkInterfaces()[bridge] ?? []).some((each) => each.address === address)
  if (!isUp) await bringUp(host)
  await ensureOutboundDns(host)
}

async function bringUp(host: Host): Promise<void> {
  const { bridge, address, prefix } = outbound
  await runTool('ip', ['address', 'replace', `${address}/${prefix}`, 'dev', bridge])
  await runTool('ip', ['link', 'set', bridge, 'up'])
  // Open vSwitch's own process drops packets whose checksum the kernel left to the card.
  if (host.overlay.datapath === 'netdev') await runTool('ethtool', ['-K', bridge, 'tx', 'off'])
}
