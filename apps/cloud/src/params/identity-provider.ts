import { X509Certificate } from 'node:crypto'

import { Fault } from '@skerry/fault'
import { attribute, childrenByLocalName, element, text, type Element } from '@skerry/xml'

import { isFilter } from '../directories/ask-directory.ts'
import type { NewProvider, ProviderChange } from '../directories/identity-providers.ts'
import type { GroupRole } from '../directories/role-of.ts'
import type { LdapSettings } from '../domain/ldap-settings.ts'
import { roles, type Role } from '../domain/roles.ts'
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

function settingsIn(root: Element): LdapSettings {
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

function groupRolesIn(root: Element): readonly GroupRole[] {
  const found = childrenByLocalName(root, 'GroupRole').map((each): GroupRole => {
    const role = attribute(each, 'role') ?? ''
    if (!Object.hasOwn(roles, role)) {
      throw invalid(`role must be one of: ${Object.keys(roles).join(', ')}`)
    }
    return { name: needed(attribute(each, 'name'), 'name of GroupRole'), role: role as Role }
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

const groupRole = (name: string, role: Role): Element => element('GroupRole', { name, role })

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
    if (attribute(root, 'kind') !== 'ldap') throw invalid('kind must be ldap')
    const secret = secretIn(root)
    if (secret === undefined) throw invalid('Password of the Reader is missing')
    const enabled = readBoolean(root, 'IsEnabled') ?? true
    return { name, settings: settingsIn(root), secret, enabled, groups: groupRolesIn(root) }
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
      settings: settingsIn(root),
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
