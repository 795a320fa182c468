import { isIPv4 } from 'node:net'
import { networkInterfaces } from 'node:os'

import { isWithin, addressNumber, readBlock, type AddressBlock } from '@skerry/vm'

import { HOST_BLOCK, hostSegment } from '../domain/segment.ts'
import type { VmRecord } from '../host/record.ts'

/** The range of valid addresses of a guest: the network of its card on this host. */
export interface GuestNetwork {
  /** The networks of the card; on a bridge there may be several. */
  readonly blocks: readonly AddressBlock[]
  /** The addresses of this machine, including those on other networks. */
  readonly own: ReadonlySet<string>
  /** Smaller networks of this machine inside `blocks`: packets to them leave by another card. */
  readonly apart: readonly AddressBlock[]
  /** Addresses that belong to other VMs. */
  readonly kept: ReadonlySet<string>
  /** On a bridge: the addresses of the card in the host's neighbour table. No other address counts there. */
  readonly seen?: ReadonlySet<string>
}

/** "This network", loopback, link-local, multicast, reserved and broadcast. */
const NEVER = ['0.0.0.0/8', '127.0.0.0/8', '169.254.0.0/16', '224.0.0.0/3'].map(readBlock)

/**
 * Whether an address is accepted as that of a guest. A guest, its agent and its packets can claim
 * any address. Only an address in the guest's own network that no other machine has is accepted.
 */
export function addressCounts(address: string, network: GuestNetwork): boolean {
  // One notation only: no leading zeros, no hexadecimal, no IPv6 form.
  if (!isIPv4(address)) return false
  const { blocks, own, apart, kept, seen } = network
  return (
    blocks.some((block) => isWithin(address, block) && !isEdge(address, block)) &&
    ![...NEVER, ...apart].some((block) => isWithin(address, block)) &&
    !own.has(address) &&
    !kept.has(address) &&
    (seen === undefined || seen.has(address))
  )
}

/** The first and the last address of a network belong to no machine. */
function isEdge(address: string, { base, prefix }: AddressBlock): boolean {
  if (prefix > 30) return false
  const number = addressNumber(address)
  return number === base || number === base + 2 ** (32 - prefix) - 1
}

/** One address of a network card of this machine. */
export interface CardAddress {
  readonly card: string
  readonly address: string
  readonly cidr: string
}

/** The IPv4 addresses of this machine now. */
export const ownAddresses = (): CardAddress[] =>
  Object.entries(networkInterfaces()).flatMap(([card, addresses = []]) =>
    addresses
      .filter(({ family }) => family === 'IPv4')
      .map(({ address, cidr }) => ({ card, address, cidr: cidr ?? `${address}/32` })),
  )

/** The network of a VM that is on one of our networks. `others` are the other VMs. */
export function segmentNetwork(
  record: VmRecord,
  others: readonly VmRecord[],
  machine: readonly CardAddress[],
): GuestNetwork & { readonly host: string } {
  const text = record.network === undefined ? HOST_BLOCK : `${record.address ?? '0.0.0.0'}/24`
  const block = readBlock(text)
  const host =
    record.network === undefined
      ? hostSegment.host
      : (record.address ?? '0.0.0.0').replace(/\d+$/, '1')
  return {
    ...withNarrowerNetworks([block], machine),
    own: new Set([host, ...machine.map(({ address }) => address)]),
    kept: new Set(
      others
        .filter(({ uuid }) => uuid !== record.uuid)
        .flatMap(({ address }) => (address === undefined ? [] : [address])),
    ),
    host,
  }
}

/** The network of a VM on a bridge of this machine: the networks of the bridge's own addresses. */
export function bridgeNetwork(
  bridge: string,
  seen: readonly string[],
  machine: readonly CardAddress[],
): GuestNetwork {
  const blocks = machine.filter(({ card }) => card === bridge).map(({ cidr }) => readBlock(cidr))
  return {
    ...withNarrowerNetworks(blocks, machine),
    own: new Set(machine.map(({ address }) => address)),
    kept: new Set(),
    seen: new Set(seen),
  }
}

/** Only a smaller network takes precedence over a larger one in routing. */
const withNarrowerNetworks = (
  blocks: readonly AddressBlock[],
  machine: readonly CardAddress[],
): Pick<GuestNetwork, 'blocks' | 'apart'> => ({
  blocks,
  apart: machine
    .map(({ cidr }) => readBlock(cidr))
    .filter((each) => blocks.some(({ prefix }) => each.prefix > prefix)),
})

/** This machine's address on the bridge network that contains `address`. */
export const hostOnBridge = (
  bridge: string,
  address: string,
  machine: readonly CardAddress[],
): string | undefined =>
  machine.find(({ card, cidr }) => card === bridge && isWithin(address, readBlock(cidr)))?.address
