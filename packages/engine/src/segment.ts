import { createHash } from 'node:crypto'

import { isWithin, meet, numberOf, readBlock, writeAddress, type Block } from './ipv4.ts'

/** One network of guests: its bridge, and which addresses are whose. */
export interface Segment {
  /** libvirt's name for it. */
  readonly network: string
  readonly bridge: string
  /** The host as its guests see it. */
  readonly host: string
  readonly mask: string
  /** What DHCP gives to cards that have no address of their own. */
  readonly first: string
  readonly last: string
  /** How many addresses there are for VMs to keep, and the n-th of them. */
  readonly fixed: { readonly count: number; at(n: number): string }
}

/** Guests of the local door are on this one, all of them. 10.83.32.0 and what follows is for VMs to keep. */
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

/** Where the networks of organisations lie, a /24 each. */
export const ORGS_BLOCK = '10.84.0.0/14'
export const ORG_NETWORKS_MAX = 1024
const ORG_PREFIX = 24
const ORG_HOSTS = 256
/** Behind the host and what DHCP gives out by itself. */
const FIRST_FIXED = 32
const LAST_FIXED = 254

/** The beginning of every such bridge's name: the wall goes by it. */
export const ORG_BRIDGES = 'sk-'

/** The network of an organisation has the same name on every host, and tells nobody whose it is. */
export const networkOf = (org: string): string =>
  `skerry-${createHash('sha256').update(org).digest('hex').slice(0, 10)}`

export const isOrgNetwork = (network: string): boolean => /^skerry-[0-9a-f]{10}$/.test(network)

/** Linux takes 15 characters. */
export const bridgeOfNetwork = (network: string): string => network.replace(/^skerry-/, ORG_BRIDGES)

/** The n-th network of organisations on a host, given to this one. */
export function orgSegment(network: string, n: number): Segment {
  const start = startOf(n)
  const at = (host: number) => writeAddress(start + host)
  return {
    ...{ network, bridge: bridgeOfNetwork(network), host: at(1), mask: '255.255.255.0' },
    ...{ first: at(2), last: at(FIRST_FIXED - 1) },
    fixed: { count: LAST_FIXED - FIRST_FIXED + 1, at: (each) => at(FIRST_FIXED + each) },
  }
}

/** Which of the networks of organisations an address lies in. */
export function orgNumberOf(address: string): number | undefined {
  if (!isWithin(address, readBlock(ORGS_BLOCK))) return undefined
  return Math.floor((numberOf(address) - startOf(0)) / ORG_HOSTS)
}

/** The first that meets none of these; undefined when all are taken. */
export function freeOrgNumber(taken: readonly Block[]): number | undefined {
  for (let n = 0; n < ORG_NETWORKS_MAX; n++) {
    const block = { start: startOf(n), prefix: ORG_PREFIX }
    if (!taken.some((each) => meet(each, block))) return n
  }
  return undefined
}

/** Whether a VM may keep this address on this network. */
export const isFixedIn = ({ fixed }: Segment, address: string): boolean => {
  for (let n = 0; n < fixed.count; n++) if (fixed.at(n) === address) return true
  return false
}

const startOf = (n: number): number => readBlock(ORGS_BLOCK).start + n * ORG_HOSTS
