import { element, type Element } from '@skerry/xml'

import type { Caller } from '../auth/caller.ts'
import { statusNumber, statusOfAll } from '../domain/vm-status.ts'
import {
  editOffer,
  linksOf,
  sharingOffer,
  unavailableOf,
  vappOffers,
} from '../http/action-offers.ts'
import { link, type Hrefs } from '../http/links.ts'
import { noCards, type ShownCards } from '../inventory/nics.ts'
import type { VappRow } from '../inventory/vapps.ts'
import type { VmRow } from '../inventory/vms.ts'
import type { TaskFound } from '../tasks/find-task.ts'
import type { Lease } from '../tenants/leases.ts'
import { leaseSection, snapshotSection } from './sections.ts'
import { task } from './task.ts'
import { vm } from './vm.ts'

const MIXED = 10

export interface WholeVapp {
  readonly vapp: VappRow
  readonly vms: readonly VmRow[]
  /** Tasks of the vApp itself; the document of each VM shows its own. */
  readonly tasks: readonly TaskFound[]
  readonly lease: Lease
  readonly cards: ReadonlyMap<VmRow['id'], ShownCards>
}

export function vapp(
  { vapp: row, vms, tasks, lease, cards }: WholeVapp,
  caller: Caller,
  hrefs: Hrefs,
): Element {
  const { dialect } = caller
  const href = hrefs.vapp(row.id)
  const recompose = `${href}/action/recomposeVApp`
  const offers = [
    ...vappOffers({ closed: row.closed, vms }, href, caller),
    editOffer(row, { rel: 'recompose', href: recompose, document: 'recomposeVAppParams' }, caller),
    editOffer(row, { rel: 'edit', href, document: 'vApp' }, caller),
    sharingOffer(row, href, caller),
  ]
  const status = statusOfAll(vms.map(({ displayed_status: status }) => status))
  return element(
    'VApp',
    {
      name: row.name,
      id: dialect.urn('vapp', row.id),
      href,
      type: dialect.media('vApp'),
      status: status === 'MIXED' ? MIXED : statusNumber[status],
      deployed: vms.some(({ displayed_status: each }) => each === 'POWERED_ON'),
    },
    ...linksOf(offers),
    link('down', `${href}/metadata`, { type: dialect.media('metadata') }),
    link('controlAccess', `${href}/controlAccess`),
    link('up', hrefs.vdc(row.vdc), { type: dialect.media('vdc') }),
    tasks.length > 0 && element('Tasks', {}, ...tasks.map((each) => task(each, caller, hrefs))),
    ...unavailableOf(offers, caller),
    leaseSection(lease, href, caller),
    snapshotSection(vms, href, caller),
    element('DateCreated', {}, row.created_at.toISOString()),
    element('Owner', {}, element('User', { name: row.owner })),
    vms.length > 0 &&
      element(
        'Children',
        {},
        ...vms.map((each) =>
          vm(each, { tasks: [], cards: cards.get(each.id) ?? noCards }, caller, hrefs),
        ),
      ),
  )
}
