import { isIPv4 } from 'node:net'

import { Fault } from '@skerry/fault'

/** A range of addresses with a common prefix. */
export interface AddressBlock {
  readonly base: number
  readonly prefix: number
}

const BITS = 32

const sizeOf = (prefix: number): number => 2 ** (BITS - prefix)

export function addressOf(number: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.')
}

const numberOf = (address: string): number =>
  address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)

/** Text that is written into rows of OVN is an address and nothing else. */
export function checkedAddress(text: string, what: string): string {
  // Node accepts no leading zeros, signs or spaces, so the text has one spelling.
  if (isIPv4(text)) return text
  throw new Fault('invalid', `${what} must be an IPv4 address, not ${JSON.stringify(text)}`)
}

export const blockText = ({ base, prefix }: AddressBlock): string => `${addressOf(base)}/${prefix}`

/** The block of an address with a prefix, such as 10.0.0.7/24. */
export function blockAround(address: string, prefix: number): AddressBlock {
  const size = sizeOf(prefix)
  return { base: Math.floor(numberOf(address) / size) * size, prefix }
}

/** Reads ADDRESS or ADDRESS/PREFIX. */
export function readBlock(text: string, what: string): AddressBlock {
  const [address = '', prefix = '32', ...rest] = text.split('/')
  if (rest.length === 0 && isIPv4(address) && /^(\d|[12]\d|3[0-2])$/.test(prefix)) {
    return blockAround(address, Number(prefix))
  }
  throw new Fault(
    'invalid',
    `${what} must be an IPv4 address or network, such as 10.0.0.0/24, not ${JSON.stringify(text)}`,
  )
}

export function isWithin(address: string, { base, prefix }: AddressBlock): boolean {
  const number = numberOf(address)
  return number >= base && number < base + sizeOf(prefix)
}

/** The fewest blocks that cover the addresses from `low` to `high`. */
export function blocksBetween(low: string, high: string): readonly AddressBlock[] {
  const blocks: AddressBlock[] = []
  const last = numberOf(high)
  for (let at = numberOf(low); at <= last;) {
    let prefix = BITS
    while (prefix > 0 && at % sizeOf(prefix - 1) === 0 && at + sizeOf(prefix - 1) - 1 <= last) {
      prefix--
    }
    blocks.push({ base: at, prefix })
    at += sizeOf(prefix)
  }
  return blocks
}
