import { element, type Element } from '@skerry/xml'

import type { Asker } from '../http/asker.ts'
import { link, noteLinks, vappLinks, type Hrefs } from '../http/links.ts'
import { isIn } from '../http/version.ts'
import { may } from '../identity/authorize.ts'
import type { TaskFound } from '../store/find-task.ts'
import type { Lease } from '../store/leases.ts'
import type { VappRow } from '../store/vapps.ts'
import type { VmRow } from '../store/vms.ts'
import { statusNumber, statusOfAll } from '../vm-status.ts'
import { leaseSection, snapshotSection } from './sections.ts'
import { task } from './task.ts'
import { vm } from './vm.ts'

const MIXED = 10

export interface WholeVapp {
  readonly vapp: VappRow
  readonly vms: readonly VmRow[]
  /** Those of the vApp itself; each VM shows its own. */
  readonly tasks: readonly TaskFound[]
  readonly lease: Lease
}

export function vapp(
  { vapp: row, vms, tasks, lease }: WholeVapp,
  asker: Asker,
  hrefs: Hrefs,
): Element {
  const { dialect } = asker
  const href = hrefs.vapp(row.id)
  const status = statusOfAll(vms.map(({ shown }) => shown))
  return element(
    'VApp',
    {
      ...{ name: row.name, id: dialect.urn('vapp', row.id), href, type: dialect.media('vApp') },
      status: status === 'MIXED' ? MIXED : statusNumber[status],
      deployed: vms.some(({ shown }) => shown === 'POWERED_ON'),
    },
    ...(row.closed ? [] : vappLinks(vms, href, asker)),
    !row.closed &&
      may(asker.who, 'vm:edit') &&
      link('recompose', `${href}/action/recomposeVApp`, {
        type: dialect.media('recomposeVAppParams'),
      }),
    ...noteLinks(row, href, 'vApp', asker),
    link('up', hrefs.vdc(row.vdc), { type: dialect.media('vdc') }),
    tasks.length > 0 && element('Tasks', {}, ...tasks.map((each) => task(each, asker, hrefs))),
    leaseSection(lease, href, asker),
    isIn(asker.version, '5.1') && snapshotSection(vms, href, asker),
    element('DateCreated', {}, row.created_at.toISOString()),
    element('Owner', {}, element('User', { name: row.owner })),
    vms.length > 0 && element('Children', {}, ...vms.map((each) => vm(each, [], asker, hrefs))),
  )
}
