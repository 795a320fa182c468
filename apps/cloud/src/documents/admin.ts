import { element, type Element } from '@skerry/xml'

import { at } from '../addresses.ts'
import type { Asker } from '../http/asker.ts'
import { link, type Hrefs } from '../http/links.ts'
import { may } from '../identity/authorize.ts'
import { roles } from '../identity/roles.ts'
import type { ListedHost } from '../store/host-states.ts'
import type { LeaseRule } from '../store/leases.ts'
import type { OrgRow, VdcRow } from '../store/orgs.ts'
import type { Quota } from '../store/quotas.ts'
import type { AccountRow } from '../store/tenants.ts'

const bool = (name: string, value: boolean): Element => element(name, {}, String(value))

/** Where an administrator begins. */
export function cloud(orgs: readonly OrgRow[], { dialect, who }: Asker, hrefs: Hrefs): Element {
  const { media } = dialect
  return element(
    'Cloud',
    { name: 'Skerry', type: media('admin.cloud'), href: hrefs.to(at.admin) },
    may(who, 'cloud:admin') && link('add', hrefs.to(at.adminOrgs), { type: media('admin.org') }),
    may(who, 'host:admin') && link('down', hrefs.to(at.adminHosts), { type: media('admin.hosts') }),
    element(
      'Organizations',
      {},
      ...orgs.map(({ id, name }) =>
        element('Organization', { type: media('admin.org'), name, href: hrefs.adminOrg(id) }),
      ),
    ),
    element(
      'Roles',
      {},
      ...Object.entries(roles).map(([name, rights]) =>
        element('Role', { name }, ...rights.map((right) => element('Right', {}, right))),
      ),
    ),
  )
}

export interface WholeOrg {
  readonly org: OrgRow
  readonly quota: Quota
  readonly leases: LeaseRule
  readonly accounts: readonly AccountRow[]
  readonly vdcs: readonly VdcRow[]
}

export function adminOrg(
  { org, quota, leases, accounts, vdcs }: WholeOrg,
  { dialect, who }: Asker,
  hrefs: Hrefs,
): Element {
  const { media } = dialect
  const { id, name, disabled } = org
  const href = hrefs.adminOrg(id)
  const rules = may(who, 'cloud:admin')
  return element(
    'AdminOrg',
    { name, id: dialect.urn('org', id), type: media('admin.org'), href },
    link('alternate', hrefs.org(id), { type: media('org') }),
    rules && link('edit', href, { type: media('admin.org') }),
    rules &&
      link(disabled ? 'enable' : 'disable', `${href}/action/${disabled ? 'enable' : 'disable'}`),
    link('add', `${href}/users`, { type: media('admin.user') }),
    rules && link('add', `${href}/vdcs`, { type: media('admin.vdc') }),
    element('FullName', {}, name),
    bool('IsEnabled', !disabled),
    element('Quota', {
      ...{ vms: quota.vms, runningVms: quota.runningVms, cpus: quota.cpus },
      ...{ memoryMB: quota.memoryMiB, storageMB: quota.storageMiB },
    }),
    element('Leases', { ...leases }),
    element(
      'Users',
      {},
      ...accounts.map((each) =>
        element('UserReference', {
          ...{ type: media('admin.user'), name: each.name, href: hrefs.adminUser(each.id) },
        }),
      ),
    ),
    element(
      'Vdcs',
      {},
      ...vdcs.map((each) =>
        element('Vdc', {
          type: media('admin.vdc'),
          name: each.name,
          href: hrefs.adminVdc(each.id),
        }),
      ),
    ),
  )
}

/** Never with its password, nor anything made of it. */
export function user(
  { id, org, name, role, disabled }: AccountRow,
  { dialect }: Asker,
  hrefs: Hrefs,
): Element {
  const type = dialect.media('admin.user')
  const href = hrefs.adminUser(id)
  return element(
    'User',
    { name, id: dialect.urn('user', id), type, href },
    link('up', hrefs.adminOrg(org), { type: dialect.media('admin.org') }),
    link('edit', href, { type }),
    bool('IsEnabled', !disabled),
    element('Role', { name: role }),
  )
}

export function adminVdc(
  { id, org, name, disabled }: VdcRow,
  { dialect, who }: Asker,
  hrefs: Hrefs,
): Element {
  const type = dialect.media('admin.vdc')
  const href = hrefs.adminVdc(id)
  return element(
    'AdminVdc',
    { name, id: dialect.urn('vdc', id), type, href },
    link('up', hrefs.adminOrg(org), { type: dialect.media('admin.org') }),
    link('alternate', hrefs.vdc(id), { type: dialect.media('vdc') }),
    may(who, 'cloud:admin') && link('edit', href, { type }),
    bool('IsEnabled', !disabled),
  )
}

export const hosts = (rows: readonly ListedHost[], { dialect }: Asker, hrefs: Hrefs): Element =>
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

export function host(row: ListedHost, { dialect }: Asker, hrefs: Hrefs): Element {
  const href = hrefs.adminHost(row.id)
  const change = row.enabled ? 'disable' : 'enable'
  return element(
    'Host',
    { name: row.name, id: dialect.urn('host', row.id), type: dialect.media('admin.host'), href },
    link('up', hrefs.to(at.adminHosts), { type: dialect.media('admin.hosts') }),
    row.state === 'joined' && link(change, `${href}/action/${change}`),
    element('State', {}, row.state),
    bool('IsEnabled', row.enabled),
    bool('IsOpen', row.followed),
    row.quarantine !== null && element('Quarantine', {}, row.quarantine),
    row.seen_at !== null && element('LastSeen', {}, row.seen_at.toISOString()),
    row.version !== null && element('Version', {}, row.version),
    capacity('Cpu', 'processors', row.cpus, row.local_cpus + row.placed_cpus),
    capacity('Memory', 'MB', row.memory_mib, row.local_memory_mib + row.placed_memory_mib),
    capacity('Storage', 'MB', row.disk_mib, row.placed_disk_mib),
  )
}
