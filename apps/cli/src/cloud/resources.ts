import type { Record as Found } from '@skerry/cloud-client'
import { mebibytes, type TableColumn } from '@skerry/command-line'

import { stateWord } from '../vms/state-words.ts'
import { idIn, kinds, type Kind } from './named.ts'

/** A kind of resource with a `list` command: its columns, order and next step. */
export interface ResourceList {
  /** First word of the commands. */
  readonly word: string
  /** Argument name in a usage; events have no href, so they cannot be named. */
  readonly place?: string
  readonly kind: Kind
  readonly what: string
  /** Query type over all organisations, for cloud administrators. */
  readonly allOrgs?: string
  readonly columns: readonly TableColumn<Found>[]
  readonly order: { readonly sortAsc: string } | { readonly sortDesc: string }
  /** Default of --limit; undefined means all. */
  readonly limit?: number
  readonly filter: string
  readonly next: string
  /** Commands that are defined elsewhere. */
  readonly otherwise?: { readonly list?: true; readonly info?: true }
}

const of = (head: string, name: string, align?: 'right'): TableColumn<Found> => ({
  head,
  ...(align && { align }),
  cell: (row) => row[name] ?? '',
})
const size = (head: string, name: string): TableColumn<Found> => ({
  head,
  align: 'right',
  cell: (row) => (row[name] === undefined ? '' : mebibytes(Number(row[name]))),
})
const yes = (head: string, name: string): TableColumn<Found> => ({
  head,
  cell: (row) => (row[name] === 'true' ? 'yes' : 'no'),
  colour: (row) => (row[name] === 'true' ? undefined : 'yellow'),
})
const state: TableColumn<Found> = {
  head: 'STATE',
  cell: ({ status = '' }) => stateWord(status),
  colour: ({ status = '' }) => (status === 'POWERED_ON' ? 'green' : undefined),
}
const id: TableColumn<Found> = { head: 'ID', cell: ({ href }) => idIn(href) }
const name = of('NAME', 'name')
const byName = { sortAsc: 'name' } as const
const RECENT = 50

const taskColours: Readonly<Record<string, 'green' | 'red' | 'yellow'>> = {
  success: 'green',
  error: 'red',
  canceled: 'yellow',
}

export const resourceLists: readonly ResourceList[] = [
  {
    word: 'org',
    place: 'ORG',
    kind: kinds.org,
    what: 'organisations',
    order: byName,
    columns: [
      name,
      yes('ENABLED', 'isEnabled'),
      of('VDCS', 'numberOfVdcs', 'right'),
      of('CATALOGS', 'numberOfCatalogs', 'right'),
      of('VAPPS', 'numberOfVApps', 'right'),
      of('VMS', 'numberOfVMs', 'right'),
      of('RUNNING', 'numberOfRunningVMs', 'right'),
      id,
    ],
    filter: 'isEnabled==false',
    next: 'skerry quota info ORG shows its quota',
  },
  {
    word: 'vdc',
    place: 'VDC',
    kind: kinds.vdc,
    what: 'data centres',
    order: byName,
    columns: [
      name,
      of('ORG', 'orgName'),
      yes('ENABLED', 'isEnabled'),
      of('VAPPS', 'numberOfVApps', 'right'),
      of('VMS', 'numberOfVMs', 'right'),
      id,
    ],
    filter: 'name==main',
    next: 'skerry create ID --vdc VDC creates a VM in one',
  },
  {
    word: 'catalog',
    place: 'CATALOG',
    kind: kinds.catalog,
    what: 'catalogs',
    order: byName,
    columns: [
      name,
      of('ORG', 'orgName'),
      of('TEMPLATES', 'numberOfVAppTemplates', 'right'),
      of('CREATED', 'creationDate'),
      id,
    ],
    filter: 'name==main',
    next: 'skerry template list lists the templates',
  },
  {
    word: 'network',
    place: 'NETWORK',
    kind: kinds.network,
    what: 'networks',
    order: byName,
    columns: [
      name,
      of('GATEWAY', 'defaultGateway'),
      of('NETMASK', 'netmask'),
      of('IPV6', 'ipv6Prefix'),
      {
        head: 'REACHES',
        cell: ({ linkType }) => (linkType === '2' ? 'itself' : 'the outside'),
      },
      of('USED', 'usedIpCount', 'right'),
      of('ADDRESSES', 'totalIpCount', 'right'),
      of('VDC', 'vdcName'),
      id,
    ],
    filter: 'linkType==2',
    next: 'skerry create VM --network NETWORK creates a VM on one',
  },
  {
    word: 'edge',
    place: 'EDGE',
    kind: kinds.edge,
    what: 'edge gateways',
    order: byName,
    columns: [
      name,
      of('ADDRESS', 'ipAddress'),
      of('EXTERNAL NETWORK', 'externalNetworkName'),
      of('NETWORKS', 'numberOfOrgNetworks', 'right'),
      of('VDC', 'vdcName'),
      id,
    ],
    filter: 'name==default',
    otherwise: { info: true },
    next: 'skerry edge info EDGE shows its networks and rules',
  },
  {
    word: 'external',
    place: 'EXTERNAL',
    kind: kinds.external,
    what: 'external networks',
    order: byName,
    columns: [
      name,
      of('UPLINK', 'uplink'),
      of('VLAN', 'vlan', 'right'),
      of('GATEWAY', 'gateway'),
      of('NETMASK', 'netmask'),
      { head: 'DEFAULT', cell: ({ isDefault }) => (isDefault === 'true' ? 'yes' : '') },
      of('USED', 'usedIpCount', 'right'),
      of('ADDRESSES', 'totalIpCount', 'right'),
      id,
    ],
    filter: 'isDefault==true',
    next: 'skerry external create NAME creates one (cloud administrators only)',
  },
  {
    word: 'security-group',
    place: 'GROUP',
    kind: kinds.securityGroup,
    what: 'security groups',
    order: byName,
    columns: [
      name,
      of('LABELS', 'selector'),
      yes('INBOUND', 'isInboundLimited'),
      yes('OUTBOUND', 'isOutboundLimited'),
      of('RULES', 'numberOfRules', 'right'),
      of('VMS', 'numberOfVMs', 'right'),
      id,
    ],
    filter: 'name==web*',
    otherwise: { info: true },
    next: 'skerry security-group info GROUP shows its rules',
  },
  {
    word: 'template',
    place: 'TEMPLATE',
    kind: kinds.template,
    what: 'templates',
    columns: [name, id],
    order: byName,
    filter: 'name==debian*',
    otherwise: { list: true },
    next: 'skerry create ID --template TEMPLATE creates a VM from it',
  },
  {
    word: 'vapp',
    place: 'VAPP',
    kind: kinds.vapp,
    what: 'vApps',
    order: byName,
    allOrgs: 'adminVApp',
    columns: [
      name,
      state,
      of('VMS', 'numberOfVMs', 'right'),
      of('VDC', 'vdcName'),
      of('OWNER', 'ownerName'),
      of('CREATED', 'creationDate'),
      id,
    ],
    filter: 'status==POWERED_ON',
    next: 'skerry vapp start VAPP starts all its VMs',
  },
  {
    word: 'vm',
    place: 'VM',
    kind: kinds.vm,
    what: 'VMs',
    order: byName,
    allOrgs: 'adminVM',
    columns: [
      name,
      of('VAPP', 'containerName'),
      state,
      of('ADDRESS', 'ipAddress'),
      of('CPUS', 'numberOfCpus', 'right'),
      size('MEMORY', 'memoryMB'),
      size('DISK', 'diskMB'),
      of('ORG', 'orgName'),
      of('HOST', 'hostName'),
      id,
    ],
    filter: 'status==POWERED_ON;name==web*',
    next: 'skerry list does the same for a cloud and for this machine',
  },
  {
    word: 'task',
    place: 'TASK',
    what: 'tasks',
    allOrgs: 'adminTask',
    limit: RECENT,
    otherwise: { info: true },
    kind: { called: 'task', type: 'task', listed: 'skerry task list' },
    order: { sortDesc: 'startDate' },
    columns: [
      { ...of('STATUS', 'status'), colour: ({ status = '' }) => taskColours[status] },
      of('%', 'progress', 'right'),
      of('OPERATION', 'name'),
      of('RESOURCE', 'objectName'),
      of('BY', 'ownerName'),
      of('STARTED', 'startDate'),
      of('WAITS FOR', 'waitReason'),
      id,
    ],
    filter: 'status==error',
    next: 'skerry task info TASK shows why one failed or waits',
  },
  {
    word: 'event',
    what: 'events',
    order: { sortDesc: 'timeStamp' },
    kind: { called: 'event', type: 'event', listed: 'skerry event list' },
    limit: RECENT,
    columns: [
      of('AT', 'timeStamp'),
      of('TYPE', 'eventType'),
      of('RESOURCE', 'entityName'),
      of('BY', 'userName'),
      of('FROM', 'userAddress'),
      of('ORG', 'orgName'),
    ],
    filter: 'eventType==task.error',
    next: 'skerry event follow follows them live',
  },
  {
    word: 'host',
    place: 'HOST',
    kind: kinds.host,
    what: 'hosts',
    order: byName,
    columns: [
      name,
      of('STATE', 'state'),
      yes('ENABLED', 'isEnabled'),
      of('CPUS', 'numOfCpusLogical', 'right'),
      size('MEMORY', 'memTotal'),
      size('USED', 'memUsed'),
      size('DISK', 'storageTotal'),
      size('USED', 'storageUsed'),
      of('VMS', 'numberOfVMs', 'right'),
      of('ADDRESS', 'address'),
      of('LAST SEEN', 'lastSeen'),
    ],
    filter: 'isEnabled==false',
    next: 'skerry host disable HOST stops placing VMs on one',
  },
]

const TRUTHS = /^is[A-Z]/
const COUNTS =
  /^(numberOf|numOf|memory|memTotal|memUsed|disk|storage|progress|eventStatus|usedIp|totalIp|linkType|vlan)/

export type TypedRecord = Readonly<Record<string, string | number | boolean>>

/** A record for JSON output: with its id, and with typed numbers and booleans. */
export function typedRecord({ href, ...found }: Found): TypedRecord {
  const typed = Object.entries(found).map(([key, value]) => {
    if (TRUTHS.test(key)) return [key, value === 'true']
    return [key, COUNTS.test(key) ? Number(value) : value]
  })
  return {
    ...(href !== undefined && { id: idIn(href) }),
    ...(Object.fromEntries(typed) as TypedRecord),
    ...(href !== undefined && { href }),
  }
}
