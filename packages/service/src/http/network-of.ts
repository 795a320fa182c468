import { isIPv6 } from 'node:net'

/** The network of an address, as the unit of rate limits: with IPv6 every client has 2^64 addresses. */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  const [plain = ''] = address.split('%')
  if (!isIPv6(plain)) return address
  const [left = '', right] = plain.toLowerCase().split('::')
  const groups = (part: string | undefined) => (part ? part.split(':') : [])
  const [before, behind] = [groups(left), groups(right)]
  const zeros = right === undefined ? 0 : 8 - before.length - behind.length
  const whole = [...before, ...Array<string>(Math.max(0, zeros)).fill('0'), ...behind]
  return `${whole
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`
}
