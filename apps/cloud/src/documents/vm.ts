import { element, type Element } from '@skerry/xml'

import type { Asker } from '../http/asker.ts'
import { link, noteLinks, vmLinks, type Hrefs } from '../http/links.ts'
import { isIn } from '../http/version.ts'
import { may } from '../identity/authorize.ts'
import type { TaskFound } from '../store/find-task.ts'
import type { VmRow } from '../store/vms.ts'
import { hasScreen, statusNumber } from '../vm-status.ts'
import { sections, snapshotSection } from './sections.ts'
import { task } from './task.ts'

export function vm(row: VmRow, tasks: readonly TaskFound[], asker: Asker, hrefs: Hrefs): Element {
  const { dialect } = asker
  const href = hrefs.vm(row.id)
  return element(
    'Vm',
    {
      ...{ name: row.name, id: dialect.urn('vm', row.id), href, type: dialect.media('vm') },
      ...{ status: statusNumber[row.shown], deployed: row.shown === 'POWERED_ON' },
      needsCustomization: false,
      ...(isIn(asker.version, '5.1') && { nestedHypervisorEnabled: row.nested }),
    },
    ...vmLinks(row, href, asker),
    ...(may(asker.who, 'vm:console') ? screenLinks(row, href, asker) : []),
    ...noteLinks(row, href, 'vm', asker),
    link('up', hrefs.vapp(row.vapp), { type: dialect.media('vApp') }),
    tasks.length > 0 && element('Tasks', {}, ...tasks.map((each) => task(each, asker, hrefs))),
    ...sections(row),
    isIn(asker.version, '5.1') && snapshotSection([row], href, asker),
    element('DateCreated', {}, row.created_at.toISOString()),
    element('VAppScopedLocalId', {}, row.id),
    row.unseen && row.seen_at !== null && element('LastSeen', {}, row.seen_at.toISOString()),
  )
}

const screenLinks = (row: VmRow, href: string, { version }: Asker): readonly Element[] => [
  ...(hasScreen(row) ? [link('screen:acquireTicket', `${href}/screen/action/acquireTicket`)] : []),
  ...(hasScreen(row) && isIn(version, '5.5')
    ? [link('screen:acquireMksTicket', `${href}/screen/action/acquireMksTicket`)]
    : []),
  link('screen:thumbnail', `${href}/screen`),
]
