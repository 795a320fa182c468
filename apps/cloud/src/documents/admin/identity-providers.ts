import type { OrgId } from '@skerry/vm'
import { element, type Element } from '@skerry/xml'

import type { Caller } from '../../auth/caller.ts'
import {
  settingsOf,
  type IdentityProviderRow,
  type WholeProvider,
} from '../../directories/identity-providers.ts'
import { may } from '../../domain/authorize.ts'
import type { LdapSettings } from '../../domain/ldap-settings.ts'
import { loginPaths, type OpenIdSettings } from '../../domain/openid-settings.ts'
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

/** Never contains the secret. */
export function identityProvider(
  { provider, groups }: WholeProvider,
  { dialect, principal }: Caller,
  hrefs: Hrefs,
): Element {
  const { id, org, name, kind, disabled } = provider
  const how = settingsOf(provider)
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
    ...(how.kind === 'ldap' ? ldapElements(how.settings) : openIdElements(how.settings)),
    // Only the listener with the web UI has the addresses that browsers come back to.
    ...(kind === 'oidc' && dialect.pageCookie !== undefined
      ? [
          element('RedirectUrl', {}, hrefs.to(loginPaths.back(id))),
          element('LogoutUrl', {}, hrefs.to(loginPaths.logout(id))),
        ]
      : []),
    ...groups.map((group) => element('GroupRole', { ...group })),
    silent !== null && element('SilentSince', {}, silent.toISOString()),
    doubted !== null && element('DoubtedSince', {}, doubted.toISOString()),
  )
}

const ldapElements = (settings: LdapSettings) => [
  ...settings.urls.map((url) => element('Url', {}, url)),
  settings.startTls && element('StartTls', {}, 'true'),
  settings.ca !== undefined && element('Ca', {}, settings.ca),
  element('Reader', {}, settings.reader),
  element('Base', {}, settings.people.base),
  element('People', { ...settings.people }),
  element('Groups', { ...settings.groups }),
]

const openIdElements = ({
  issuer,
  ca,
  client,
  scopes,
  claims,
  domain,
  ...more
}: OpenIdSettings) => [
  element('Url', {}, issuer),
  ca !== undefined && element('Ca', {}, ca),
  element('Client', {}, client),
  element('Scopes', {}, scopes),
  element('Claims', { ...claims }),
  domain !== undefined && element('Domain', {}, domain),
  ...more.acr.map((each) => element('Acr', {}, each)),
  element('ProofDays', {}, String(more.proofDays)),
]

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
