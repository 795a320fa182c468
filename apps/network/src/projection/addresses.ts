import { Fault } from '@skerry/fault'
import {
  isAddress,
  isBlockText,
  isPrefix64,
  readBlock,
  sizeOfPrefix,
  type AddressBlock,
} from '@skerry/vm'

/** Text that is written into rows of OVN is an address and nothing else. */
export function checkedAddress(text: string, what: string): string {
  if (isAddress(text)) return text
  throw new Fault('invalid', `${what} must be an IPv4 address, not ${JSON.stringify(text)}`)
}

export function checkedPrefix(text: string, what: string): string {
  if (isPrefix64(text)) return text
  throw new Fault(
    'invalid',
    `${what} must be a prefix of IPv6, such as fd12:3456:789a:1::/64, not ${JSON.stringify(text)}`,
  )
}

/** Reads ADDRESS or ADDRESS/PREFIX. */
export function checkedBlock(text: string, what: string): AddressBlock {
  if (isBlockText(text)) return readBlock(text)
  throw new Fault(
    'invalid',
    `${what} must be an IPv4 address or network, such as 10.0.0.0/24, not ${JSON.stringify(text)}`,
  )
}

/** The fewest blocks that cover the addresses from `low` to `last`. */
export function blocksBetween(low: number, last: number): readonly AddressBlock[] {
  const blocks: AddressBlock[] = []
  for (let at = low; at <= last;) {
    let prefix = 32
    while (
      prefix > 0 &&
      at % sizeOfPrefix(prefix - 1) === 0 &&
      at + sizeOfPrefix(prefix - 1) - 1 <= last
    ) {
      prefix--
    }
    blocks.push({ base: at, prefix })
    at += sizeOfPrefix(prefix)
  }
  return blocks
}
