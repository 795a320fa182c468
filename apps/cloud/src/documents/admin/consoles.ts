import { element, type Element } from '@skerry/xml'

import type { Caller } from '../../auth/caller.ts'
import { at } from '../../dialect/addresses.ts'
import { may } from '../../domain/authorize.ts'
import { link, type Hrefs } from '../../http/links.ts'
import type { OpenConsoleRow } from '../../inventory/consoles.ts'

function openConsole(row: OpenConsoleRow, { dialect, principal }: Caller, hrefs: Hrefs): Element {
  return element(
    'Console',
    {
      id: dialect.urn('console', row.id),
      userName: row.user,
      userAddress: row.from ?? undefined,
      orgName: row.org,
      containerName: row.vapp,
      vmName: row.name,
      vm: hrefs.vm(row.vm),
      server: row.via,
      openedAt: row.opened.toISOString(),
      bytes: row.bytes,
    },
    may(principal, 'cloud:admin') && link('remove', hrefs.adminConsole(row.id)),
  )
}

export const consoles = (
  rows: readonly OpenConsoleRow[],
  caller: Caller,
  hrefs: Hrefs,
): Element => {
  const { media } = caller.dialect
  return element(
    'Consoles',
    { type: media('admin.consoles'), href: hrefs.to(at.adminConsoles) },
    link('up', hrefs.to(at.admin), { type: media('admin.cloud') }),
    ...rows.map((row) => openConsole(row, caller, hrefs)),
  )
}
