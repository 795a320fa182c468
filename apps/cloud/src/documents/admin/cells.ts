import { element, type Element } from '@skerry/xml'

import type { Caller } from '../../auth/caller.ts'
import { at } from '../../dialect/addresses.ts'
import type { ListedCell } from '../../hosts/cells.ts'
import { link, type Hrefs } from '../../http/links.ts'

const cell = ({ id, alive, fit, seen, version, hosts, conditions }: ListedCell): Element =>
  element(
    'Cell',
    {
      name: id,
      isAlive: alive,
      isFit: fit,
      lastSeen: seen.toISOString(),
      version: version ?? undefined,
      numberOfHosts: hosts,
    },
    ...conditions.map(({ name, ok, since, message }) =>
      element('Condition', { name, isOk: ok, since }, message),
    ),
  )

export const cells = (rows: readonly ListedCell[], { dialect }: Caller, hrefs: Hrefs): Element =>
  element(
    'Cells',
    { type: dialect.media('admin.cells'), href: hrefs.to(at.adminCells) },
    link('up', hrefs.to(at.admin), { type: dialect.media('admin.cloud') }),
    ...rows.map(cell),
  )
