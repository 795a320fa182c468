import { element, type Element } from '@skerry/xml'

import type { Caller } from '../../auth/caller.ts'
import { at } from '../../dialect/addresses.ts'
import { may } from '../../domain/authorize.ts'
import { roles } from '../../domain/roles.ts'
import { link, type Hrefs } from '../../http/links.ts'
import type { LeaseRule } from '../../tenants/leases.ts'
import type { OrgRow, VdcRow } from '../../tenants/orgs.ts'
import type { Quota } from '../../tenants/quotas.ts'
import type { AccountRow } from '../../tenants/tenants.ts'

const bool = (name: string, value: boolean): Element => element(name, {}, String(value))

/** The entry point for administrators. */
export function cloud(
  orgs: readonly OrgRow[],
  { dialect, principal }: Caller,
  hrefs: Hrefs,
): Element {
  const { media } = dialect
  return element(
    'Cloud',
    { name: 'Skerry', type: media('admin.cloud'), href: hrefs.to(at.admin) },
    may(principal, 'cloud:admin') &&
      link('add', hrefs.to(at.adminOrgs), { type: media('admin.org') }),
    may(principal, 'host:admin') &&
      link('down', hrefs.to(at.adminHosts), { type: media('admin.hosts') }),
    may(principal, 'external:admin') &&
      link('down', hrefs.to(at.externalNetworks), { type: media('admin.externalNetworks') }),
    ...(may(principal, 'cloud:read')
      ? [
          link('down', hrefs.to(at.adminCells), { type: media('admin.cells') }),
          link('down', hrefs.to(at.adminConsoles), { type: media('admin.consoles') }),
        ]
      : []),
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
  readonly used: Quota
  readonly leases: LeaseRule
  readonly accounts: readonly AccountRow[]
  readonly vdcs: readonly VdcRow[]
}

const quotaAttributes = ({ memoryMiB, storageMiB, ...counts }: Quota) => ({
  ...counts,
  memoryMB: memoryMiB,
  storageMB: storageMiB,
})

export function adminOrg(
  { org, quota, used, leases, accounts, vdcs }: WholeOrg,
  { dialect, principal }: Caller,
  hrefs: Hrefs,
): Element {
  const { media } = dialect
  const { id, name, disabled, second_factor_required: isFactorRequired } = org
  const href = hrefs.adminOrg(id)
  const rules = may(principal, 'cloud:admin')
  return element(
    'AdminOrg',
    { name, id: dialect.urn('org', id), type: media('admin.org'), href },
    link('alternate', hrefs.org(id), { type: media('org') }),
    rules && link('edit', href, { type: media('admin.org') }),
    rules &&
      link(disabled ? 'enable' : 'disable', `${href}/action/${disabled ? 'enable' : 'disable'}`),
    link('add', `${href}/users`, { type: media('admin.user') }),
    rules && link('add', `${href}/vdcs`, { type: media('admin.vdc') }),
    link('down', hrefs.orgUsage(id), { type: media('admin.usage') }),
    link('down', hrefs.securityGroups(id), { type: media('admin.securityGroups') }),
    link('add', hrefs.securityGroups(id), { type: media('admin.securityGroup') }),
    link('down', hrefs.orgRoles(id), { type: media('admin.roles') }),
    link('down', hrefs.identityProviders(id), { type: media('admin.identityProviders') }),
    link('down', hrefs.webhooks(id), { type: media('admin.webhooks') }),
    element('FullName', {}, name),
    bool('IsEnabled', !disabled),
    element('Quota', quotaAttributes(quota)),
    element('Used', quotaAttributes(used)),
    element('Leases', { ...leases }),
    bool('SecondFactorRequired', isFactorRequired),
    element(
      'Users',
      {},
      ...accounts.map((each) =>
        element('UserReference', {
          type: media('admin.user'),
          name: each.name,
          href: hrefs.adminUser(each.id),
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

/** Never contains the password, nor anything derived from it. */
export function user(
  { id, org, name, role, disabled, provider, lapsed }: AccountRow,
  { dialect }: Caller,
  hrefs: Hrefs,
): Element {
  const type = dialect.media('admin.user')
  const href = hrefs.adminUser(id)
  return element(
    'User',
    { name, id: dialect.urn('user', id), type, href },
    link('up', hrefs.adminOrg(org), { type: dialect.media('admin.org') }),
    link('edit', href, { type }),
    link('down', hrefs.userTokens(id), { type: dialect.media('accessTokens') }),
    provider === null && link('removeSecondFactors', hrefs.removeSecondFactors(id)),
    bool('IsEnabled', !disabled),
    element('Role', { name: role }),
    provider !== null &&
      element('IdentityProvider', {
        type: dialect.media('admin.identityProvider'),
        href: hrefs.identityProvider(provider),
      }),
    lapsed && bool('IsLapsed', lapsed),
  )
}

export function adminVdc(
  { id, org, name, disabled }: VdcRow,
  { dialect, principal }: Caller,
  hrefs: Hrefs,
): Element {
  const type = dialect.media('admin.vdc')
  const href = hrefs.adminVdc(id)
  return element(
    'AdminVdc',
    { name, id: dialect.urn('vdc', id), type, href },
    link('up', hrefs.adminOrg(org), { type: dialect.media('admin.org') }),
    link('alternate', hrefs.vdc(id), { type: dialect.media('vdc') }),
    may(principal, 'cloud:admin') && link('edit', href, { type }),
    bool('IsEnabled', !disabled),
  )
}
