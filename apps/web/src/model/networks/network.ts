// Networks as the pages show them, and as the user describes a new one.
import {
  addressNumber,
  addressText,
  blockAround,
  blockText,
  isAddress,
  isBlockText,
  isWithin,
  netmaskOf,
  prefixOf,
  readBlock,
} from '@skerry/vm/ipv4'

import type {
  AddressRangeDocument,
  FenceMode,
  IpScopeDocument,
} from '../../api/network-documents.ts'

export type NetworkKind = 'direct' | 'routed' | 'isolated'

const kindsByLink = ['direct', 'routed', 'isolated'] as const
export const kindOfLink = (linkType: number): NetworkKind => kindsByLink[linkType] ?? 'isolated'

const kindsByFence = { bridged: 'direct', natRouted: 'routed', isolated: 'isolated' } as const
export const kindOfFence = (fence: FenceMode | undefined): NetworkKind =>
  fence === undefined ? 'isolated' : kindsByFence[fence]

/** 10.84.0.1 and 255.255.240.0 → 10.84.0.0/20; undefined: the network has no addresses. */
export const rangeText = (
  gateway: string | undefined,
  netmask: string | undefined,
): string | undefined =>
  gateway === undefined || netmask === undefined
    ? undefined
    : blockText(blockAround(gateway, prefixOf(netmask)))

/** Why IPv6 of a network cannot be switched on or off: guests keep the addresses that they made of its prefix. */
export const whyNotIpv6 = (kind: NetworkKind, hasVms: boolean): string | undefined =>
  kind === 'routed'
    ? hasVms
      ? 'IPv6 is switched on and off while no VM is on the network'
      : undefined
    : 'only a routed network can have IPv6'

const PREFIX_MIN = 16
const PREFIX_MAX = 29

/** Whether a text is a range such as 192.168.10.0/24. */
export const isRange = (text: string): boolean => text.includes('/') && isBlockText(text)

const words = (text: string): readonly string[] =>
  text.split(/[\s,;]+/).filter((word) => word !== '')

/** One range a line or a word: 10.0.0.10-10.0.0.20, or one address. */
const rangesIn = (text: string): readonly AddressRangeDocument[] =>
  words(text).map((word) => {
    const [startAddress = '', endAddress = startAddress] = word.split(/[-–]/)
    return { startAddress, endAddress }
  })

export const rangesText = (ranges: readonly AddressRangeDocument[]): string =>
  ranges
    .map(({ startAddress, endAddress }) =>
      startAddress === endAddress ? startAddress : `${startAddress}-${endAddress}`,
    )
    .join('\n')

/** How many addresses the ranges have. */
export const countAddresses = (ranges: readonly AddressRangeDocument[]): number =>
  ranges.reduce(
    (sum, { startAddress, endAddress }) =>
      sum + addressNumber(endAddress) - addressNumber(startAddress) + 1,
    0,
  )

/** The addresses of a network as the user writes them. */
export interface WrittenScope {
  /** Such as 192.168.10.0/24. */
  readonly range: string
  /** Empty: the first address of the range. */
  readonly gateway: string
  readonly pool: string
  /** One or two name servers. */
  readonly dns: string
}

/** The router of a range unless the user names another one. */
export const routerOf = (range: string): string => addressText(readBlock(range).base + 1)

/** Why a network of an organisation cannot have these addresses. */
export function whyNotScope(scope: WrittenScope): string | undefined {
  const wrong = whyNotAddresses(scope)
  if (wrong !== undefined) return wrong
  const { prefix } = readBlock(scope.range)
  return prefix < PREFIX_MIN || prefix > PREFIX_MAX
    ? `the range must be from /${PREFIX_MIN} to /${PREFIX_MAX}`
    : undefined
}

/** Why an external network cannot: it may be of any size, but names the addresses that may be used. */
export const whyNotExternalScope = (scope: WrittenScope): string | undefined =>
  whyNotAddresses(scope) ??
  (scope.pool.trim() === '' ? 'the pool must name the addresses that may be used' : undefined)

function whyNotAddresses({ range, gateway, pool, dns }: WrittenScope): string | undefined {
  if (!isRange(range)) return 'the range must be written like 192.168.10.0/24'
  const block = readBlock(range)
  const isInside = (address: string): boolean => isAddress(address) && isWithin(address, block)
  if (gateway !== '' && !isInside(gateway)) return 'the router must be an address of the range'
  const isWrong = rangesIn(pool).some(
    ({ startAddress, endAddress }) =>
      !isInside(startAddress) ||
      !isInside(endAddress) ||
      addressNumber(endAddress) < addressNumber(startAddress),
  )
  if (isWrong) return 'the pool must be addresses of the range, like 192.168.10.100-192.168.10.199'
  const servers = words(dns)
  return servers.length > 2 || !servers.every(isAddress)
    ? 'name servers must be one or two addresses'
    : undefined
}

export function scopeOf({ range, gateway, pool, dns }: WrittenScope): IpScopeDocument {
  const [dns1 = '', dns2 = ''] = words(dns)
  const ipRange = rangesIn(pool)
  return {
    gateway: gateway === '' ? routerOf(range) : gateway,
    netmask: netmaskOf(readBlock(range).prefix),
    dns1,
    dns2,
    ...(ipRange.length > 0 && { ipRanges: { ipRange } }),
  }
}

/** The scope of a document as the user changes it. */
export const writtenScope = ({
  gateway = '',
  netmask,
  dns1,
  dns2,
  ipRanges,
}: IpScopeDocument): WrittenScope => ({
  range: rangeText(gateway, netmask) ?? '',
  gateway,
  pool: rangesText(ipRanges?.ipRange ?? []),
  dns: [dns1, dns2].filter(Boolean).join(', '),
})

export const NETWORK_NAME = /^[^\s/][^/]{0,127}$/
