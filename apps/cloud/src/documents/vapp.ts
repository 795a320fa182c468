import { element, type Element } from '@skerry/xml'

import type { Caller } from '../auth/caller.ts'
import { may } from '../domain/authorize.ts'
import { statusNumber, statusOfAll } from '../domain/vm-status.ts'
import { link, noteLinks, vappLinks, type Hrefs } from '../http/links.ts'
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
}

export function vapp(
  { vapp: row, vms, tasks, lease }: WholeVapp,
  caller: Caller,
  hrefs: Hrefs,
): Element {
  const { dialect } = caller
  const href = hrefs.vapp(row.id)
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
    ...(row.closed ? [] : vappLinks(vms, href, caller)),
    !row.closed &&
      may(caller.principal, 'vm:edit') &&
      link('recompose', `${href}/action/recomposeVApp`, {
        type: dialect.media('recomposeVAppParams'),
      }),
    ...noteLinks(row, href, 'vApp', caller),
    link('up', hrefs.vdc(row.vdc), { type: dialect.media('vdc') }),
    tasks.length > 0 && element('Tasks', {}, ...tasks.map((each) => task(each, caller, hrefs))),
    leaseSection(lease, href, caller),
    snapshotSection(vms, href, caller),
    element('DateCreated', {}, row.created_at.toISOString()),
    element('Owner', {}, element('User', { name: row.owner })),
    vms.length > 0 && element('Children', {}, ...vms.map((each) => vm(each, [], caller, hrefs))),
  )
}
