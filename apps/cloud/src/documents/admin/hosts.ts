import { element, type Element } from '@skerry/xml'

import type { Caller } from '../../auth/caller.ts'
import { at } from '../../dialect/addresses.ts'
import type { ListedHost } from '../../hosts/host-states.ts'
import { link, type Hrefs } from '../../http/links.ts'

export const hosts = (rows: readonly ListedHost[], { dialect }: Caller, hrefs: Hrefs): Element =>
  element(
    'Hosts',
    { type: dialect.media('admin.hosts'), href: hrefs.to(at.adminHosts) },
    ...rows.map(({ id, name }) =>
      element('Host', { type: dialect.media('admin.host'), name, href: hrefs.adminHost(id) }),
    ),
  )

const capacity = (name: string, units: string, all: number, used: number): Element =>
  element(
    name,
    {},
    element('Units', {}, units),
    element('Allocated', {}, all),
    element('Limit', {}, all),
    element('Used', {}, used),
  )

export function host(row: ListedHost, { dialect }: Caller, hrefs: Hrefs): Element {
  const href = hrefs.adminHost(row.id)
  const change = row.enabled ? 'disable' : 'enable'
  return element(
    'Host',
    { name: row.name, id: dialect.urn('host', row.id), type: dialect.media('admin.host'), href },
    link('up', hrefs.to(at.adminHosts), { type: dialect.media('admin.hosts') }),
    row.state === 'joined' && link(change, `${href}/action/${change}`),
    element('State', {}, row.state),
    element('IsEnabled', {}, String(row.enabled)),
    element('IsOpen', {}, String(row.followed)),
    row.quarantine !== null && element('Quarantine', {}, row.quarantine),
    row.seen_at !== null && element('LastSeen', {}, row.seen_at.toISOString()),
    row.version !== null && element('Version', {}, row.version),
    capacity('Cpu', 'processors', row.cpus, row.local_cpus + row.placed_cpus),
    capacity('Memory', 'MB', row.memory_mib, row.local_memory_mib + row.placed_memory_mib),
    capacity('Storage', 'MB', row.disk_mib, row.placed_disk_mib),
  )
}
