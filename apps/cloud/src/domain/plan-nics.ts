import { Fault } from '@skerry/fault'
import { addressText, sizeOfPrefix } from '@skerry/vm'

import { readAddress, chooseMac, chooseOffset, type OffsetRange } from './address-range.ts'

/** POOL and DHCP: the cloud chooses the address. MANUAL: the client names it. NONE: the card has none. */
export const allocationModes = ['POOL', 'MANUAL', 'DHCP', 'NONE'] as const
export type AllocationMode = (typeof allocationModes)[number]

/** A card as a client wants it. */
export interface WantedNic {
  readonly index: number
  /** The id of its network. */
  readonly network: string
  readonly mode: AllocationMode
  /** For MANUAL. */
  readonly address?: string
  readonly connected: boolean
}

/** A card with everything that its row holds but its owner and its id. */
export interface PlannedNic {
  readonly index: number
  readonly network: string
  readonly mode: AllocationMode
  readonly offset: number | null
  readonly address: string | null
  readonly mac: string
  readonly key: number
  readonly connected: boolean
}

/** The only card of a VM that is on the network of its host, which OVN does not know. */
export const cardAtHost = (mac: string): PlannedNic => ({
  index: 0,
  network: '',
  mode: 'POOL',
  offset: null,
  address: null,
  mac,
  key: 0,
  connected: true,
})

/** A locked network, with what its cards have. Planning a card takes from it. */
export interface NetworkStock {
  readonly name: string
  /** It is an external network itself: the site gives addresses, and knows them. */
  readonly direct: boolean
  readonly base: number
  readonly prefix: number
  readonly gateway: string
  readonly pool: readonly OffsetRange[]
  readonly taken: Set<number>
  /** Addresses that were given back a moment ago: neighbours remember them. */
  readonly resting: ReadonlySet<number>
  readonly macs: Set<string>
  readonly keys: Set<number>
  nextPort: number
}

const FIRST_PORT = 10
const LAST_PORT = 32_767

/** A card of this VM on a network. `before`: the card with the same index, which keeps what it can keep. */
export function planNic(
  vm: string,
  wanted: WantedNic,
  before: PlannedNic | undefined,
  stock: NetworkStock,
): PlannedNic {
  const kept = before?.network === wanted.network ? before : undefined
  const id = `${vm}/${wanted.index}`
  const offset = offsetOf(id, wanted, kept, stock)
  if (offset !== null) stock.taken.add(offset)
  const mac = kept?.mac ?? macFor(id, before, stock)
  stock.macs.add(mac)
  const { index, network, mode, connected } = wanted
  return {
    index,
    network,
    mode,
    connected,
    offset,
    address: offset === null ? null : addressText(stock.base + offset),
    mac,
    key: kept?.key ?? takePort(stock),
  }
}

function macFor(id: string, before: PlannedNic | undefined, { macs }: NetworkStock): string {
  return before && !macs.has(before.mac) ? before.mac : chooseMac(id, macs)
}

function offsetOf(
  id: string,
  { mode, address = '' }: WantedNic,
  kept: PlannedNic | undefined,
  stock: NetworkStock,
): number | null {
  if (stock.direct) return withoutAddress(mode, stock)
  if (mode === 'NONE') return null
  if (mode === 'MANUAL') return namedOffset(address, kept, stock)
  if (kept && kept.offset !== null) return kept.offset
  const { name, pool, taken, resting } = stock
  const free = chooseOffset(pool, { taken, resting, id })
  if (free !== undefined) return free
  throw new Fault('no-room', `network ${name} has no free address`, {
    hint: 'widen its IpRanges; an address that was given back is free again after ten minutes',
  })
}

function withoutAddress(mode: AllocationMode, { name }: NetworkStock): null {
  if (mode === 'NONE' || mode === 'DHCP') return null
  throw new Fault('invalid', `network ${name} has no addresses of the cloud`, {
    hint: 'IpAddressAllocationMode must be DHCP or NONE on it',
  })
}

function namedOffset(address: string, kept: PlannedNic | undefined, stock: NetworkStock): number {
  const { name, base, prefix, gateway, taken } = stock
  const offset = (readAddress(address) ?? -1) - base
  const last = sizeOfPrefix(prefix) - 2
  if (offset < 1 || offset > last || address === gateway) {
    throw new Fault(
      'invalid',
      `IpAddress must be from ${addressText(base + 1)} to ${addressText(base + last)} on network ${name}, and not its gateway ${gateway}`,
    )
  }
  if (kept?.offset !== offset && taken.has(offset)) {
    throw new Fault('conflict', `another VM has the address ${address} on network ${name}`)
  }
  return offset
}

/** Ports are numbered upwards, and those of deleted cards are used again at the end only: switches remember them for a while. */
function takePort(stock: NetworkStock): number {
  const { keys, name } = stock
  let key = stock.nextPort
  if (key > LAST_PORT) {
    key = FIRST_PORT
    while (keys.has(key)) key += 1
    if (key > LAST_PORT) throw new Fault('no-room', `network ${name} has no free port`)
  } else {
    stock.nextPort += 1
  }
  keys.add(key)
  return key
}

/** Whether the cards differ at most in whether they are connected. */
export function areSameCards(wanted: readonly WantedNic[], before: readonly PlannedNic[]): boolean {
  const isSame = (one: WantedNic, other: PlannedNic | undefined): boolean =>
    other !== undefined &&
    one.network === other.network &&
    one.mode === other.mode &&
    (one.address === undefined || one.address === other.address)
  const all = wanted.every((each) =>
    isSame(
      each,
      before.find(({ index }) => index === each.index),
    ),
  )
  return all && wanted.length === before.length
}
