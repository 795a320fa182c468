import type { OrgId } from '@skerry/vm'
import { element, type Element } from '@skerry/xml'

import type { Caller } from '../../auth/caller.ts'
import type { IdentityProviderRow, WholeProvider } from '../../directories/identity-providers.ts'
import { may } from '../../domain/authorize.ts'
import { link, type Hrefs } from '../../http/links.ts'

export function identityProviderList(
  org: OrgId,
  rows: readonly IdentityProviderRow[],
  { dialect, principal }: Caller,
  hrefs: Hrefs,
): Element {
  const type = dialect.media('admin.identityProvider')
  const href = hrefs.identityProviders(org)
  return element(
    'IdentityProviders',
    { type: dialect.media('admin.identityProviders'), href },
    link('up', hrefs.adminOrg(org), { type: dialect.media('admin.org') }),
    may(principal, 'cloud:admin') && link('add', href, { type }),
    ...rows.map(({ id, name }) =>
      element('IdentityProviderReference', { type, name, href: hrefs.identityProvider(id) }),
    ),
  )
}

/** Never contains the password of the reader. */
export function identityProvider(
  { provider, groups }: WholeProvider,
  { dialect, principal }: Caller,
  hrefs: Hrefs,
): Element {
  const { id, org, name, kind, settings, disabled } = provider
  const { silent_since: silent, doubted_since: doubted } = provider
  const type = dialect.media('admin.identityProvider')
  const href = hrefs.identityProvider(id)
  const edits = may(principal, 'cloud:admin')
  return element(
    'IdentityProvider',
    { name, id: dialect.urn('identityprovider', id), kind, type, href },
    link('up', hrefs.identityProviders(org), { type: dialect.media('admin.identityProviders') }),
    edits && link('edit', href, { type }),
    edits && link('remove', href),
    edits && link('test', `${href}/action/test`),
    link('edit', `${href}/groups`, { type: dialect.media('admin.groupRoles') }),
    element('IsEnabled', {}, String(!disabled)),
    ...settings.urls.map((url) => element('Url', {}, url)),
    settings.startTls && element('StartTls', {}, 'true'),
    settings.ca !== undefined && element('Ca', {}, settings.ca),
    element('Reader', {}, settings.reader),
    element('Base', {}, settings.people.base),
    element('People', { ...settings.people }),
    element('Groups', { ...settings.groups }),
    ...groups.map((group) => element('GroupRole', { ...group })),
    silent !== null && element('SilentSince', {}, silent.toISOString()),
    doubted !== null && element('DoubtedSince', {}, doubted.toISOString()),
  )
}

export interface TestedProvider {
  readonly answers: boolean
  readonly people?: number
  readonly groups?: number
  readonly message: string
}

export const testedProvider = (
  { answers, people, groups, message }: TestedProvider,
  { dialect }: Caller,
): Element =>
  element(
    'IdentityProviderTest',
    { type: dialect.media('admin.identityProviderTest'), answers, people, groups },
    element('Message', {}, message),
  )
