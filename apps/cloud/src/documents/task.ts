import { element, type Element } from '@skerry/xml'

import type { Caller } from '../auth/caller.ts'
import type { TaskRow } from '../database/tables.ts'
import { at } from '../dialect/addresses.ts'
import { may } from '../domain/authorize.ts'
import { link, type Hrefs } from '../http/links.ts'
import { taskTexts } from '../operations/task-texts.ts'
import type { TaskFound } from '../tasks/find-task.ts'
import type { TaskWait } from '../tasks/waits.ts'
import type { OrgRow } from '../tenants/orgs.ts'

const DAY_MS = 86_400_000

export function task(
  row: TaskFound,
  { dialect, principal, taskDays }: Pick<Caller, 'dialect' | 'principal' | 'taskDays'>,
  hrefs: Hrefs,
): Element {
  const { name = row.operation, doing = '', done = '' } = taskTexts.get(row.operation) ?? {}
  const href = hrefs.task(row.id)
  const over = row.ended_at !== null
  const began = row.started_at ?? row.created_at
  return element(
    'Task',
    {
      name: 'task',
      id: dialect.urn('task', row.id),
      href,
      type: dialect.media('task'),
      status: dialect.words.task[row.state],
      operationName: name,
      operation: `${row.state === 'success' ? done : doing} ${objectOf(row)}`,
      startTime: began.toISOString(),
      endTime: row.ended_at?.toISOString(),
      expiryTime: new Date(began.getTime() + taskDays * DAY_MS).toISOString(),
      cancelRequested: row.cancel_requested,
    },
    !over &&
      row.network === null &&
      row.edge_gateway === null &&
      may(principal, 'vm:power') &&
      link('task:cancel', `${href}/action/cancel`),
    row.children !== null &&
      link('down', `${hrefs.to(at.query)}?type=task&filter=parent==${row.id}`, {
        type: dialect.media('query.records'),
      }),
    owner(row, dialect, hrefs),
    row.state === 'error' && failure(row, dialect),
    element('User', { name: row.owner }),
    element('Organization', { type: dialect.media('org'), href: hrefs.org(row.org) }),
    element('Progress', {}, row.progress),
    row.state === 'success' && row.message !== null && element('Details', {}, row.message),
    row.wait !== undefined && row.wait !== null && waiting(row.wait, dialect, hrefs),
  )
}

const objectOf = ({ vm, vapp, network, edge_gateway: gateway, children }: TaskRow): string => {
  if (vm !== null) return `VM ${vm}`
  if (network !== null) return `network ${network}`
  if (gateway !== null) return `edge gateway ${gateway}`
  return vapp === null ? `${children} VMs` : `vApp ${vapp}`
}

/** An extension element. Clients of the original API do not know it, and get the text in Details instead. */
function waiting(wait: TaskWait, { name }: Caller['dialect'], hrefs: Hrefs): Element {
  if (name === 'original') return element('Details', {}, wait.words)
  const { reason, words, next, behind, since, attempts, failure, failedAt, givesUpAt } = wait
  const failures = attempts > 0 || failure !== null
  return element('Waiting', {
    reason,
    message: words,
    next,
    task: behind === null ? undefined : hrefs.task(behind),
    since: since ?? undefined,
    givesUpAt: givesUpAt ?? undefined,
    ...(failures && { attempts, lastFailure: failure ?? '', lastFailureAt: failedAt ?? undefined }),
  })
}

/** A deleted owner has a name and an id, but no link. */
function owner(
  { org, vapp, vm, network, edge_gateway: gateway, gone, object_name: name }: TaskFound,
  dialect: Caller['dialect'],
  hrefs: Hrefs,
): Element {
  const found = () => {
    if (vm !== null) return ['vm', dialect.urn('vm', vm), hrefs.vm(vm)]
    if (vapp !== null) return ['vApp', dialect.urn('vapp', vapp), hrefs.vapp(vapp)]
    if (network !== null) {
      return ['orgVdcNetwork', dialect.urn('network', network), hrefs.network(network)]
    }
    if (gateway === null) return ['org', dialect.urn('org', org), hrefs.org(org)]
    return ['admin.edgeGateway', dialect.urn('gateway', gateway), hrefs.edgeGateway(gateway)]
  }
  const [media = '', id, href] = found()
  return element('Owner', { type: dialect.media(media), name, id, href: gone ? undefined : href })
}

function failure({ fault, message }: TaskRow, { refusals }: Caller['dialect']): Element {
  const { status, code } = refusals[fault ?? 'internalError']
  return element('Error', {
    majorErrorCode: status,
    minorErrorCode: code,
    message: message ?? '',
  })
}

export const tasksList = (
  { id }: OrgRow,
  rows: readonly TaskFound[],
  caller: Caller,
  hrefs: Hrefs,
): Element =>
  element(
    'TasksList',
    { name: 'Tasks Lists', type: caller.dialect.media('tasksList'), href: hrefs.tasks(id) },
    link('up', hrefs.org(id), { type: caller.dialect.media('org') }),
    ...rows.map((row) => task(row, caller, hrefs)),
  )
