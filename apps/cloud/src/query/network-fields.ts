import { boolean, constant, number, reference, text } from './attribute.ts'

const allocated = '(select count(*)::integer from nic where nic.org = r.org and nic.network = r.id)'
const nameServer = (place: 1 | 2) => text(`(r.dns[${place}] collate "C")`, { maybe: true })

const fields = {
  name: text('r.name'),
  description: text('(r.description collate "C")'),
  vdc: reference('r.vdc', 'vdc'),
  vdcName: text('(select vdc.name from vdc where vdc.org = r.org and vdc.id = r.vdc)'),
  defaultGateway: text('r.gateway', { maybe: true }),
  netmask: text(`(host(netmask(('0.0.0.0/' || r.prefix)::inet)) collate "C")`, { maybe: true }),
  ipv6Prefix: text('r.ipv6_prefix', { maybe: true }),
  dns1: nameServer(1),
  dns2: nameServer(2),
  dnsSuffix: text('(r.dns_suffix collate "C")', { maybe: true }),
  // 0: directly on an external network, 1: behind an edge gateway, 2: isolated.
  linkType: number("(case r.kind when 'direct' then 0 when 'routed' then 1 else 2 end)"),
  connectedTo: text(
    `coalesce((select edge_gateway.name from edge_gateway where edge_gateway.org = r.org and edge_gateway.id = r.edge_gateway),
      (select external_network.name from external_network where external_network.id = r.external))`,
    { maybe: true },
  ),
  isBusy: boolean(`exists (select from task where task.network = r.id and task.org = r.org
    and task.state in ('queued', 'running'))`),
  isShared: boolean('r.shared'),
  isIpScopeInherited: constant(false),
  usedIpCount: number(allocated),
  totalIpCount: number(`(select coalesce(sum(high - low + 1), 0)::integer from network_range
    where network_range.org = r.org and network_range.network = r.id)`),
} as const

const networks = {
  resource: 'network',
  table: 'network',
  key: [{ sql: 'r.id', type: 'uuid' }],
  where: 'r.deleted_at is null',
  fields,
} as const

/** Networks in queries; the second name is the one that some clients of the original API ask for. */
export const networkTypes = [
  {
    name: 'orgVdcNetwork',
    element: 'OrgVdcNetworkRecord',
    references: ['OrgVdcNetworkReferences', 'OrgVdcNetworkReference'],
    ...networks,
  },
  {
    name: 'orgNetwork',
    element: 'OrgNetworkRecord',
    references: ['OrgNetworkReferences', 'OrgNetworkReference'],
    ...networks,
  },
] as const

const partsOf = (table: string, more = '') =>
  number(
    `(select count(*)::integer from ${table} part where part.org = r.org and part.security_group = r.id${more})`,
  )

/** The attributes of security groups in queries. */
const securityGroupFields = {
  name: text('r.name'),
  description: text('(r.description collate "C")'),
  selector: text(
    `(select string_agg(label.key || '=' || label.value, ', ' order by label.key) collate "C"
    from security_group_label label where label.org = r.org and label.security_group = r.id)`,
    { maybe: true },
  ),
  isInboundLimited: boolean('r.limits_in'),
  isOutboundLimited: boolean('r.limits_out'),
  numberOfRules: partsOf('security_group_rule'),
  // The labels of a deleted VM are kept as long as its row.
  numberOfVMs: partsOf(
    'security_group_member',
    ' and exists (select from vm where vm.org = part.org and vm.id = part.vm and vm.deleted_at is null)',
  ),
} as const

export const securityGroupRecord = {
  name: 'securityGroup',
  element: 'SecurityGroupRecord',
  resource: 'securityGroup',
  table: 'security_group',
  references: ['SecurityGroupReferences', 'SecurityGroupReference'],
  fields: securityGroupFields,
} as const
