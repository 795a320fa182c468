import { BlockList, isIP, isIPv6 } from 'node:net'

/** IANA special-purpose networks: not a public server. They are this host, private networks, or unassigned. */
const special = new BlockList()
const networks4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]
const networks6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20', '5f00::/16']
for (const network of networks4) addSpecial(network, 'ipv4')
for (const network of networks6) addSpecial(network, 'ipv6')
/** The only globally routable part of IPv6; the rest is link-local, private, mapped or unassigned. */
const global6 = new BlockList()
global6.addSubnet('2000::', 3, 'ipv6')

function addSpecial(network: string, family: 'ipv4' | 'ipv6'): void {
  const [address = '', bits = ''] = network.split('/')
  special.addSubnet(address, Number(bits), family)
}

/** Whether this is a public internet address, so that a call to it cannot reach an internal network. */
export function isPublic(address: string): boolean {
  if (isIP(address) === 0) return false
  if (!isIPv6(address)) return !special.check(address, 'ipv4')
  return global6.check(address, 'ipv6') && !special.check(address, 'ipv6')
}

/** The canonical form of an address, for comparing. A mapped IPv4 address becomes the plain IPv4 address. */
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
