// A network of an organisation: a switch with the cards of VMs, and what its DHCP and DNS answer.
import { Fault } from '@skerry/fault'
import { map, set, type OvsdbAtom, type OvsdbValue } from '@skerry/ovsdb'
import { blockText, eui64Address } from '@skerry/vm'

import { checkedAddress, checkedPrefix } from './addresses.ts'
import { derivedId, derivedMac } from './derived-id.ts'
import { none, ONLY_PORT, portKey, type UnitRows } from './northbound-row.ts'
import type { ProjectedExternalNetwork, ProjectedNetwork, ProjectedNic } from './projected-cloud.ts'

const LEASE_SECONDS = '86400'
/**
 * Port security: a guest sends from its own MAC address and its own IP addresses only. One that has no IPv4 address can send from any. IPv6
 * needs a network that has it: OVN lets an announced router pass all security groups. A network of the site may have it.
 */
const ANY_IPV4 = '0.0.0.0/0'
const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const isLabel = (text: string): boolean => new RegExp(`^${LABEL}$`).test(text)
const isDomain = (text: string): boolean =>
  text.length <= 253 && new RegExp(`^${LABEL}(?:\\.${LABEL})*$`).test(text)

export interface NetworkContext {
  readonly mtu: number
  readonly network: ProjectedNetwork
  readonly nics: readonly ProjectedNic[]
  /** Of a direct network. */
  readonly external?: ProjectedExternalNetwork | undefined
  /** The forwarded ports of its edge gateway: guests reach them by the external address too. */
  readonly forwards?: readonly OvsdbAtom[]
}

/** The name of the router's port that leads to a network. */
export const routerPortName = (network: string): string => `in-${network}`

/** The MAC address of the router on a network, which is also that of its DHCP server. */
export const routerMac = (network: string): string => derivedMac(network, 'router')

/** The cards that OVN knows: a VM without a host cannot use one, and no host may take its port. */
export const projectedNics = (nics: readonly ProjectedNic[]): readonly ProjectedNic[] =>
  nics.filter(({ connected, host }) => connected && host !== null)

export function addNetwork(rows: UnitRows, context: NetworkContext): void {
  const { network, external, forwards = [] } = context
  const { id, key, edgePort } = network
  const nics = projectedNics(context.nics)
  const dhcp = addDhcp(rows, context)
  const ports = nics.map((nic) => addNic(rows, nic, network, dhcp))
  if (edgePort !== null) {
    const leads = { 'router-port': routerPortName(id), ...portKey(ONLY_PORT) }
    ports.push(
      rows.add('Logical_Switch_Port', derivedId(id, 'up'), {
        ...plainPort,
        name: `up-${id}`,
        type: 'router',
        addresses: 'router',
        options: map(leads),
      }),
    )
  }
  if (external !== undefined) ports.push(addWire(rows, id, external))
  rows.add('Logical_Switch', id, {
    name: id,
    ports: set(ports),
    dns_records: addNames(rows, network, nics),
    load_balancer: set(forwards),
    other_config: map(portKey(key)),
  })
}

const plainPort = { port_security: none, dhcpv4_options: none, tag: none } as const

/** The port of a switch that leads to the bridge of an external network on each host. */
export function addWire(
  rows: UnitRows,
  owner: string,
  external: ProjectedExternalNetwork,
): OvsdbAtom {
  return rows.add('Logical_Switch_Port', derivedId(owner, 'wire'), {
    ...plainPort,
    name: `wire-${owner}`,
    type: 'localnet',
    addresses: 'unknown',
    tag: external.vlan === null ? none : external.vlan,
    options: map({ network_name: external.uplink, ...portKey(ONLY_PORT) }),
  })
}

const LINK_LOCAL = 'fe80::/64'

/** The address that a card gives itself by SLAAC; none, if its network has no IPv6. */
function ipv6Of({ mac }: ProjectedNic, { id, ipv6Prefix }: ProjectedNetwork): readonly string[] {
  if (ipv6Prefix === null) return []
  return [eui64Address(checkedPrefix(ipv6Prefix, `the IPv6 prefix of network ${id}`), mac)]
}

function addNic(
  rows: UnitRows,
  nic: ProjectedNic,
  network: ProjectedNetwork,
  dhcp: OvsdbAtom | undefined,
): OvsdbAtom {
  const { id, mac, key, host } = nic
  const address = nic.address === null ? undefined : checkedAddress(nic.address, `nic ${id}`)
  if (!/^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/.test(mac)) {
    throw new Fault('invalid', `nic ${id} must have a MAC address, not ${JSON.stringify(mac)}`)
  }
  const own = address === undefined ? [] : [address]
  const ipv6 = ipv6Of(nic, network)
  // Two cards on different networks may have one link-local address, so security groups do not know their cards by it.
  const sends = ipv6.length === 0 ? [] : [...ipv6, eui64Address(LINK_LOCAL, mac)]
  const sends4 = address === undefined && network.range !== null ? [ANY_IPV4] : own
  return rows.add('Logical_Switch_Port', id, {
    name: id,
    type: '',
    addresses: [mac, ...own, ...ipv6].join(' '),
    port_security: [mac, ...sends4, ...sends].join(' '),
    dhcpv4_options: address === undefined || dhcp === undefined ? none : dhcp,
    tag: none,
    options: map({ ...portKey(key), 'requested-chassis': host ?? '' }),
  })
}

function addDhcp(rows: UnitRows, { network, mtu }: NetworkContext): OvsdbAtom | undefined {
  const { id, range, dns, dnsSuffix, kind } = network
  if (range === null) return undefined
  const gateway = checkedAddress(range.gateway, `the gateway of network ${id}`)
  const servers = dns.map((each) => checkedAddress(each, `a DNS server of network ${id}`))
  const domain = checkedDomain(network)
  return rows.add('DHCP_Options', derivedId(id, 'dhcp'), {
    cidr: blockText(range),
    options: map({
      server_id: gateway,
      server_mac: routerMac(id),
      lease_time: LEASE_SECONDS,
      mtu: String(mtu),
      ...(kind === 'routed' && { router: gateway }),
      ...(servers.length > 0 && { dns_server: `{${servers.join(', ')}}` }),
      ...(dnsSuffix !== null && { domain_name: `"${domain}"` }),
    }),
  })
}

/** The suffix is written into actions of OVN's flows. */
function checkedDomain({ id, dnsSuffix }: ProjectedNetwork): string {
  if (dnsSuffix === null) return ''
  const domain = dnsSuffix.toLowerCase()
  if (isDomain(domain)) return domain
  throw new Fault(
    'invalid',
    `the DNS suffix of network ${id} must be a domain name, not ${JSON.stringify(dnsSuffix)}`,
  )
}

/** A VM whose name is no DNS label has no record. Two VMs with the same name share one. */
function addNames(
  rows: UnitRows,
  network: ProjectedNetwork,
  nics: readonly ProjectedNic[],
): OvsdbValue {
  if (network.range === null) return none
  const suffix = checkedDomain(network)
  const records = new Map<string, string[]>()
  for (const nic of nics) {
    const label = nic.names.map((each) => each.toLowerCase()).find(isLabel)
    const own = [...(nic.address === null ? [] : [nic.address]), ...ipv6Of(nic, network)]
    if (label === undefined || own.length === 0) continue
    for (const name of suffix === '' ? [label] : [label, `${label}.${suffix}`]) {
      records.set(name, [...(records.get(name) ?? []), ...own])
    }
  }
  const texts = [...records].map(([name, found]) => [name, found.toSorted().join(' ')])
  return rows.add('DNS', derivedId(network.id, 'dns'), {
    records: map(Object.fromEntries(texts) as Record<string, string>),
  })
}
