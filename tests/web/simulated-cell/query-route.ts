// GET /api/query of the simulated cell.
import { eventRecords, hostRecord, orgRecord, ORGS } from './administration.ts'
import { may, type SimulatedCaller } from './callers.ts'
import { catalogRecords, templateRecords } from './catalog.ts'
import { externalRecords, gatewayRecords } from './edge-gateways.ts'
import { factsOf, HOSTS } from './inventory.ts'
import { networkRecords } from './networks.ts'
import { findVms, InvalidQuery, matches, sorted } from './query.ts'
import { groupRecords } from './security-groups.ts'
import { mayAt } from './shares.ts'
import type { TaskQueue } from './tasks.ts'
import { taskRecord, vappNumbers, vappRecord, vdcHref, vmRecord } from './vm-documents.ts'

const PAGE_MAX = 128
const administrative = new Set(['adminVM', 'host', 'externalNetwork'])
/** Who lacks the right sees of these types what is shared with them. */
const shared = new Set(['vm', 'vApp', 'task', 'catalog', 'vAppTemplate'])

interface Page {
  readonly total: number
  readonly record: readonly unknown[]
}

/** A type that the caller may not query. */
export class ForbiddenQuery extends Error {}

export function runQuery(queue: TaskQueue, caller: SimulatedCaller, search: URLSearchParams) {
  const get = (name: string): string => search.get(name) ?? ''
  const type = get('type')
  const right = administrative.has(type) ? 'cloud:read' : 'vm:read'
  if (!may(caller, right) && (right === 'cloud:read' || !shared.has(type)))
    throw new ForbiddenQuery(`your role, ${caller.role}, lacks the right ${right}`)
  const page = Math.max(1, Number(get('page') || 1))
  const pageSize = Math.min(PAGE_MAX, Math.max(1, Number(get('pageSize') || 25)))
  const from = (page - 1) * pageSize
  const sort = get('sortAsc') || get('sortDesc')
  const isDescending = get('sortDesc') !== ''
  const found =
    type === 'vm' || type === 'adminVM'
      ? vms(queue, caller, type === 'adminVM', get('filter'), sort, isDescending, from, pageSize)
      : others(queue, caller, type, get('filter'), sort, isDescending, from, pageSize)
  const names: Readonly<Record<string, string>> = {
    organization: 'org',
    externalNetwork: 'network',
  }
  const key = `${names[type] ?? type}Record`
  return { total: found.total, pageSize, page, name: type, [key]: found.record }
}

function vms(
  queue: TaskQueue,
  caller: SimulatedCaller,
  isEverywhere: boolean,
  filter: string,
  sort: string,
  isDescending: boolean,
  from: number,
  pageSize: number,
): Page {
  const tasks = [...queue.tasks.values()]
  const version = tasks.filter(({ ended }) => ended !== undefined).length
  const all = findVms(filter, sort, isDescending, isEverywhere, version)
  const numbers = may(caller, 'vm:read') ? all : all.filter((n) => seesVm(caller, n))
  const busy = new Set(tasks.filter(({ ended }) => ended === undefined).map(({ vm }) => vm))
  return {
    total: numbers.length,
    record: Array.from(numbers.slice(from, from + pageSize), (n) =>
      vmRecord(n, busy.has(n), isEverywhere),
    ),
  }
}

const seesVm = (caller: SimulatedCaller, n: number): boolean =>
  mayAt(caller, 'vm:read', 'vapp', factsOf(n).vappN)

function recordsOf(queue: TaskQueue, caller: SimulatedCaller, type: string): readonly object[] {
  switch (type) {
    case 'host':
      return Array.from({ length: HOSTS }, (_, n) => hostRecord(n))
    case 'organization':
      return Array.from({ length: ORGS }, (_, n) => orgRecord(n))
    case 'task':
      return [...queue.tasks.values()].filter(({ vm }) => seesVm(caller, vm)).map(taskRecord)
    case 'event':
      return eventRecords(queue)
    case 'vApp':
      return vappNumbers()
        .filter((n) => mayAt(caller, 'vm:read', 'vapp', n))
        .map(vappRecord)
    case 'vAppTemplate':
      return templateRecords(caller)
    case 'orgVdcNetwork':
      return networkRecords()
    case 'edgeGateway':
      return gatewayRecords()
    case 'externalNetwork':
      return externalRecords()
    case 'securityGroup':
      return groupRecords()
    case 'catalog':
      return catalogRecords(caller)
    case 'orgVdc':
      return ['main', 'lab'].map((name, at) => ({ name, href: vdcHref(at + 1) }))
    default:
      throw new InvalidQuery(`there is no type ${type}`)
  }
}

function others(
  queue: TaskQueue,
  caller: SimulatedCaller,
  type: string,
  filter: string,
  sort: string,
  isDescending: boolean,
  from: number,
  pageSize: number,
): Page {
  const records = recordsOf(queue, caller, type).filter((record) => matches(record, filter))
  const ordered = sort === '' ? records : sorted(records, sort, isDescending)
  return { total: ordered.length, record: ordered.slice(from, from + pageSize) }
}
