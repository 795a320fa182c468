import { addressText, isBlockText, netmaskOf, readBlock } from '@skerry/vm'
import { childrenByLocalName, element, find, text, type Element } from '@skerry/xml'

import { Failure } from '../../terminal/failure.ts'

/** The addresses of a network, as a command line gives them. */
export interface WantedScope {
  readonly range: string
  /** Default: the first address of the range. */
  readonly gateway?: string | undefined
  readonly pool?: string | undefined
  readonly dns?: string | undefined
}

/** The first usable address and the netmask of a range such as 192.168.10.0/24. The cloud checks the rest. */
function scopeOf(range: string): { readonly gateway: string; readonly netmask: string } {
  // A single address has no range to choose from.
  if (!isBlockText(range) || !range.includes('/')) {
    throw new Failure('usage', `${range} is not a range of addresses`, {
      hint: 'write it like 192.168.10.0/24',
    })
  }
  const { base, prefix } = readBlock(range)
  return { gateway: addressText(base + 1), netmask: netmaskOf(prefix) }
}

/** One or several ranges: A-B, or A-B,C-D. */
const poolOf = (pool: string): Element =>
  element(
    'IpRanges',
    {},
    ...pool.split(',').map((range) => {
      const [start = '', end = ''] = range.split('-')
      return element(
        'IpRange',
        {},
        element('StartAddress', {}, start.trim()),
        element('EndAddress', {}, end.trim()),
      )
    }),
  )

/** At most two name servers: A, or A,B. */
const nameServersOf = (dns: string): readonly Element[] =>
  dns
    .split(',')
    .filter((each) => each.trim() !== '')
    .slice(0, 2)
    .map((server, at) => element(`Dns${at + 1}`, {}, server.trim()))

export function ipScopeOf({ range, gateway, pool, dns = '' }: WantedScope): Element {
  const scope = scopeOf(range)
  return element(
    'IpScopes',
    {},
    element(
      'IpScope',
      {},
      element('IsInherited', {}, 'false'),
      element('Gateway', {}, gateway ?? scope.gateway),
      element('Netmask', {}, scope.netmask),
      ...nameServersOf(dns),
      pool !== undefined && poolOf(pool),
    ),
  )
}

export const textIn = (node: Element | undefined, name: string): string =>
  text(childrenByLocalName(node, name)[0])?.trim() ?? ''

/** The addresses in the document of a network. */
export const scopeIn = (network: Element): Element | undefined =>
  find(network, 'Configuration', 'IpScopes', 'IpScope')

interface ChangedScope {
  readonly pool?: string | undefined
  /** `none` removes the name servers. */
  readonly dns?: string | undefined
}

/** Another pool or other name servers of a network. Gateway and netmask name the addresses that these belong to. */
export function changedScopeOf(network: Element, { pool, dns }: ChangedScope): Element | undefined {
  if (pool === undefined && dns === undefined) return undefined
  const scope = scopeIn(network)
  const servers = dns === 'none' ? [element('Dns1', {}, '')] : nameServersOf(dns ?? '')
  return element(
    'IpScopes',
    {},
    element(
      'IpScope',
      {},
      element('IsInherited', {}, 'false'),
      element('Gateway', {}, textIn(scope, 'Gateway')),
      element('Netmask', {}, textIn(scope, 'Netmask')),
      ...servers,
      pool !== undefined && poolOf(pool),
    ),
  )
}
