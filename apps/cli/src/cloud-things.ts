import type { Record as Found } from '@skerry/cloud-client'

import { idIn, kinds, type Kind } from './cloud-named.ts'
import { stateWord } from './state-words.ts'
import { mebibytes, type Column } from './table.ts'

/** Things of a cloud that are listed: which columns, in which order, and what is done with one of them next. */
export interface Things {
  /** The first word of its commands. */
  readonly word: string
  /** What stands for one of them in a usage; events have no address, so that none of them is named. */
  readonly place?: string
  readonly kind: Kind
  readonly what: string
  /** The type of a query over all organisations, which administrators of the cloud may ask. */
  readonly allOrgs?: string
  readonly columns: readonly Column<Found>[]
  readonly order: { readonly sortAsc: string } | { readonly sortDesc: string }
  /** How many are listed unless it is told; all, where it is left out. */
  readonly limit?: number
  readonly filter: string
  readonly next: string
  /** What there is a command of its own for. */
  readonly otherwise?: { readonly list?: true; readonly info?: true }
}

const of = (head: string, name: string, align?: 'right'): Column<Found> => ({
  head,
  ...(align && { align }),
  cell: (row) => row[name] ?? '',
})
const size = (head: string, name: string): Column<Found> => ({
  head,
  align: 'right',
  cell: (row) => (row[name] === undefined ? '' : mebibytes(Number(row[name]))),
})
const yes = (head: string, name: string): Column<Found> => ({
  head,
  cell: (row) => (row[name] === 'true' ? 'yes' : 'no'),
  colour: (row) => (row[name] === 'true' ? undefined : 'yellow'),
})
const state: Column<Found> = {
  head: 'STATE',
  cell: ({ status = '' }) => stateWord(status),
  colour: ({ status = '' }) => (status === 'POWERED_ON' ? 'green' : undefined),
}
const id: Column<Found> = { head: 'ID', cell: ({ href }) => idIn(href) }
const name = of('NAME', 'name')
const byName = { sortAsc: 'name' } as const
const RECENT = 50

const taskColours: Readonly<Record<string, 'green' | 'red' | 'yellow'>> = {
  success: 'green',
  error: 'red',
  canceled: 'yellow',
}

export const things: readonly Things[] = [
  {
    ...{ word: 'org', place: 'ORG', kind: kinds.org, what: 'organisations', order: byName },
    columns: [
      ...[name, yes('ENABLED', 'isEnabled'), of('VDCS', 'numberOfVdcs', 'right')],
      ...[of('CATALOGS', 'numberOfCatalogs', 'right'), of('VAPPS', 'numberOfVApps', 'right')],
      ...[of('VMS', 'numberOfVMs', 'right'), of('RUNNING', 'numberOfRunningVMs', 'right'), id],
    ],
    ...{ filter: 'isEnabled==false', next: 'skerry quota show ORG tells what one may have' },
  },
  {
    ...{ word: 'vdc', place: 'VDC', kind: kinds.vdc, what: 'data centres', order: byName },
    columns: [
      ...[name, of('ORG', 'orgName'), yes('ENABLED', 'isEnabled')],
      ...[of('VAPPS', 'numberOfVApps', 'right'), of('VMS', 'numberOfVMs', 'right'), id],
    ],
    ...{ filter: 'name==main', next: 'skerry create ID --vdc VDC makes a VM in one' },
  },
  {
    ...{ word: 'catalog', place: 'CATALOG', kind: kinds.catalog, what: 'catalogs', order: byName },
    columns: [
      ...[name, of('ORG', 'orgName'), of('TEMPLATES', 'numberOfVAppTemplates', 'right')],
      ...[of('MADE AT', 'creationDate'), id],
    ],
    ...{ filter: 'name==main', next: 'skerry template list shows what VMs are made of' },
  },
  {
    ...{ word: 'template', place: 'TEMPLATE', kind: kinds.template, what: 'templates' },
    ...{ columns: [name, id], order: byName, filter: 'name==debian*' },
    otherwise: { list: true },
    next: 'skerry create ID --template TEMPLATE makes a VM from it',
  },
  {
    ...{ word: 'vapp', place: 'VAPP', kind: kinds.vapp, what: 'vApps', order: byName },
    allOrgs: 'adminVApp',
    columns: [
      ...[name, state, of('VMS', 'numberOfVMs', 'right'), of('VDC', 'vdcName')],
      ...[of('OWNER', 'ownerName'), of('MADE AT', 'creationDate'), id],
    ],
    filter: 'status==POWERED_ON',
    next: 'skerry vapp start VAPP turns all of one on',
  },
  {
    ...{ word: 'vm', place: 'VM', kind: kinds.vm, what: 'VMs', order: byName },
    allOrgs: 'adminVM',
    columns: [
      ...[name, of('VAPP', 'containerName'), state, of('ADDRESS', 'ipAddress')],
      ...[of('CPUS', 'numberOfCpus', 'right'), size('MEMORY', 'memoryMB'), size('DISK', 'diskMB')],
      ...[of('ORG', 'orgName'), of('HOST', 'hostName'), id],
    ],
    filter: 'status==POWERED_ON;name==web*',
    next: 'skerry list is the same for a cloud and for this machine',
  },
  {
    ...{ word: 'task', place: 'TASK', what: 'tasks', allOrgs: 'adminTask', limit: RECENT },
    otherwise: { info: true },
    kind: { called: 'task', type: 'task', listed: 'skerry task list' },
    order: { sortDesc: 'startDate' },
    columns: [
      { ...of('STATUS', 'status'), colour: ({ status = '' }) => taskColours[status] },
      ...[of('%', 'progress', 'right'), of('WHAT', 'name'), of('OF', 'objectName')],
      ...[of('BY', 'ownerName'), of('BEGAN AT', 'startDate'), id],
    ],
    ...{ filter: 'status==error', next: 'skerry task info TASK tells why one failed' },
  },
  {
    ...{ word: 'event', what: 'events', order: { sortDesc: 'timeStamp' } },
    ...{ kind: { called: 'event', type: 'event', listed: 'skerry event list' }, limit: RECENT },
    columns: [
      ...[of('AT', 'timeStamp'), of('TYPE', 'eventType'), of('OF', 'entityName')],
      ...[of('BY', 'userName'), of('FROM', 'userAddress'), of('ORG', 'orgName')],
    ],
    ...{ filter: 'eventType==task.error', next: 'skerry events tells them as they happen' },
  },
  {
    ...{ word: 'host', place: 'HOST', kind: kinds.host, what: 'hosts', order: byName },
    columns: [
      ...[name, of('STATE', 'state'), yes('ENABLED', 'isEnabled')],
      ...[of('CPUS', 'numOfCpusLogical', 'right'), size('MEMORY', 'memTotal')],
      ...[size('USED', 'memUsed'), size('DISK', 'storageTotal'), size('USED', 'storageUsed')],
      ...[of('VMS', 'numberOfVMs', 'right'), of('ADDRESS', 'address'), of('SEEN AT', 'lastSeen')],
    ],
    ...{ filter: 'isEnabled==false', next: 'skerry host disable HOST places nothing more on one' },
  },
]

const TRUTHS = /^is[A-Z]/
const COUNTS = /^(numberOf|numOf|memory|memTotal|memUsed|disk|storage|progress|eventStatus)/

export type TypedRecord = Readonly<Record<string, string | number | boolean>>

/** A record for programs: with its id, and with numbers that are numbers. */
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
