import type { Permission } from '../domain/roles.ts'
import { statusNumber } from '../domain/vm-status.ts'
import {
  boolean,
  constant,
  number,
  reference,
  text,
  time,
  word,
  type Attribute,
  type ReferenceTarget,
} from './attribute.ts'
import { edgeGatewayType, externalNetworkType } from './edge-types.ts'
import { networkTypes, securityGroupRecord } from './network-fields.ts'
import { taskFields, vappOrVm } from './task-fields.ts'

/** A column that identifies records and gives their order of creation. */
export interface RecordKey {
  readonly sql: string
  readonly type: 'uuid' | 'xid8' | 'bigint'
}

/** A type of GET /api/query?type=…: where its records are read, what they show, and to whom. */
export interface RecordType {
  readonly name: string
  readonly element: string
  /** The elements of format=references; undefined: the records have no address. */
  readonly references?: readonly [list: string, one: string]
  /** The kind of resource that a record describes. */
  readonly resource: ReferenceTarget | 'event'
  readonly permission: Permission
  /** Whose records: those of the caller's organisation, all, or all for an administrator and otherwise the caller's. */
  readonly reach: 'own' | 'all' | 'own or all'
  readonly table: string
  readonly key: readonly [RecordKey, ...RecordKey[]]
  readonly where?: string
  /** Which of its records are shared with a caller without the right: those of a vApp or a catalog, by this column. Missing: none. */
  readonly shared?: { readonly with: 'vapp' | 'catalog' | 'template'; readonly column: string }
  /** A condition that is always true, added only when all organisations are read: it enables the indexes over all of them. */
  readonly everywhere?: string
  /** Tables of totals: for each organisation, for the whole cloud, and changes that are in neither yet. */
  readonly tally?: { readonly folded: string; readonly cloud: string; readonly fresh: string }
  readonly fields: Readonly<Record<string, Attribute>>
}

const id = [{ sql: 'r.id', type: 'uuid' }] as const satisfies [RecordKey]
const always = "r.created_at > '-infinity'"
const name = text('r.name')
const keyedName = text('r.name', { folded: 'r.name_key', walked: true })
const orgName = text('(select org.name from org where org.id = r.org)')
const org = reference('r.org', 'org')
const no = constant(false)
const yes = constant(true)
const vmWords = Object.keys(statusNumber)

/**
 * Of its first card, also if that is null; a VM without cards on networks across hosts has what its host reported. One subquery
 * each: a page is planned for each request.
 */
const networkName = `coalesce((select (select network.name from network where network.org = nic.org and network.id = nic.network)
  from nic where nic.org = r.org and nic.vm = r.id order by nic.index limit 1), r.network)`
const ipAddress = `(coalesce((select array[nic.address] from nic
  where nic.org = r.org and nic.vm = r.id order by nic.index limit 1), array[r.address]))[1]`

const vmFields = {
  name: keyedName,
  containerName: text('r.container_name', { folded: 'r.container_key', walked: true }),
  container: reference('r.vapp', 'vapp'),
  vdc: reference('r.vdc', 'vdc', { tallied: 'org' }),
  vdcName: text('(select vdc.name from vdc where vdc.org = r.org and vdc.id = r.vdc)'),
  status: word('r.displayed_status', vmWords, { tallied: 'cloud' }),
  networkName: text(networkName, { maybe: true }),
  ipAddress: text(ipAddress, { maybe: true }),
  numberOfCpus: number('r.cpus'),
  memoryMB: number('r.memory_mib'),
  isBusy: boolean('(r.holder is not null)'),
  isDeployed: boolean("(r.displayed_status = 'POWERED_ON')", { tallied: 'cloud' }),
  isDeleted: no,
  isPublished: no,
  isVAppTemplate: no,
  diskMB: number('r.disk_mib'),
  dateCreated: time('r.created_at'),
} as const satisfies RecordType['fields']

const vm = {
  element: 'VMRecord',
  references: ['VMReferences', 'VMReference'],
  resource: 'vm',
  table: 'vm',
  key: id,
  where: 'r.deleted_at is null',
  everywhere: always,
  tally: { folded: 'vm_tally', cloud: 'vm_tally_cloud', fresh: 'vm_tally_delta' },
} as const

const vmsOfIt = 'vm where vm.org = r.org and vm.vapp = r.id and vm.deleted_at is null'
const vappFields = {
  name: keyedName,
  vdc: reference('r.vdc', 'vdc'),
  vdcName: text('r.vdc_name'),
  status: text(`(select case when min(vm.displayed_status) is null then 'RESOLVED'
    when min(vm.displayed_status) = max(vm.displayed_status) then min(vm.displayed_status) else 'MIXED' end from ${vmsOfIt})`),
  numberOfVMs: number(`(select count(*)::integer from ${vmsOfIt})`),
  isBusy: boolean(`exists (select from task where task.org = r.org and task.vapp = r.id
    and task.state in ('queued', 'running'))`),
  isDeployed: boolean(`exists (select from ${vmsOfIt} and vm.displayed_status = 'POWERED_ON')`),
  creationDate: time('r.created_at'),
  ownerName: text('r.owner'),
  isEnabled: yes,
  isPublic: no,
  isInMaintenanceMode: no,
  isExpired: boolean('(r.expired_at is not null)', { since: '5.1' }),
} as const satisfies RecordType['fields']

const vapp = {
  element: 'VAppRecord',
  references: ['VAppReferences', 'VAppReference'],
  resource: 'vapp',
  table: 'vapp',
  key: id,
  where: 'r.deleted_at is null',
  everywhere: always,
} as const

const task = {
  element: 'TaskRecord',
  references: ['TaskReferences', 'TaskReference'],
  resource: 'task',
  table: 'task',
  key: id,
  everywhere: always,
} as const

/** SQL for the number of VMs, from the tally. */
const summed = (where: string): string => `(select coalesce(sum(n), 0)::integer from (
  select n from vm_tally t where ${where} union all select n from vm_tally_delta t where ${where}) t)`

const administrators = { permission: 'cloud:read', reach: 'all' } as const
const tenants = { permission: 'vm:read', reach: 'own' } as const
const anybody = { permission: 'vm:read', reach: 'own or all' } as const

const ofVapp = (column: string) => ({ with: 'vapp', column }) as const

const types: readonly RecordType[] = [
  {
    name: 'vm',
    ...vm,
    ...tenants,
    shared: ofVapp('r.vapp'),
    fields: { ...vmFields, isInMaintenanceMode: no },
  },
  {
    name: 'adminVM',
    ...vm,
    ...administrators,
    element: 'AdminVMRecord',
    fields: {
      ...vmFields,
      org: reference('r.org', 'org', { tallied: 'org' }),
      orgName,
      hostName: text('r.host_name', { maybe: true }),
    },
  },
  { name: 'vApp', ...vapp, ...tenants, shared: ofVapp('r.id'), fields: vappFields },
  {
    name: 'adminVApp',
    ...vapp,
    ...administrators,
    element: 'AdminVAppRecord',
    fields: { ...vappFields, org, orgName },
  },
  { name: 'task', ...task, ...tenants, shared: ofVapp('r.vapp'), fields: taskFields },
  {
    name: 'adminTask',
    ...task,
    ...administrators,
    element: 'AdminTaskRecord',
    fields: taskFields,
  },
  {
    name: 'organization',
    element: 'OrgRecord',
    resource: 'org',
    table: 'org',
    key: id,
    references: ['OrganizationReferences', 'OrganizationReference'],
    ...anybody,
    fields: {
      name,
      displayName: name,
      isEnabled: boolean('(not r.disabled)'),
      numberOfVdcs: number('(select count(*)::integer from vdc where vdc.org = r.id)'),
      numberOfCatalogs: number('(select count(*)::integer from catalog where catalog.org = r.id)'),
      numberOfVApps: number(
        '(select count(*)::integer from vapp where vapp.org = r.id and vapp.deleted_at is null)',
      ),
      numberOfVMs: number(summed('t.org = r.id')),
      numberOfRunningVMs: number(summed("t.org = r.id and t.displayed_status = 'POWERED_ON'")),
    },
  },
  {
    name: 'orgVdc',
    element: 'OrgVdcRecord',
    resource: 'vdc',
    table: 'vdc',
    key: id,
    references: ['OrgVdcReferences', 'OrgVdcReference'],
    ...tenants,
    fields: {
      name,
      org,
      orgName,
      status: constant('READY'),
      isEnabled: boolean('(not r.disabled)'),
      isBusy: no,
      numberOfVApps: number(`(select count(*)::integer from vapp
        where vapp.org = r.org and vapp.vdc = r.id and vapp.deleted_at is null)`),
      numberOfVMs: number(summed('t.org = r.org and t.vdc = r.id')),
      storageUsedMB: number(`(select coalesce(sum(vm.stored_mib), 0)::integer from vm
        where vm.org = r.org and vm.vdc = r.id and vm.deleted_at is null)`),
    },
  },
  ...networkTypes.map((type) => ({ ...type, ...tenants })),
  edgeGatewayType,
  externalNetworkType,
  { ...securityGroupRecord, ...tenants, key: id },
  {
    name: 'catalog',
    element: 'CatalogRecord',
    resource: 'catalog',
    table: 'catalog',
    key: id,
    references: ['CatalogReferences', 'CatalogReference'],
    ...tenants,
    shared: { with: 'catalog', column: 'r.id' },
    fields: {
      name,
      org,
      orgName,
      creationDate: time('r.created_at'),
      isPublished: no,
      numberOfVAppTemplates: number(`(select count(*)::integer from catalog_item
        where catalog_item.org = r.org and catalog_item.catalog = r.id)`),
    },
  },
  {
    name: 'vAppTemplate',
    element: 'VAppTemplateRecord',
    resource: 'template',
    references: ['VAppTemplateReferences', 'VAppTemplateReference'],
    table: 'template',
    key: id,
    ...tenants,
    shared: { with: 'template', column: 'r.id' },
    fields: {
      name,
      org,
      status: constant('POWERED_OFF'),
      isEnabled: yes,
      isBusy: no,
      isDeployed: no,
      isPublished: no,
      isExpired: no,
      numberOfCpus: number('r.cpus'),
      memoryMB: number('r.memory_mib'),
      diskMB: number('r.disk_mib'),
    },
  },
  {
    name: 'event',
    element: 'EventRecord',
    resource: 'event',
    table: 'event',
    ...anybody,
    key: [
      { sql: 'r.tx', type: 'xid8' },
      { sql: 'r.seq', type: 'bigint' },
    ],
    fields: {
      eventType: text('r.kind'),
      timeStamp: time('r.at'),
      eventStatus: number(
        "(case when r.kind in ('task.error', 'task.canceled', 'session.refused') then 0 else 1 end)",
      ),
      userName: text(
        `(coalesce((select task.owner from task where task.id = r.task), r.details ->> 'by', r.details ->> 'user') collate "C")`,
        { maybe: true },
      ),
      userAddress: text(`((r.details ->> 'from') collate "C")`, { maybe: true }),
      orgName: text('(select org.name from org where org.id = r.org)', { maybe: true }),
      entity: reference('coalesce(r.vm, r.vapp)', vappOrVm, { maybe: true }),
      entityType: text(
        `(case when r.vm is not null then 'vm' when r.vapp is not null then 'vApp'
        when r.host is not null then 'host' end)`,
        { maybe: true },
      ),
      entityName: text(
        `coalesce((select vm.name from vm where vm.id = r.vm),
        (select vapp.name from vapp where vapp.id = r.vapp and r.vm is null))`,
        { maybe: true },
      ),
    },
  },
  {
    name: 'host',
    element: 'HostRecord',
    resource: 'host',
    table: 'host',
    key: id,
    references: ['HostReferences', 'HostReference'],
    ...administrators,
    fields: {
      name,
      state: word('r.state', ['joined', 'revoked', 'lost']),
      isEnabled: boolean('r.enabled'),
      // Whether new VMs may be placed on it.
      isOpen: boolean("(r.enabled and r.state = 'joined' and r.quarantine is null)"),
      isBusy: no,
      numOfCpusLogical: number('r.cpus'),
      cpusUsed: number('(r.placed_cpus + r.local_cpus)'),
      memTotal: number('r.memory_mib'),
      memUsed: number('(r.placed_memory_mib + r.local_memory_mib)'),
      storageTotal: number('r.disk_mib'),
      storageUsed: number('r.placed_disk_mib'),
      numberOfVMs: number(
        '(select count(*)::integer from vm where vm.host = r.id and vm.deleted_at is null)',
      ),
      version: text('r.version', { maybe: true }),
      address: text('r.address'),
      quarantine: text('r.quarantine', { maybe: true }),
      lastSeen: time('r.seen_at', { maybe: true }),
      // The cell that follows it now.
      cellName: text('(case when r.follow_until > clock_timestamp() then r.follower end)', {
        maybe: true,
      }),
    },
  },
]

/** By name; names are case-sensitive. */
export const recordTypes: ReadonlyMap<string, RecordType> = new Map(
  types.map((type) => [type.name, type]),
)
