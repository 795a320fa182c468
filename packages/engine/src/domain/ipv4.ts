/** A CIDR block. */
export interface Block {
  /** Its first address, as a number. */
  readonly start: number
  readonly prefix: number
}

export const numberOf = (address: string): number =>
  address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)

export const writeAddress = (number: number): string =>
  [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.')

/** '10.84.3.7/24' → the block that contains the address. */
export function readBlock(text: string): Block {
  const [address = '', prefix = '32'] = text.split('/')
  return blockAround(address, Number(prefix))
}

export function blockAround(address: string, prefix: number): Block {
  const size = 2 ** (32 - prefix)
  return { start: Math.floor(numberOf(address) / size) * size, prefix }
}

export const writeBlock = ({ start, prefix }: Block): string => `${writeAddress(start)}/${prefix}`

/** '255.255.255.0' → 24 */
export const prefixOf = (mask: string): number => 32 - Math.log2(2 ** 32 - numberOf(mask))

/** Whether the blocks overlap: then one of them contains the other. */
export function blocksOverlap(a: Block, b: Block): boolean {
  const size = 2 ** (32 - Math.min(a.prefix, b.prefix))
  return Math.floor(a.start / size) === Math.floor(b.start / size)
}

export const isWithin = (address: string, block: Block): boolean =>
  blocksOverlap({ start: numberOf(address), prefix: 32 }, block)
