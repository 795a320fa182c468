import { boolean, constant, number, reference, text, word } from './attribute.ts'

const counted = (from: string): string => `(select count(*)::integer from ${from})`

const edgeGatewayFields = {
  name: text('r.name'),
  org: reference('r.org', 'org'),
  orgName: text('(select org.name from org where org.id = r.org)'),
  vdc: reference('r.vdc', 'vdc'),
  vdcName: text('(select vdc.name from vdc where vdc.org = r.org and vdc.id = r.vdc)'),
  externalNetworkName: text(
    '(select external_network.name from external_network where external_network.id = r.external)',
  ),
  ipAddress: text('r.address'),
  numberOfExtNetworks: number('1'),
  numberOfOrgNetworks: number(
    counted(
      'network where network.org = r.org and network.edge_gateway = r.id and network.deleted_at is null',
    ),
  ),
  numberOfExternalAddresses: number(
    counted(`external_address where external_address.org = r.org and external_address.edge_gateway = r.id
      and external_address.purpose = 'tenant'`),
  ),
  numberOfNatRules: number('jsonb_array_length(r.nat)'),
  numberOfFirewallRules: number("jsonb_array_length(r.firewall -> 'rules')"),
  gatewayStatus: constant('READY'),
  haStatus: word("(case when cardinality(r.hosts) > 1 then 'UP' else 'DISABLED' end)", [
    'UP',
    'DISABLED',
  ]),
  isBusy: boolean(`exists (select from task where task.edge_gateway = r.id and task.org = r.org
    and task.state in ('queued', 'running'))`),
} as const

const nameServer = (place: 1 | 2) => text(`(r.dns[${place}] collate "C")`, { maybe: true })

const externalNetworkFields = {
  name: text('r.name'),
  description: text('(r.description collate "C")'),
  kind: word('r.kind', ['outbound', 'provider']),
  uplink: text('(r.uplink collate "C")'),
  vlan: number('r.vlan', { maybe: true }),
  gateway: text('(r.gateway collate "C")'),
  netmask: text(`(host(netmask(('0.0.0.0/' || r.prefix)::inet)) collate "C")`),
  dns1: nameServer(1),
  dns2: nameServer(2),
  isDefault: boolean('r.is_default'),
  numberOfEdgeGateways: number(
    counted('edge_gateway where edge_gateway.external = r.id and edge_gateway.deleted_at is null'),
  ),
  usedIpCount: number(counted('external_address where external_address.external = r.id')),
  totalIpCount: number(`(select coalesce(sum(high - low + 1), 0)::integer from external_range
    where external_range.external = r.id)`),
} as const

const key = [{ sql: 'r.id', type: 'uuid' }] as const
const where = 'r.deleted_at is null'

/** Edge gateways in queries. */
export const edgeGatewayType = {
  name: 'edgeGateway',
  element: 'EdgeGatewayRecord',
  resource: 'edgeGateway',
  table: 'edge_gateway',
  key,
  where,
  references: ['EdgeGatewayReferences', 'EdgeGatewayReference'],
  permission: 'network:read',
  reach: 'own or all',
  fields: edgeGatewayFields,
} as const

/** External networks in queries. */
export const externalNetworkType = {
  name: 'externalNetwork',
  element: 'NetworkRecord',
  resource: 'externalNetwork',
  table: 'external_network',
  key,
  where,
  references: ['ExternalNetworkReferences', 'ExternalNetworkReference'],
  permission: 'external:admin',
  reach: 'all',
  fields: externalNetworkFields,
} as const
