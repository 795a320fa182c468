import {
  FIRST_FIXED,
  isOrgNetwork,
  LAST_FIXED,
  networkOf,
  ORGS_BLOCK,
  isWithin,
  blocksOverlap,
  addressNumber,
  readBlock,
  addressText,
  type AddressBlock,
} from '@skerry/vm'

/** One guest network: its bridge and its address ranges. */
export interface Segment {
  /** Its name in libvirt. */
  readonly network: string
  readonly bridge: string
  /** The host's address on it. */
  readonly host: string
  readonly mask: string
  /** The DHCP range for cards without a fixed address. */
  readonly first: string
  readonly last: string
  /** The number of fixed VM addresses, and the n-th of them. */
  readonly fixed: { readonly count: number; at(n: number): string }
}

/** The network of all guests of the local API. Fixed addresses start at 10.83.32.0. */
export const hostSegment: Segment = {
  network: 'skerry',
  bridge: 'skerry0',
  host: '10.83.0.1',
  mask: '255.255.0.0',
  // Wide enough for thousands of guests on one host.
  first: '10.83.0.16',
  last: '10.83.31.254',
  fixed: {
    count: 224 * 254,
    at: (n) => `10.83.${32 + Math.floor(n / 254)}.${1 + (n % 254)}`,
  },
}
export const HOST_BLOCK = '10.83.0.0/16'

export { isOrgNetwork, networkOf, ORGS_BLOCK }
export const ORG_NETWORKS_MAX = 1024
const ORG_PREFIX = 24
const ORG_HOSTS = 256

/** The prefix of every such bridge's name; the firewall matches it. */
export const ORG_BRIDGES = 'sk-'

/**
 * The uplink to the outside that every host has: a bridge of Open vSwitch behind the host's own address translation. The card has
 * the same MAC address on every host, because OVN remembers it when a router moves to another host.
 */
export const outbound = {
  uplink: 'out',
  bridge: `${ORG_BRIDGES}out`,
  mac: '02:53:6b:00:00:01',
  address: '100.64.0.1',
  prefix: 16,
  block: '100.64.0.0/16',
} as const

/** Linux limits interface names to 15 characters. */
export const bridgeOfNetwork = (network: string): string => network.replace(/^skerry-/, ORG_BRIDGES)

/** The n-th organisation network of a host, assigned to `network`. */
export function orgSegment(network: string, n: number): Segment {
  const start = startOf(n)
  const at = (host: number) => addressText(start + host)
  return {
    network,
    bridge: bridgeOfNetwork(network),
    host: at(1),
    mask: '255.255.255.0',
    first: at(2),
    last: at(FIRST_FIXED - 1),
    fixed: { count: LAST_FIXED - FIRST_FIXED + 1, at: (each) => at(FIRST_FIXED + each) },
  }
}

/** The number of the organisation network that contains an address. */
export function orgNumberOf(address: string): number | undefined {
  if (!isWithin(address, readBlock(ORGS_BLOCK))) return undefined
  return Math.floor((addressNumber(address) - startOf(0)) / ORG_HOSTS)
}

/** The first number whose block overlaps none of these; undefined if all are taken. */
export function freeOrgNumber(taken: readonly AddressBlock[]): number | undefined {
  for (let n = 0; n < ORG_NETWORKS_MAX; n++) {
    const block = { base: startOf(n), prefix: ORG_PREFIX }
    if (!taken.some((each) => blocksOverlap(each, block))) return n
  }
  return undefined
}

/** Whether this is a fixed VM address of this network. */
export const isFixedIn = ({ fixed }: Segment, address: string): boolean => {
  for (let n = 0; n < fixed.count; n++) if (fixed.at(n) === address) return true
  return false
}

const startOf = (n: number): number => readBlock(ORGS_BLOCK).base + n * ORG_HOSTS
