import { writeBlock, type Block } from './ipv4.ts'
import { HOST_BLOCK, hostSegment, ORG_BRIDGES, ORGS_BLOCK } from './segment.ts'

export type Family = 'iptables' | 'ip6tables'

/** Rules of a chain of our own, and which packets of which of the kernel's chains meet it first of all, if any. */
export interface Part {
  readonly chain: string
  readonly rules: readonly string[]
  readonly of?: { readonly hook: 'INPUT' | 'FORWARD'; readonly packets: string }
}

/** What the rules depend on: the bridges of organisations, and the networks that the host itself is in. */
export interface Around {
  readonly bridges: readonly string[]
  readonly own: readonly Block[]
}

const { bridge, host } = hostSegment
const tenants = `${ORG_BRIDGES}+`
/** An address of the very bridge that it came by. */
const toBridge = '-m addrtype --dst-type LOCAL --limit-iface-in'
/** A reset is sent for each; of other refusals the kernel sends few a second, and then a program would wait. */
const refusals = [
  '-p tcp -j REJECT --reject-with tcp-reset',
  '-j REJECT --reject-with icmp-port-unreachable',
]
const refuse = '-j SKERRY_REFUSING'

/**
 * The wall, in the form in which iptables prints it. It only takes away: what it lets by still meets
 * the host's other rules. A guest is refused rather than ignored, so that a program in it fails at
 * once; that is the answer of a closed port, so it does not tell which ports are open.
 */
export function wallOf(family: Family, around: Around): readonly Part[] {
  const v4 = family === 'iptables'
  return [
    {
      // Between a host and the guests of its local door.
      ...{ chain: 'SKERRY_GUESTS', rules: v4 ? fromGuests : fromGuests6 },
      of: { hook: 'INPUT', packets: `-i ${bridge}` },
    },
    {
      // Between a host and the guests of organisations.
      ...{ chain: 'SKERRY_TENANTS', rules: v4 ? fromTenants : ['-j DROP'] },
      of: { hook: 'INPUT', packets: `-i ${tenants}` },
    },
    {
      // Between organisations, and between each of them and the networks of the house.
      chain: 'SKERRY_LEAVING',
      rules: [...within(around), ...(v4 ? leaving(around) : ['-j DROP'])],
      of: { hook: 'FORWARD', packets: `-i ${tenants}` },
    },
    {
      chain: 'SKERRY_ENTERING',
      rules: [...within(around), ...(v4 ? entering : ['-j DROP'])],
      of: { hook: 'FORWARD', packets: `-o ${tenants}` },
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

/** Not even what belongs to a connection may name the host by an address of another network. */
const fromTenants = [
  `${toBridge} -m conntrack --ctstate ESTABLISHED -j RETURN`,
  `-p icmp ${toBridge} -m conntrack --ctstate RELATED -j RETURN`,
  '-d 255.255.255.255/32 -p udp -m udp --dport 67 -j RETURN',
  `-p udp ${toBridge} -m udp --dport 67 -j RETURN`,
  `-p udp ${toBridge} -m udp --dport 53 -j RETURN`,
  `-p tcp ${toBridge} -m tcp --dport 53 -j RETURN`,
  ...refusals,
]

/** Where the kernel shows frames between two guests of one bridge to these chains, they pass. */
const within = ({ bridges }: Around): string[] =>
  bridges.toSorted().map((each) => `-i ${each} -o ${each} -j RETURN`)

/** The world lies behind a gateway; what the host reaches without one is the house's own. */
function leaving({ own }: Around): string[] {
  const blocks = new Set([HOST_BLOCK, ORGS_BLOCK, ...own.map(writeBlock)])
  return [
    `-o ${tenants} ${refuse}`,
    `-o ${bridge} ${refuse}`,
    ...[...blocks].toSorted().map((each) => `-d ${each} ${refuse}`),
  ]
}

const entering = [
  `-i ${bridge} ${refuse}`,
  '-m conntrack --ctstate RELATED,ESTABLISHED -j RETURN',
  refuse,
]
