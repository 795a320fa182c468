// Matches of security groups in OVN's language. Cards have one list of ACLs in each direction, which the firewall of the edge gateway
// uses too, and the first ACL that matches decides. So what groups do not allow is dropped above the firewall, and what they allow
// falls through to it. What they do not allow is written as what it is, not as "!(…)": OVN multiplies negations out.
import {
  addressNumber,
  blockText,
  sizeOfPrefix,
  type AddressBlock,
  type PortRange,
} from '@skerry/vm'

import { blocksBetween, checkedBlock } from './addresses.ts'
import type { SecurityRule } from './projected-cloud.ts'

/** Where the peer stands in a packet: the source of one that comes in, the destination of one that goes out. */
export type PeerEnd = 'src' | 'dst'

const LAST_PORT = 65_535
const LAST_ADDRESS = addressNumber('255.255.255.255')
const ICMP = [1, 58] as const
const [TCP, UDP] = [6, 17] as const
const protocols = ['tcp', 'udp', 'icmp', 'other'] as const
type RegionProtocol = (typeof protocols)[number]

/** Packets of one protocol, to some of its ports if it has any. */
interface PacketRegion {
  readonly protocol: RegionProtocol
  readonly ports: PortRange
}

const whole: PortRange = { low: 0, high: LAST_PORT }
const isWhole = ({ low, high }: PortRange): boolean => low === 0 && high === LAST_PORT

/** Matches of everything that no rule allows. Peers that are groups are not seen here: `groupMatches` allows them. */
export function deniedMatches(rules: readonly SecurityRule[], end: PeerEnd): readonly string[] {
  const open = rules.filter(({ peer }) => peer === null)
  const denied = new Map<string, PacketRegion[]>()
  for (const region of protocols.flatMap((protocol) => regionsOf(protocol, open))) {
    const peers = deniedPeers(
      open.filter((rule) => covers(rule, region)),
      end,
    )
    if (peers === undefined) continue
    const before = denied.get(peers) ?? []
    denied.set(peers, joined(before, region))
  }
  return [...denied].map(([peers, regions]) => {
    const all = regions.length === protocols.length && regions.every(({ ports }) => isWhole(ports))
    const packets = all ? 'ip' : `ip && (${regions.map(regionMatch).join(' || ')})`
    return peers === '' ? packets : `${packets} && (${peers})`
  })
}

/** Cuts the ports of a protocol where a rule begins or ends. */
function regionsOf(protocol: RegionProtocol, rules: readonly SecurityRule[]): PacketRegion[] {
  const named = rules.flatMap((rule) => (rule.protocol === protocol ? (rule.ports ?? []) : []))
  const starts = new Set([0, ...named.flatMap(({ low, high }) => [low, high + 1])])
  starts.delete(LAST_PORT + 1)
  const sorted = [...starts].toSorted((one, other) => one - other)
  return sorted.map((low, at) => ({
    protocol,
    ports: { low, high: (sorted[at + 1] ?? LAST_PORT + 1) - 1 },
  }))
}

const covers = ({ protocol, ports }: SecurityRule, region: PacketRegion): boolean =>
  protocol === 'any' ||
  (protocol === region.protocol &&
    (ports === null || (ports.low <= region.ports.low && region.ports.high <= ports.high)))

/** The match of peers that none of the rules allows; undefined: all are allowed, empty: none is. */
function deniedPeers(rules: readonly SecurityRule[], end: PeerEnd): string | undefined {
  if (rules.some(({ block }) => block === null)) return undefined
  const blocks = rules.map(({ block }) => checkedBlock(block ?? '', 'a rule of a security group'))
  if (blocks.length === 0) return ''
  // Blocks are of IPv4.
  const others = outside(blocks).map(blockText)
  return others.length === 0 ? 'ip6' : `ip6 || ip4.${end} == {${others.join(', ')}}`
}

/** The blocks that cover all other addresses. */
function outside(blocks: readonly AddressBlock[]): readonly AddressBlock[] {
  const sorted = blocks.toSorted((one, other) => one.base - other.base)
  const gaps: AddressBlock[] = []
  let next = 0
  for (const { base, prefix } of sorted) {
    if (base > next) gaps.push(...blocksBetween(next, base - 1))
    next = Math.max(next, base + sizeOfPrefix(prefix))
  }
  return next > LAST_ADDRESS ? gaps : [...gaps, ...blocksBetween(next, LAST_ADDRESS)]
}

/** Regions that touch are one. */
function joined(regions: readonly PacketRegion[], { protocol, ports }: PacketRegion) {
  const last = regions.at(-1)
  if (last?.protocol !== protocol || last.ports.high + 1 !== ports.low) {
    return [...regions, { protocol, ports }]
  }
  return [...regions.slice(0, -1), { protocol, ports: { low: last.ports.low, high: ports.high } }]
}

/** Each number by itself: OpenFlow has no masks for them, and a set with masks or a negation would match every packet on a host. */
const namedProtocols: ReadonlySet<number> = new Set([...ICMP, TCP, UDP])
const otherProtocols = Array.from({ length: 256 }, (_, number) => number).filter(
  (number) => !namedProtocols.has(number),
)

function regionMatch({ protocol, ports }: PacketRegion): string {
  if (protocol === 'other') return `ip.proto == {${otherProtocols.join(', ')}}`
  if (protocol === 'icmp') return `ip.proto == {${ICMP.join(', ')}}`
  return isWhole(ports) ? protocol : `(${protocol} && ${portMatch(protocol, ports)})`
}

const portMatch = (protocol: 'tcp' | 'udp', { low, high }: PortRange): string =>
  low === high ? `${protocol}.dst == ${low}` : `${low} <= ${protocol}.dst <= ${high}`

export interface GroupAddresses {
  /** The name of the port group with the cards of a group: OVN keeps a set of their addresses for each version of IP. */
  readonly portGroupOf: (group: string) => string
  readonly versions: readonly (4 | 6)[]
}

/** Matches of what rules allow to and from the VMs of a group. */
export function groupMatches(
  rules: readonly SecurityRule[],
  end: PeerEnd,
  { portGroupOf, versions }: GroupAddresses,
): readonly string[] {
  const matches = rules.flatMap(({ protocol, ports, peer }) => {
    if (peer === null) return []
    const name = portGroupOf(peer)
    return versions.map((version) => {
      const from = `ip${version}.${end} == $${name}_ip${version}`
      if (protocol === 'any') return from
      if (protocol === 'icmp') return `${from} && icmp${version}`
      return `${from} && ${regionMatch({ protocol, ports: ports ?? whole })}`
    })
  })
  return [...new Set(matches)]
}
