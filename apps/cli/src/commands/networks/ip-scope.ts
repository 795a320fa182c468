import { addressText, netmaskOf, readBlock } from '@skerry/vm'
import { element, type Element } from '@skerry/xml'

import { Failure } from '../../terminal/failure.ts'

/** The addresses of a network, as a command line gives them. */
export interface WantedScope {
  readonly range: string
  /** Default: the first address of the range. */
  readonly gateway?: string | undefined
  readonly pool?: string | undefined
  readonly dns?: string | undefined
}

const CIDR = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})\/(\d{1,2})$/

/** The first usable address and the netmask of a range such as 192.168.10.0/24. The cloud checks the rest. */
function scopeOf(range: string): { readonly gateway: string; readonly netmask: string } {
  const [, ...parts] = (CIDR.exec(range) ?? []).map(Number)
  const [a = 0, b = 0, c = 0, d = 0, prefix = 0] = parts
  if (parts.length === 0 || prefix > 32 || [a, b, c, d].some((octet) => octet > 255)) {
    throw new Failure('usage', `${range} is not a range of addresses`, {
      hint: 'write it like 192.168.10.0/24',
    })
  }
  const { base } = readBlock(range)
  return { gateway: addressText(base + 1), netmask: netmaskOf(prefix) }
}

function poolOf(pool: string): Element {
  const [start = '', end = ''] = pool.split('-')
  return element(
    'IpRanges',
    {},
    element(
      'IpRange',
      {},
      element('StartAddress', {}, start.trim()),
      element('EndAddress', {}, end.trim()),
    ),
  )
}

export function ipScopeOf({ range, gateway, pool, dns = '' }: WantedScope): Element {
  const scope = scopeOf(range)
  const servers = dns.split(',').filter((each) => each.trim() !== '')
  return element(
    'IpScopes',
    {},
    element(
      'IpScope',
      {},
      element('IsInherited', {}, 'false'),
      element('Gateway', {}, gateway ?? scope.gateway),
      element('Netmask', {}, scope.netmask),
      ...servers.slice(0, 2).map((server, at) => element(`Dns${at + 1}`, {}, server.trim())),
      pool !== undefined && poolOf(pool),
    ),
  )
}
