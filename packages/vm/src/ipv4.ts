/** IPv4 addresses with a common prefix. */
export interface AddressBlock {
  /** The first one, as a number. */
  readonly base: number
  readonly prefix: number
}

const BITS = 32
const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)'
const ADDRESS = new RegExp(`^${OCTET}(?:\\.${OCTET}){3}$`)
const PREFIX = /^(?:\d|[12]\d|3[0-2])$/

/** Whether a text is an IPv4 address in its only spelling. */
export const isAddress = (text: string): boolean => ADDRESS.test(text)

/** Whether a text is ADDRESS or ADDRESS/PREFIX. */
export function isBlockText(text: string): boolean {
  const [address = '', prefix = '32', ...rest] = text.split('/')
  return rest.length === 0 && isAddress(address) && PREFIX.test(prefix)
}

/** The number of a text that is an address. */
export const addressNumber = (address: string): number =>
  address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)

export const addressText = (number: number): string =>
  [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.')

/** How many addresses a block has. */
export const sizeOfPrefix = (prefix: number): number => 2 ** (BITS - prefix)

/** The block that contains the address. */
export function blockAround(address: string, prefix: number): AddressBlock {
  const size = sizeOfPrefix(prefix)
  return { base: Math.floor(addressNumber(address) / size) * size, prefix }
}

/** '10.84.3.7/24' → the block that contains the address. */
export function readBlock(text: string): AddressBlock {
  const [address = '', prefix = '32'] = text.split('/')
  return blockAround(address, Number(prefix))
}

export const blockText = ({ base, prefix }: AddressBlock): string =>
  `${addressText(base)}/${prefix}`

export const netmaskOf = (prefix: number): string => addressText(2 ** BITS - sizeOfPrefix(prefix))

/** '255.255.255.0' → 24 */
export const prefixOf = (mask: string): number => BITS - Math.log2(2 ** BITS - addressNumber(mask))

/** Whether the blocks overlap: then one of them contains the other. */
export function blocksOverlap(a: AddressBlock, b: AddressBlock): boolean {
  const size = sizeOfPrefix(Math.min(a.prefix, b.prefix))
  return Math.floor(a.base / size) === Math.floor(b.base / size)
}

export const isWithin = (address: string, block: AddressBlock): boolean =>
  blocksOverlap({ base: addressNumber(address), prefix: BITS }, block)
