import { isIPv4 } from 'node:net'

import { Fault } from '@skerry/fault'
import { blockAround, sizeOfPrefix, type AddressBlock } from '@skerry/vm'

/** Text that is written into rows of OVN is an address and nothing else. */
export function checkedAddress(text: string, what: string): string {
  // Node accepts no leading zeros, signs or spaces, so the text has one spelling.
  if (isIPv4(text)) return text
  throw new Fault('invalid', `${what} must be an IPv4 address, not ${JSON.stringify(text)}`)
}

/** Reads ADDRESS or ADDRESS/PREFIX. */
export function checkedBlock(text: string, what: string): AddressBlock {
  const [address = '', prefix = '32', ...rest] = text.split('/')
  if (rest.length === 0 && isIPv4(address) && /^(\d|[12]\d|3[0-2])$/.test(prefix)) {
    return blockAround(address, Number(prefix))
  }
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
