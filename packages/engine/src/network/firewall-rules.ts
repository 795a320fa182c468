import { blockText, type AddressBlock } from '@skerry/vm'

import { HOST_BLOCK, hostSegment, ORG_BRIDGES, ORGS_BLOCK, outbound } from '../domain/segment.ts'

export type Family = 'iptables' | 'ip6tables'

/** The rules of one of our chains, and the packets of a kernel chain that jump to it first, if any. */
export interface RuleChain {
  readonly chain: string
  readonly rules: readonly string[]
  readonly of?: {
    readonly hook: 'INPUT' | 'FORWARD' | 'POSTROUTING'
    readonly packets: string
  }
}

/** The inputs of the rules: the bridges of organisations, and the networks of the host itself. */
export interface FirewallInput {
  readonly bridges: readonly string[]
  readonly own: readonly AddressBlock[]
  /** Whether guests may reach the provider's instance metadata addresses. */
  readonly metadata: boolean
  /** Whether the host is the way out of networks across hosts. */
  readonly outbound: boolean
}

/**
 * Instance metadata addresses, where cloud providers hand out credentials. They answer any request
 * from the machine, and a guest behind its NAT looks like the host. Link-local addresses are never
 * routed anyway.
 */
export const METADATA = {
  iptables: ['100.100.100.200/32', '169.254.0.0/16'],
  ip6tables: ['fd00:ec2::254/128'],
} as const

const { bridge, host } = hostSegment
const tenants = `${ORG_BRIDGES}+`
/** An address of the bridge that the packet arrived on. */
const toBridge = '-m addrtype --dst-type LOCAL --limit-iface-in'
/** TCP gets a reset for each packet; other rejections are rate-limited by the kernel, so a program might wait. */
const refusals = [
  '-p tcp -j REJECT --reject-with tcp-reset',
  '-j REJECT --reject-with icmp-port-unreachable',
]
const refuse = '-j SKERRY_REFUSING'

/**
 * The firewall, in the form in which iptables prints it. It only restricts: packets that it passes
 * are still subject to the host's other rules. Packets are rejected, not dropped, so that a program
 * in the guest fails at once; a closed port answers the same, so open ports are not revealed.
 */
export function firewallOf(family: Family, around: FirewallInput): readonly RuleChain[] {
  const v4 = family === 'iptables'
  return [
    {
      // Between a host and the guests of its local API.
      chain: 'SKERRY_GUESTS',
      rules: v4 ? fromGuests : fromGuests6,
      of: { hook: 'INPUT', packets: `-i ${bridge}` },
    },
    {
      // Between a host and the guests of organisations.
      chain: 'SKERRY_TENANTS',
      rules: v4 ? [...fromOutbound(around), ...fromTenants] : ['-j DROP'],
      of: { hook: 'INPUT', packets: `-i ${tenants}` },
    },
    {
      // Between organisations, and between each of them and the site's own networks.
      chain: 'SKERRY_LEAVING',
      rules: [...bridgeInternalRules(around), ...(v4 ? outgoingRules(around) : ['-j DROP'])],
      of: { hook: 'FORWARD', packets: `-i ${tenants}` },
    },
    {
      chain: 'SKERRY_ENTERING',
      rules: [...bridgeInternalRules(around), ...(v4 ? enteringRules(around) : ['-j DROP'])],
      of: { hook: 'FORWARD', packets: `-o ${tenants}` },
    },
    {
      // Between guests of the local API and the host's provider; those of organisations are above.
      chain: 'SKERRY_METADATA',
      rules: around.metadata ? [] : toMetadata(family),
      of: { hook: 'FORWARD', packets: `-i ${bridge}` },
    },
    ...(v4 ? [{ chain: 'SKERRY_REFUSING', rules: refusals }] : []),
  ]
}

const fromGuests = [
  '-m conntrack --ctstate ESTABLISHED -j RETURN',
  '-p icmp -m conntrack --ctstate RELATED -j RETURN',
  '-d 255.255.255.255/32 -p udp -m udp --dport 67 -j RETURN',
  `-d ${host}/32 -p udp -m udp --dport 67 -j RETURN`,
  `-d ${host}/32 -p udp -m udp --dport 53 -j RETURN`,
  `-d ${host}/32 -p tcp -m tcp --dport 53 -j RETURN`,
  ...refusals,
]
const fromGuests6 = ['-m conntrack --ctstate ESTABLISHED -j RETURN', '-j DROP']

/** Not even a packet of an established connection may address the host by an address of another network. */
const fromTenants = [
  `${toBridge} -m conntrack --ctstate ESTABLISHED -j RETURN`,
  `-p icmp ${toBridge} -m conntrack --ctstate RELATED -j RETURN`,
  '-d 255.255.255.255/32 -p udp -m udp --dport 67 -j RETURN',
  `-p udp ${toBridge} -m udp --dport 67 -j RETURN`,
  `-p udp ${toBridge} -m udp --dport 53 -j RETURN`,
  `-p tcp ${toBridge} -m tcp --dport 53 -j RETURN`,
  ...refusals,
]

/** To the routers of networks across hosts the host answers DNS queries, and nothing else. */
const fromOutbound = (around: FirewallInput): string[] =>
  around.outbound
    ? [
        ...['udp', 'tcp'].map(
          (protocol) =>
            `-d ${outbound.address}/32 -i ${outbound.bridge} -p ${protocol} -m ${protocol} --dport 53 -j RETURN`,
        ),
        `-i ${outbound.bridge} ${refuse}`,
      ]
    : []

/** If the kernel passes frames between two guests of one bridge to these chains, they are allowed. */
const bridgeInternalRules = ({ bridges }: FirewallInput): string[] =>
  bridges.toSorted().map((each) => `-i ${each} -o ${each} -j RETURN`)

const toMetadata = (family: Family): string[] =>
  METADATA[family].map((each) => `-d ${each} ${family === 'iptables' ? refuse : '-j DROP'}`)

/** The Internet is behind a gateway; a network that the host reaches without one is the site's own. */
function outgoingRules({ own, metadata, outbound: toOutside }: FirewallInput): string[] {
  const closed = metadata ? [] : METADATA.iptables
  const blocks = new Set([HOST_BLOCK, ORGS_BLOCK, ...own.map(blockText), ...closed])
  return [
    `-o ${tenants} ${refuse}`,
    `-o ${bridge} ${refuse}`,
    ...[...blocks].toSorted().map((each) => `-d ${each} ${refuse}`),
    // Other programs may let the kernel forward nothing but their own packets; libvirt accepts those of its networks itself.
    ...(toOutside
      ? [`-s ${outbound.block} -i ${outbound.bridge} -j ACCEPT`, `-i ${outbound.bridge} ${refuse}`]
      : NO_RULES),
  ]
}

const NO_RULES: readonly string[] = []
const ANSWERS = '-m conntrack --ctstate RELATED,ESTABLISHED'

const enteringRules = ({ outbound: toOutside }: FirewallInput): string[] => [
  `-i ${bridge} ${refuse}`,
  ...(toOutside ? [`-o ${outbound.bridge} ${ANSWERS} -j ACCEPT`] : NO_RULES),
  `${ANSWERS} -j RETURN`,
  refuse,
]

/** The address translation for networks across hosts. */
export const translationOf = (around: FirewallInput): readonly RuleChain[] =>
  around.outbound
    ? [
        {
          chain: 'SKERRY_OUTBOUND',
          rules: [`-d ${outbound.block} -j RETURN`, '-j MASQUERADE'],
          of: { hook: 'POSTROUTING', packets: `-s ${outbound.block}` },
        },
      ]
    : []
