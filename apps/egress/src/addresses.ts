import { BlockList, isIP, isIPv6 } from 'node:net'

/** What is not somebody else's server on the internet (IANA's special-purpose registries): ourselves, our networks, nobody. */
const special = new BlockList()
const networks4 = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15'],
  ...['198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
]
const networks6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20', '5f00::/16']
for (const network of networks4) add(network, 'ipv4')
for (const network of networks6) add(network, 'ipv6')
/** Of IPv6 only this part is given out at all; the rest is link-local, private, mapped or nobody's. */
const global6 = new BlockList()
global6.addSubnet('2000::', 3, 'ipv6')

function add(network: string, family: 'ipv4' | 'ipv6'): void {
  const [address = '', bits = ''] = network.split('/')
  special.addSubnet(address, Number(bits), family)
}

/** Is it a server on the internet, so that nobody's inside is reached by it? */
export function isPublic(address: string): boolean {
  if (isIP(address) === 0) return false
  if (!isIPv6(address)) return !special.check(address, 'ipv4')
  return global6.check(address, 'ipv6') && !special.check(address, 'ipv6')
}

/** The one way to write an address, for comparing: a mapped IPv4 address is that address. */
export function plainAddress(text: string): string | undefined {
  const bare = text.replace(/^\[(.*)\]$/, '$1')
  if (isIP(bare) === 0 || bare.includes('%')) return undefined
  if (!isIPv6(bare)) return bare
  const [, host = ''] = /^http:\/\/\[(.*)\]\/$/.exec(new URL(`http://[${bare}]/`).href) ?? []
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(host)
  if (mapped === null) return host
  const [high = 0, low = 0] = mapped.slice(1).map((each) => Number.parseInt(each, 16))
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}
