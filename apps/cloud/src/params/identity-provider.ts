import { X509Certificate } from 'node:crypto'

import { Fault } from '@skerry/fault'
import { attribute, childrenByLocalName, element, text, type Element } from '@skerry/xml'

import { isFilter } from '../directories/ask-directory.ts'
import type {
  IdentitySettings,
  NewProvider,
  ProviderChange,
} from '../directories/identity-providers.ts'
import type { GroupRole } from '../directories/role-of.ts'
import type { LdapSettings } from '../domain/ldap-settings.ts'
import type { OpenIdSettings } from '../domain/openid-settings.ts'
import { childText, readBoolean } from './child-text.ts'
import { readRoot } from './named.ts'
import type { RequestDocument } from './request-document.ts'

const [SHAPE, MEDIA] = ['IdentityProvider', 'admin.identityProvider'] as const
const URLS_MAX = 4
const GROUPS_MAX = 256
const TEXT_MAX = 1024
const CA_MAX = 64 * 1024
const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/
const ATTRIBUTE = /^[A-Za-z][A-Za-z0-9-]{0,63}$/
const CONTROL = /\p{Cc}/u
const nestings = ['levels', 'rule'] as const

const invalid = (message: string): Fault => new Fault('invalid', message)

function needed(value: string | undefined, name: string): string {
  if (value !== undefined && value !== '' && value.length <= TEXT_MAX && !CONTROL.test(value)) {
    return value
  }
  throw invalid(`${name} must have 1 to ${TEXT_MAX} characters, and no control characters`)
}

/** Without TLS, passwords would cross the network in the clear. */
function urlsIn(root: Element, startTls: boolean): readonly string[] {
  const urls = childrenByLocalName(root, 'Url').map((each) => (text(each) ?? '').trim())
  if (urls.length < 1 || urls.length > URLS_MAX) throw invalid(`give 1 to ${URLS_MAX} Url`)
  const protocol = startTls ? 'ldap:' : 'ldaps:'
  for (const url of urls) {
    const read = URL.parse(url)
    const isPlain =
      read?.protocol === protocol && read.hostname !== '' && /^ldaps?:\/\/[^/?#@]+\/?$/.test(url)
    if (!isPlain) {
      throw invalid(`Url must be like ldaps://ldap.example, or ldap://… with StartTls, not ${url}`)
    }
  }
  return urls
}

function caIn(root: Element): { readonly ca?: string } {
  const ca = childText(root, 'Ca')?.trim()
  if (ca === undefined || ca === '') return {}
  try {
    if (ca.length <= CA_MAX && new X509Certificate(ca).subject !== undefined) return { ca }
  } catch {
    // Reported below, as other wrong values are.
  }
  throw invalid('Ca must be PEM certificates')
}

function attributeOf(node: Element | undefined, name: string, usual: string): string {
  const written = attribute(node, name) ?? usual
  if (ATTRIBUTE.test(written)) return written
  throw invalid(`${name} must be the name of an LDAP attribute, not ${written}`)
}

function ldapSettingsIn(root: Element): LdapSettings {
  const startTls = readBoolean(root, 'StartTls') ?? false
  const [people] = childrenByLocalName(root, 'People')
  const [groups] = childrenByLocalName(root, 'Groups')
  const base = needed(childText(root, 'Base'), 'Base')
  const filter = attribute(people, 'filter') ?? '(objectClass=inetOrgPerson)'
  if (filter.length > TEXT_MAX || !isFilter(filter)) throw invalid('filter must be an LDAP filter')
  const written = attribute(groups, 'nested') ?? 'levels'
  const nested = nestings.find((each) => each === written)
  if (nested === undefined) throw invalid(`nested must be one of ${nestings.join(', ')}`)
  return {
    urls: urlsIn(root, startTls),
    startTls,
    ...caIn(root),
    reader: needed(childText(root, 'Reader'), 'Reader'),
    people: {
      base: needed(attribute(people, 'base') ?? base, 'base'),
      filter,
      name: attributeOf(people, 'name', 'uid'),
      subject: attributeOf(people, 'subject', 'entryUUID'),
    },
    groups: {
      base: needed(attribute(groups, 'base') ?? base, 'base'),
      member: attributeOf(groups, 'member', 'member'),
      name: attributeOf(groups, 'name', 'cn'),
      nested,
    },
  }
}

/** A claim, a scope or a name of a way to log in: what may stand in a list that spaces separate. */
const WORD = /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/
const ACR_MAX = 8
const [PROOF_DAYS, PROOF_DAYS_MAX] = [30, 365] as const
const DOMAIN = /^[A-Za-z0-9][A-Za-z0-9.-]{0,252}$/

function wordOf(written: string, name: string): string {
  if (WORD.test(written)) return written
  throw invalid(`${name} must have 1 to 200 visible ASCII characters without quotes`)
}

function issuerIn(root: Element): string {
  const urls = childrenByLocalName(root, 'Url').map((each) => (text(each) ?? '').trim())
  const [issuer = ''] = urls
  const url = URL.parse(issuer)
  const isPlain =
    url?.protocol === 'https:' &&
    issuer.length <= TEXT_MAX &&
    /^https:\/\/[^?#@\s\\]+$/.test(issuer)
  if (urls.length === 1 && isPlain) return issuer
  throw invalid(
    `give one Url, the issuer, like https://login.corp.example/realms/corp, not ${issuer}`,
  )
}

function scopesIn(root: Element): string {
  const written = (childText(root, 'Scopes') ?? 'openid profile groups').trim().split(/\s+/)
  const scopes = new Set(['openid', ...written.map((each) => wordOf(each, 'a scope'))])
  const joined = [...scopes].join(' ')
  if (joined.length <= TEXT_MAX) return joined
  throw invalid(`Scopes must have at most ${TEXT_MAX} characters`)
}

function openIdSettingsIn(root: Element): OpenIdSettings {
  const [claims] = childrenByLocalName(root, 'Claims')
  const domain = childText(root, 'Domain')?.trim()
  if (domain !== undefined && !DOMAIN.test(domain)) {
    throw invalid('Domain must be a domain name, like corp.example')
  }
  const acr = childrenByLocalName(root, 'Acr').map((each) => wordOf(text(each) ?? '', 'Acr'))
  if (acr.length > ACR_MAX) throw invalid(`at most ${ACR_MAX} Acr`)
  return {
    issuer: issuerIn(root),
    client: wordOf(childText(root, 'Client') ?? '', 'Client'),
    ...caIn(root),
    scopes: scopesIn(root),
    claims: {
      name: wordOf(attribute(claims, 'name') ?? 'preferred_username', 'name of Claims'),
      groups: wordOf(attribute(claims, 'groups') ?? 'groups', 'groups of Claims'),
    },
    ...(domain !== undefined && { domain }),
    acr,
    proofDays: proofDaysIn(root),
  }
}

function proofDaysIn(root: Element): number {
  const days = Number(childText(root, 'ProofDays') ?? PROOF_DAYS)
  if (Number.isInteger(days) && days >= 1 && days <= PROOF_DAYS_MAX) return days
  throw invalid(`ProofDays must be 1 to ${PROOF_DAYS_MAX}`)
}

function settingsIn(root: Element): IdentitySettings {
  const kind = attribute(root, 'kind')
  if (kind === 'ldap') return { kind, settings: ldapSettingsIn(root) }
  if (kind === 'oidc') return { kind, settings: openIdSettingsIn(root) }
  throw invalid('kind must be ldap or oidc')
}

function groupRolesIn(root: Element): readonly GroupRole[] {
  const found = childrenByLocalName(root, 'GroupRole').map((each): GroupRole => {
    const role = needed(attribute(each, 'role'), 'role of GroupRole')
    return { name: needed(attribute(each, 'name'), 'name of GroupRole'), role }
  })
  if (found.length > GROUPS_MAX) throw invalid(`at most ${GROUPS_MAX} groups can have roles`)
  const names = new Set(found.map(({ name }) => name.toLowerCase()))
  if (names.size < found.length) throw invalid('a group can have one role only')
  return found
}

function secretIn(root: Element): string | undefined {
  const secret = childText(root, 'Password')
  return secret === undefined ? undefined : needed(secret, 'Password')
}

const groupRole = (name: string, role: string): Element => element('GroupRole', { name, role })

const settingsExample = (): readonly Element[] => [
  element('Url', {}, 'ldaps://ldap.corp.example'),
  element('Reader', {}, 'cn=reader,dc=corp,dc=example'),
  element('Password', {}, 'long enough'),
  element('Base', {}, 'dc=corp,dc=example'),
  element('People', { base: 'ou=people,dc=corp,dc=example', name: 'uid', subject: 'entryUUID' }),
  element('Groups', { base: 'ou=groups,dc=corp,dc=example', nested: 'levels' }),
]

/** IdentityProvider: one to add. */
export const newProvider: RequestDocument<NewProvider> = {
  media: MEDIA,
  shape: SHAPE,
  example: ({ name = 'corp' }) =>
    element(
      SHAPE,
      { name: NAME.test(name) ? name : 'corp', kind: 'ldap' },
      ...settingsExample(),
      groupRole('cloud-admins', 'organisation administrator'),
      groupRole('developers', 'author'),
    ),
  read(raw) {
    const root = readRoot(raw, SHAPE)
    const name = attribute(root, 'name') ?? ''
    if (!NAME.test(name)) throw invalid('name must have 1 to 63 of a-z, 0-9 and -')
    const how = settingsIn(root)
    const secret = secretIn(root)
    if (secret === undefined) throw invalid('Password of the Reader or Client is missing')
    const enabled = readBoolean(root, 'IsEnabled') ?? true
    return { name, how, secret, enabled, groups: groupRolesIn(root) }
  },
}

/** IdentityProvider, as it was read and changed. Its groups are changed at an address of their own. */
export const changedProvider: RequestDocument<ProviderChange> = {
  media: MEDIA,
  shape: SHAPE,
  example: () => element(SHAPE, { kind: 'ldap' }, ...settingsExample()),
  read(raw) {
    const root = readRoot(raw, SHAPE)
    return {
      how: settingsIn(root),
      secret: secretIn(root),
      enabled: readBoolean(root, 'IsEnabled'),
    }
  },
}

/** GroupRoles: all groups that have a role. */
export const groupRoles: RequestDocument<readonly GroupRole[]> = {
  media: 'admin.groupRoles',
  shape: 'GroupRoles',
  example: () => element('GroupRoles', {}, groupRole('developers', 'author')),
  read: (raw) => groupRolesIn(readRoot(raw, 'GroupRoles')),
}
