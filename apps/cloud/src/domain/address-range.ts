import { createHash } from 'node:crypto'

import { Fault } from '@skerry/fault'
import {
  addressNumber,
  addressText,
  blocksOverlap,
  isAddress,
  netmaskOf,
  readBlock,
  sizeOfPrefix,
  type AddressBlock,
} from '@skerry/vm'

/** Part of a range, as offsets from its base; both ends belong to it. */
export interface OffsetRange {
  readonly low: number
  readonly high: number
}

/** What a network is made of, as a client writes it. */
export interface AddressScope {
  readonly gateway: string
  readonly netmask: string
  /** Default: everything but the gateway. */
  readonly ranges?: readonly { readonly start: string; readonly end: string }[]
}

export interface PlannedRange extends AddressBlock {
  /** From which addresses are chosen, in ascending order. The others are for those who name one. */
  readonly pool: readonly OffsetRange[]
}

const LEAST_PREFIX = 16
const MOST_PREFIX = 29
const EXTERNAL_PREFIXES = { least: 8, most: 30 } as const
const RANGES_MAX = 16

/** The address as a number; undefined: the text is no address. */
export const readAddress = (text: string): number | undefined =>
  isAddress(text) ? addressNumber(text) : undefined

const prefixOfNetmask = (netmask: string): number | undefined =>
  Array.from({ length: 33 }, (_, prefix) => prefix).find((prefix) => netmaskOf(prefix) === netmask)

/** Addresses that no guest can use, and those between edge gateways and hosts. */
const RESERVED = ['0.0.0.0/8', '100.64.0.0/16', '127.0.0.0/8', '169.254.0.0/16', '224.0.0.0/3']
const reserved = RESERVED.map((text) => ({ text, ...readBlock(text) }))

const invalid = (message: string, hint?: string): Fault =>
  new Fault('invalid', message, hint === undefined ? {} : { hint })

function addressIn(name: string, text: string): number {
  const number = readAddress(text)
  if (number === undefined) throw invalid(`${name} must be an IPv4 address, not ${text}`)
  return number
}

/** The range and the pool of a network. */
export const planRange = (scope: AddressScope): PlannedRange =>
  planBetween(scope, { least: LEAST_PREFIX, most: MOST_PREFIX })

/** The range and the pool of an external network. */
export const planExternalRange = (scope: AddressScope): PlannedRange =>
  planBetween(scope, EXTERNAL_PREFIXES)

function planBetween(
  { gateway, netmask, ranges }: AddressScope,
  { least, most }: { readonly least: number; readonly most: number },
): PlannedRange {
  const router = addressIn('Gateway', gateway)
  const prefix = prefixOfNetmask(netmask)
  if (prefix === undefined || prefix < least || prefix > most) {
    throw invalid(
      `Netmask must be from ${netmaskOf(least)} (/${least}) to ${netmaskOf(most)} (/${most})`,
    )
  }
  const size = sizeOfPrefix(prefix)
  const base = router - (router % size)
  const own = { base, prefix }
  const barred = reserved.find((each) => blocksOverlap(each, own))
  if (barred) throw invalid(`addresses of ${barred.text} cannot be used in a network`)
  const at = router - base
  if (at === 0 || at === size - 1) {
    throw invalid(
      `Gateway ${gateway} is the ${at === 0 ? 'first' : 'last'} address of its range: no machine can have it`,
      `use ${addressText(base + 1)}`,
    )
  }
  return { ...own, pool: ranges ? poolOf(own, at, ranges) : wholePool(size, at) }
}

/** All but the gateway, the first and the last address. */
const wholePool = (size: number, gateway: number): readonly OffsetRange[] =>
  [
    { low: 1, high: gateway - 1 },
    { low: gateway + 1, high: size - 2 },
  ].filter(({ low, high }) => low <= high)

function poolOf(
  { base, prefix }: AddressBlock,
  gateway: number,
  ranges: NonNullable<AddressScope['ranges']>,
): readonly OffsetRange[] {
  if (ranges.length > RANGES_MAX) throw invalid(`at most ${RANGES_MAX} IpRanges are allowed`)
  const size = sizeOfPrefix(prefix)
  const pool = ranges
    .map(({ start, end }) => {
      const low = addressIn('StartAddress', start) - base
      const high = addressIn('EndAddress', end) - base
      if (low > high) throw invalid(`the range ${start} to ${end} ends before it starts`)
      if (low < 1 || high > size - 2) {
        throw invalid(
          `the range ${start} to ${end} must be within ${addressText(base + 1)} to ${addressText(base + size - 2)}`,
        )
      }
      if (low <= gateway && gateway <= high) {
        throw invalid(`the range ${start} to ${end} contains the gateway`)
      }
      return { low, high }
    })
    .toSorted((one, other) => one.low - other.low)
  const meeting = pool.findIndex(({ low }, index) => low <= (pool[index - 1]?.high ?? 0))
  if (meeting > 0) throw invalid('the IpRanges of a network must not overlap')
  return pool
}

/** Refuses a range that meets another network of the same router. */
export function requireApart(
  own: AddressBlock,
  others: readonly (AddressBlock & { readonly name: string })[],
): void {
  const met = others.find((each) => blocksOverlap(own, each))
  if (!met) return
  const { name, base, prefix } = met
  throw new Fault(
    'conflict',
    `network ${name} of the same edge gateway has the addresses ${addressText(base)}/${prefix}`,
    { hint: 'choose addresses that no other network of the edge gateway has' },
  )
}

/**
 * A free address of the pool, as an offset. The search begins at a place that depends on the card, so that an address which was
 * just given back is not the next to be given. Addresses in `resting` were given back too short a time ago.
 */
export function chooseOffset(
  pool: readonly OffsetRange[],
  {
    taken,
    resting,
    id,
  }: {
    readonly taken: ReadonlySet<number>
    readonly resting: ReadonlySet<number>
    readonly id: string
  },
): number | undefined {
  const isFree = (offset: number): boolean => !taken.has(offset) && !resting.has(offset)
  // A pool can have 65,000 addresses: they are counted, not listed.
  const freeBetween = (first: number, end: number): number | undefined => {
    let passed = 0
    for (const { low, high } of pool) {
      const last = Math.min(high, low + end - passed - 1)
      for (let offset = low + Math.max(0, first - passed); offset <= last; offset += 1) {
        if (isFree(offset)) return offset
      }
      passed += high - low + 1
    }
    return undefined
  }
  const size = pool.reduce((sum, { low, high }) => sum + high - low + 1, 0)
  const first = size === 0 ? 0 : digestOf(id).readUInt32BE(0) % size
  return freeBetween(first, size) ?? freeBetween(0, first)
}

/** The MAC address of a card: derived from its id, and not one of those that its network has. */
export function chooseMac(id: string, taken: ReadonlySet<string>): string {
  for (let attempt = 0; ; attempt += 1) {
    const tail = digestOf(`${id}/${attempt}`).subarray(0, 3).toString('hex').match(/../g) ?? []
    const mac = ['52', '54', '00', ...tail].join(':')
    if (!taken.has(mac)) return mac
  }
}

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest()
