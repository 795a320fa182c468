import { element, type Element } from '@skerry/xml'

import type { Asker } from '../http/asker.ts'
import { link, type Hrefs } from '../http/links.ts'
import { may } from '../identity/authorize.ts'
import type { TaskFound } from '../store/find-task.ts'
import type { OrgRow } from '../store/orgs.ts'
import type { Task } from '../store/queue.ts'
import { taskTexts } from '../task-texts.ts'

const DAY_MS = 86_400_000
/** Tasks are kept this long; clients are told so. */
const KEPT_DAYS = 90

export function task(
  row: TaskFound,
  { dialect, who }: Pick<Asker, 'dialect' | 'who'>,
  hrefs: Hrefs,
): Element {
  const { name = row.operation, doing = '', done = '' } = taskTexts.get(row.operation) ?? {}
  const href = hrefs.task(row.id)
  const over = row.ended_at !== null
  const began = row.started_at ?? row.created_at
  return element(
    'Task',
    {
      ...{ name: 'task', id: dialect.urn('task', row.id), href, type: dialect.media('task') },
      ...{ status: dialect.words.task[row.state], operationName: name },
      operation: `${row.state === 'success' ? done : doing} ${row.vm === null ? 'vApp' : 'VM'} ${row.vm ?? row.vapp}`,
      startTime: began.toISOString(),
      endTime: row.ended_at?.toISOString(),
      expiryTime: new Date(began.getTime() + KEPT_DAYS * DAY_MS).toISOString(),
      cancelRequested: row.cancel,
    },
    !over && may(who, 'vm:power') && link('task:cancel', `${href}/action/cancel`),
    owner(row, dialect, hrefs),
    row.state === 'error' && failure(row, dialect),
    element('User', { name: row.owner }),
    element('Organization', { type: dialect.media('org'), href: hrefs.org(row.org) }),
    element('Progress', {}, row.progress),
    row.state === 'success' && row.message !== null && element('Details', {}, row.message),
  )
}

/** What is no more is named, and not pointed at. */
function owner(
  { vapp, vm, gone, object_name: name }: TaskFound,
  dialect: Asker['dialect'],
  hrefs: Hrefs,
): Element {
  const [media, id, href] =
    vm === null
      ? ['vApp', dialect.urn('vapp', vapp), hrefs.vapp(vapp)]
      : ['vm', dialect.urn('vm', vm), hrefs.vm(vm)]
  return element('Owner', { type: dialect.media(media), name, id, href: gone ? undefined : href })
}

function failure({ fault, message }: Task, { refusals }: Asker['dialect']): Element {
  const { status, code } = refusals[fault ?? 'mistake']
  return element('Error', {
    ...{ majorErrorCode: status, minorErrorCode: code, message: message ?? '' },
  })
}

export const tasksList = (
  { id }: OrgRow,
  rows: readonly TaskFound[],
  asker: Asker,
  hrefs: Hrefs,
): Element =>
  element(
    'TasksList',
    { name: 'Tasks Lists', type: asker.dialect.media('tasksList'), href: hrefs.tasks(id) },
    link('up', hrefs.org(id), { type: asker.dialect.media('org') }),
    ...rows.map((row) => task(row, asker, hrefs)),
  )
