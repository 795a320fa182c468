// An edge gateway: a router between networks of an organisation and an external network.
import { Fault } from '@skerry/fault'
import { map, set, type OvsdbAtom } from '@skerry/ovsdb'
import {
  blockAround,
  blockText,
  isWithin,
  readBlock,
  routerAddress6,
  whyNotFirewall,
  whyNotRoutes,
  type AddressBlock,
  type EdgeFirewall,
  type EdgeSurroundings,
} from '@skerry/vm'

import { checkedAddress, checkedBlock, checkedPrefix } from './addresses.ts'
import { derivedId, derivedMac } from './derived-id.ts'
import { addFirewall } from './firewall-rows.ts'
import { addForwards, addNat, checkNat } from './nat-rows.ts'
import { addNetwork, projectedNics, routerMac, routerPortName } from './network-rows.ts'
import { none, ONLY_PORT, portKey, type UnitRows } from './northbound-row.ts'
import type {
  ProjectedEdgeGateway,
  ProjectedExternalNetwork,
  ProjectedNetwork,
  ProjectedNic,
  ProjectedSecurityGroup,
} from './projected-cloud.ts'
import { readFirewall, readNat, readRoutes } from './read-rules.ts'
import { addSecurity } from './security-rows.ts'

/** The preferred host has the highest priority. */
const HOST_PRIORITY = 100
const PROTECTED_PRIORITY = 30_000
/** Without it the router never forgets the MAC address of an upstream router that was replaced. */
const NEIGHBOUR_SECONDS = '300'

export interface EdgeGatewayContext {
  readonly mtu: number
  readonly protected: readonly string[]
  readonly gateway: ProjectedEdgeGateway
  readonly external: ProjectedExternalNetwork
  readonly networks: readonly ProjectedNetwork[]
  readonly nicsOf: (network: string) => readonly ProjectedNic[]
  readonly securityGroups: readonly ProjectedSecurityGroup[]
}

interface RoutedNetwork {
  readonly id: string
  readonly block: AddressBlock
  readonly gateway: string
  /** Null: it has no IPv6. */
  readonly ipv6Prefix: string | null
  readonly port: number
}

/** The name of the router's port that leads outside. */
export const outsidePortName = (gateway: string): string => `out-${gateway}`

/** Adds the gateway, its networks and their cards. */
export function addEdgeGateway(rows: UnitRows, context: EdgeGatewayContext): void {
  const { mtu, gateway, nicsOf } = context
  // Matches list the networks: in one order, or an equal match would look changed.
  const networks = context.networks.toSorted((one, other) => (one.id < other.id ? -1 : 1))
  const { id, key } = gateway
  const of = `edge gateway ${id}`
  const routed = networks.map(routedOf)
  const blocks = routed.map(({ block }) => block)
  const around = surroundingsOf(context, blocks)
  const nat = checkNat(readNat(gateway.nat, of), around)
  const forwards = addForwards(rows, id, nat)
  rows.add('Logical_Router', id, {
    name: id,
    ports: set([addOutside(rows, context), ...routed.map((each) => addInside(rows, each, mtu))]),
    nat: set(addNat(rows, gateway, nat, routed)),
    static_routes: set(addRoutes(rows, context, around)),
    policies: set(addProtection(rows, context, routed)),
    load_balancer: set(forwards),
    options: map({
      ...portKey(key),
      // Routers on the same external network do not learn each other's addresses before they need them.
      dynamic_neigh_routers: 'true',
      always_learn_from_arp_request: 'false',
      mac_binding_age_threshold: NEIGHBOUR_SECONDS,
    }),
  })
  for (const network of networks) {
    addNetwork(rows, { mtu, network, nics: nicsOf(network.id), forwards })
  }
  const nics = networks.flatMap((each) => nicsOf(each.id))
  addFirewall(rows, {
    gateway: id,
    firewall: checkedFirewall(gateway.firewall, of),
    nat,
    own: blocks.map(blockText),
    nics: projectedNics(nics).map((nic) => nic.id),
  })
  addSecurity(rows, { owner: id, networks, nics, groups: context.securityGroups })
}

function routedOf({ id, range, ipv6Prefix, edgePort }: ProjectedNetwork): RoutedNetwork {
  if (range === null || edgePort === null) {
    throw new Fault('invalid', `network ${id} is routed, so it must have a range and a port`)
  }
  const gateway = checkedAddress(range.gateway, `the gateway of network ${id}`)
  if (!isWithin(gateway, range)) {
    throw new Fault('invalid', `the gateway of network ${id} must be in ${blockText(range)}`)
  }
  const prefix =
    ipv6Prefix === null ? null : checkedPrefix(ipv6Prefix, `the IPv6 prefix of network ${id}`)
  return { id, block: range, gateway, ipv6Prefix: prefix, port: edgePort }
}

function addOutside(rows: UnitRows, { gateway, external }: EdgeGatewayContext): OvsdbAtom {
  const { id, hosts } = gateway
  const address = checkedAddress(gateway.address, `edge gateway ${id}`)
  const carriers = hosts.map((host, at) =>
    rows.add('Gateway_Chassis', derivedId(id, 'host', host), {
      name: `${id}-${host}`,
      chassis_name: host,
      priority: HOST_PRIORITY - at,
    }),
  )
  return rows.add('Logical_Router_Port', derivedId(id, 'out'), {
    name: outsidePortName(id),
    mac: derivedMac(id, 'out'),
    networks: `${address}/${external.prefix}`,
    gateway_chassis: set(carriers),
    ipv6_ra_configs: map({}),
    options: map(portKey(ONLY_PORT)),
  })
}

/** With IPv6 the router announces itself and the prefix, of which guests make their addresses. */
function addInside(rows: UnitRows, network: RoutedNetwork, mtu: number): OvsdbAtom {
  const { id, gateway, block, ipv6Prefix, port } = network
  const announced = { address_mode: 'slaac', send_periodic: 'true', mtu: String(mtu) }
  return rows.add('Logical_Router_Port', derivedId(id, 'in'), {
    name: routerPortName(id),
    mac: routerMac(id),
    networks: set([
      `${gateway}/${block.prefix}`,
      ...(ipv6Prefix === null ? [] : [`${routerAddress6(ipv6Prefix)}/64`]),
    ]),
    gateway_chassis: none,
    ipv6_ra_configs: map(ipv6Prefix === null ? {} : announced),
    options: map(portKey(port)),
  })
}

/** What its rules may name. */
function surroundingsOf(
  { gateway, external }: EdgeGatewayContext,
  networks: readonly AddressBlock[],
): EdgeSurroundings {
  const { address, addresses } = gateway
  const upstream = checkedAddress(external.gateway, `external network ${external.id}`)
  return { address, addresses, networks, outside: blockAround(upstream, external.prefix) }
}

function checkedFirewall(stored: unknown, of: string): EdgeFirewall {
  const firewall = readFirewall(stored, of)
  const wrong = whyNotFirewall(firewall)
  if (wrong === undefined) return firewall
  throw new Fault('invalid', wrong)
}

function addRoutes(
  rows: UnitRows,
  { gateway, external }: EdgeGatewayContext,
  around: EdgeSurroundings,
): readonly OvsdbAtom[] {
  const { id } = gateway
  const add = (row: string, ip_prefix: string, nexthop: string) =>
    rows.add('Logical_Router_Static_Route', row, { ip_prefix, nexthop })
  const routes = readRoutes(gateway.routes, `edge gateway ${id}`)
  const wrong = whyNotRoutes(routes, around)
  if (wrong !== undefined) throw new Fault('invalid', wrong)
  return [
    add(derivedId(id, 'default route'), '0.0.0.0/0', external.gateway),
    ...routes.map(({ id: route, network, nexthop }) =>
      add(derivedId(id, 'route', route), blockText(readBlock(network)), nexthop),
    ),
  ]
}

/**
 * No packet leaves for a network of the operator. An organisation may use the same addresses for a network of its own, but a static route
 * into that one leads outside no more than others. No one outside has an address of a network inside: the firewall takes such a packet
 * for one from inside. IPv6 ends at the edge gateway: it has no route to the outside, and nothing from there comes in.
 */
function addProtection(
  rows: UnitRows,
  { gateway, protected: protectedNetworks }: EdgeGatewayContext,
  own: readonly RoutedNetwork[],
): readonly OvsdbAtom[] {
  const add = (what: string, match: string) =>
    rows.add('Logical_Router_Policy', derivedId(gateway.id, what), {
      priority: PROTECTED_PRIORITY,
      match,
      action: 'drop',
    })
  const outside = `"${outsidePortName(gateway.id)}"`
  const inside = own.map(({ block }) => blockText(block))
  const blocks = protectedNetworks.map((each) =>
    blockText(checkedBlock(each, 'a protected network')),
  )
  const drop = (what: string, match: string, among: readonly string[]) =>
    among.length === 0 ? [] : [add(what, `${match} == {${among.join(', ')}}`)]
  return [
    ...drop('spoofed', `inport == ${outside} && ip4.src`, inside),
    ...drop('protected', `outport == ${outside} && ip4.dst`, blocks),
    ...(own.every(({ ipv6Prefix }) => ipv6Prefix === null)
      ? []
      : [add('ipv6', `inport == ${outside} && ip6`)]),
  ]
}
