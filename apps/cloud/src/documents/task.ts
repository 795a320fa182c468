import { element, type Element } from '@skerry/xml'

import type { Asker } from '../http/asker.ts'
import { link, type Hrefs } from '../http/links.ts'
import { may } from '../identity/authorize.ts'
import type { OrgRow } from '../store/orgs.ts'
import type { Task } from '../store/queue.ts'
import { taskTexts } from '../task-texts.ts'

const DAY_MS = 86_400_000
/** Tasks are kept this long; clients are told so. */
const KEPT_DAYS = 90

export function task(
  row: Task,
  { dialect, who }: Pick<Asker, 'dialect' | 'who'>,
  hrefs: Hrefs,
): Element {
  const { name = row.operation, doing = '', done = '' } = taskTexts.get(row.operation) ?? {}
  const href = hrefs.task(row.id)
  const over = row.ended_at !== null
  const began = row.started_at ?? row.created_at
  const object = row.vm === null ? hrefs.vapp(row.vapp) : hrefs.vm(row.vm)
  const type = dialect.media(row.vm === null ? 'vApp' : 'vm')
  return element(
    'Task',
    {
      ...{ name: 'task', id: dialect.urn('task', row.id), href, type: dialect.media('task') },
      ...{ status: row.state, operationName: name },
      operation: `${row.state === 'success' ? done : doing} ${row.vm === null ? 'vApp' : 'VM'} ${row.vm ?? row.vapp}`,
      startTime: began.toISOString(),
      endTime: row.ended_at?.toISOString(),
      expiryTime: new Date(began.getTime() + KEPT_DAYS * DAY_MS).toISOString(),
      cancelRequested: row.cancel,
    },
    !over && may(who, 'vm:power') && link('task:cancel', `${href}/action/cancel`),
    element('Owner', { type, href: object }),
    row.state === 'error' && failure(row, dialect),
    element('User', { name: row.owner }),
    element('Organization', { type: dialect.media('org'), href: hrefs.org(row.org) }),
    element('Progress', {}, row.progress),
    row.state === 'success' && row.message !== null && element('Details', {}, row.message),
  )
}

const failure = ({ fault, message }: Task, { status }: Asker['dialect']): Element =>
  element('Error', {
    majorErrorCode: fault === null ? 500 : status[fault],
    minorErrorCode: (fault ?? 'internal-server-error').toUpperCase().replaceAll('-', '_'),
    message: message ?? '',
  })

export const tasksList = (
  { id }: OrgRow,
  rows: readonly Task[],
  asker: Asker,
  hrefs: Hrefs,
): Element =>
  element(
    'TasksList',
    { name: 'Tasks Lists', type: asker.dialect.media('tasksList'), href: hrefs.tasks(id) },
    link('up', hrefs.org(id), { type: asker.dialect.media('org') }),
    ...rows.map((row) => task(row, asker, hrefs)),
  )
