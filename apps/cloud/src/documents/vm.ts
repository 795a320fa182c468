import { element, type Element } from '@skerry/xml'

import type { Caller } from '../auth/caller.ts'
import { isIn } from '../dialect/version.ts'
import { may } from '../domain/authorize.ts'
import { hasScreen, statusNumber } from '../domain/vm-status.ts'
import { link, noteLinks, vmLinks, type Hrefs } from '../http/links.ts'
import type { VmRow } from '../inventory/vms.ts'
import type { TaskFound } from '../tasks/find-task.ts'
import { sections, snapshotSection } from './sections.ts'
import { task } from './task.ts'

export function vm(row: VmRow, tasks: readonly TaskFound[], caller: Caller, hrefs: Hrefs): Element {
  const { dialect } = caller
  const href = hrefs.vm(row.id)
  return element(
    'Vm',
    {
      name: row.name,
      id: dialect.urn('vm', row.id),
      href,
      type: dialect.media('vm'),
      status: statusNumber[row.displayed_status],
      deployed: row.displayed_status === 'POWERED_ON',
      needsCustomization: false,
      ...(isIn(caller.version, '5.1') && { nestedHypervisorEnabled: row.nested }),
    },
    ...vmLinks(row, href, caller),
    ...(may(caller.principal, 'vm:console') ? screenLinks(row, href, caller) : []),
    ...noteLinks(row, href, 'vm', caller),
    link('up', hrefs.vapp(row.vapp), { type: dialect.media('vApp') }),
    tasks.length > 0 && element('Tasks', {}, ...tasks.map((each) => task(each, caller, hrefs))),
    ...sections(row),
    snapshotSection([row], href, caller),
    element('DateCreated', {}, row.created_at.toISOString()),
    element('VAppScopedLocalId', {}, row.id),
    row.host_silent && row.seen_at !== null && element('LastSeen', {}, row.seen_at.toISOString()),
  )
}

const screenLinks = (row: VmRow, href: string, { version }: Caller): readonly Element[] => [
  ...(hasScreen(row) ? [link('screen:acquireTicket', `${href}/screen/action/acquireTicket`)] : []),
  ...(hasScreen(row) && isIn(version, '5.5')
    ? [link('screen:acquireMksTicket', `${href}/screen/action/acquireMksTicket`)]
    : []),
  link('screen:thumbnail', `${href}/screen`),
]
