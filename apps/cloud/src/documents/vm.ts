import { element, type Element } from '@skerry/xml'

import type { Caller } from '../auth/caller.ts'
import { isIn } from '../dialect/version.ts'
import { statusNumber } from '../domain/vm-status.ts'
import { editOffer, linksOf, screenOffers, unavailableOf, vmOffers } from '../http/action-offers.ts'
import { link, type Hrefs } from '../http/links.ts'
import type { ShownCards } from '../inventory/nics.ts'
import type { VmRow } from '../inventory/vms.ts'
import type { TaskFound } from '../tasks/find-task.ts'
import { sections, snapshotSection } from './sections.ts'
import { task } from './task.ts'

export interface VmContents {
  readonly tasks: readonly TaskFound[]
  readonly cards: ShownCards
}

export function vm(
  row: VmRow,
  { tasks, cards }: VmContents,
  caller: Caller,
  hrefs: Hrefs,
): Element {
  const { dialect } = caller
  const href = hrefs.vm(row.id)
  const offers = [
    ...vmOffers(row, href, caller),
    ...screenOffers(row, href, caller),
    editOffer(row, { rel: 'edit', href, document: 'vm' }, caller),
  ]
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
    ...linksOf(offers),
    link('down', `${href}/metadata`, { type: dialect.media('metadata') }),
    link('up', hrefs.vapp(row.vapp), { type: dialect.media('vApp') }),
    tasks.length > 0 && element('Tasks', {}, ...tasks.map((each) => task(each, caller, hrefs))),
    ...unavailableOf(offers, caller),
    ...sections(row, cards, href, caller),
    snapshotSection([row], href, caller),
    element('DateCreated', {}, row.created_at.toISOString()),
    element('VAppScopedLocalId', {}, row.id),
    row.host_silent && row.seen_at !== null && element('LastSeen', {}, row.seen_at.toISOString()),
  )
}
