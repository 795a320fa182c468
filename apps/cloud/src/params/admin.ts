import { Fault } from '@skerry/fault'
import { attribute, childrenByLocalName, element, text, type Element } from '@skerry/xml'

import { grantable, isBuiltIn, type Permission } from '../domain/roles.ts'
import type { NewRole } from '../roles/org-roles.ts'
import type { LeaseRule } from '../tenants/leases.ts'
import type { Quota } from '../tenants/quotas.ts'
import { childText, readBoolean } from './child-text.ts'
import { leasesIn } from './lease.ts'
import { nameIn, readRoot } from './named.ts'
import type { RequestDocument } from './request-document.ts'

/** Whether there is such a role is known where it is assigned. */
function roleIn(root: Element): string | undefined {
  const [found] = childrenByLocalName(root, 'Role')
  return found && nameIn(found)
}

/** The name, if one is given; what the body does not contain stays as it is. */
const maybeName = (root: Element): { readonly name?: string } =>
  attribute(root, 'name') === undefined ? {} : { name: nameIn(root) }

const maybeEnabled = (root: Element): { readonly enabled?: boolean } => {
  const enabled = readBoolean(root, 'IsEnabled')
  return enabled === undefined ? {} : { enabled }
}

export interface CreateParams {
  readonly name: string
}
export interface ChangeParams {
  readonly name?: string
  readonly enabled?: boolean
}

const createBody = (root: string, media: string, usual: string): RequestDocument<CreateParams> => ({
  media,
  shape: root,
  example: ({ name = usual }) => element(root, { name }),
  read: (raw) => ({ name: nameIn(readRoot(raw, root)) }),
})
const changeBody = (root: string, media: string): RequestDocument<ChangeParams> => ({
  media,
  shape: root,
  example: ({ name = 'third' }) => element(root, { name }, element('IsEnabled', {}, 'true')),
  read(raw) {
    const found = readRoot(raw, root)
    return { ...maybeName(found), ...maybeEnabled(found) }
  },
})

const quotaNames = {
  vms: 'vms',
  runningVms: 'runningVms',
  cpus: 'cpus',
  memoryMB: 'memoryMiB',
  storageMB: 'storageMiB',
  networks: 'networks',
  edgeGateways: 'edgeGateways',
  externalAddresses: 'externalAddresses',
} as const satisfies Record<string, keyof Quota>

function quotaIn(root: Element): Quota | undefined {
  const [found] = childrenByLocalName(root, 'Quota')
  if (!found) return undefined
  const read: { -readonly [Name in keyof Quota]: number } = {}
  for (const [written, name] of Object.entries(quotaNames)) {
    const value = attribute(found, written)
    if (value === undefined) continue
    if (!/^\d{1,9}$/.test(value)) throw new Fault('invalid', `${written} of Quota must be a number`)
    read[name] = Number(value)
  }
  return read
}

export const newOrg = createBody('AdminOrg', 'admin.org', 'red')
export const changedOrg: RequestDocument<
  ChangeParams & {
    readonly quota?: Quota
    readonly leases?: Partial<LeaseRule>
    readonly secondFactorRequired?: boolean
  }
> = {
  media: 'admin.org',
  shape: 'AdminOrg',
  example: () =>
    element(
      'AdminOrg',
      {},
      element('IsEnabled', {}, 'true'),
      element('Quota', { vms: 10, memoryMB: 16_384 }),
    ),
  read(raw) {
    const root = readRoot(raw, 'AdminOrg')
    const quota = quotaIn(root)
    const leases = leasesIn(root)
    const secondFactorRequired = readBoolean(root, 'SecondFactorRequired')
    return {
      ...maybeName(root),
      ...maybeEnabled(root),
      ...(quota && { quota }),
      ...(leases && { leases }),
      ...(secondFactorRequired !== undefined && { secondFactorRequired }),
    }
  },
}
export const newVdc = createBody('AdminVdc', 'admin.vdc', 'second')
export const changedVdc = changeBody('AdminVdc', 'admin.vdc')

export const newUser: RequestDocument<{
  readonly name: string
  readonly role: string
  readonly password: string
}> = {
  media: 'admin.user',
  shape: 'User',
  example: ({ name = 'rita' }) =>
    element(
      'User',
      { name },
      element('Role', { name: 'author' }),
      element('Password', {}, 'long enough'),
    ),
  read(raw) {
    const root = readRoot(raw, 'User')
    const [name, role, password] = [nameIn(root), roleIn(root), childText(root, 'Password')]
    if (name.includes('@') || name.includes(':')) {
      throw new Fault('invalid', 'the name of a user must not contain @ or :')
    }
    if (role === undefined || password === undefined) {
      throw new Fault('invalid', 'a new user needs a Role and a Password')
    }
    return { name, role, password }
  },
}

export const changedUser: RequestDocument<{
  readonly role?: string
  readonly enabled?: boolean
  readonly password?: string
}> = {
  media: 'admin.user',
  shape: 'User',
  example: () =>
    element('User', {}, element('Role', { name: 'user' }), element('IsEnabled', {}, 'true')),
  read(raw) {
    const root = readRoot(raw, 'User')
    const [role, password] = [roleIn(root), childText(root, 'Password')]
    return {
      ...maybeEnabled(root),
      ...(role !== undefined && { role }),
      ...(password !== undefined && { password }),
    }
  },
}

const ROLE = 'OrgRole'
const ROLE_NAME = /^[a-z0-9]+([ -][a-z0-9]+)*$/
const ROLE_NAME_MAX = 63

function rightsIn(root: Element): readonly Permission[] {
  const found = childrenByLocalName(root, 'Right').map((each) => (text(each) ?? '').trim())
  const wrong = found.find((each) => !grantable.some((right) => right === each))
  if (found.length === 0 || wrong !== undefined) {
    throw new Fault('invalid', `Right must be one or more of: ${grantable.join(', ')}`)
  }
  // Without it no one could log out.
  return grantable.filter((each) => each === 'session' || found.includes(each))
}

const rightsExample = (): readonly Element[] =>
  ['org:read', 'vm:read', 'vm:power'].map((right) => element('Right', {}, right))

/** OrgRole: one to add. */
export const newRole: RequestDocument<NewRole> = {
  media: 'admin.role',
  shape: ROLE,
  example: ({ name = 'operator' }) =>
    element(ROLE, { name: ROLE_NAME.test(name) ? name : 'operator' }, ...rightsExample()),
  read(raw) {
    const root = readRoot(raw, ROLE)
    const name = attribute(root, 'name') ?? ''
    if (!ROLE_NAME.test(name) || name.length > ROLE_NAME_MAX) {
      throw new Fault(
        'invalid',
        `name must have 1 to ${ROLE_NAME_MAX} of a-z and 0-9, with single spaces and - between them`,
      )
    }
    if (isBuiltIn(name)) {
      throw new Fault('conflict', `every organisation has the role ${name}`, {
        hint: 'choose another name',
      })
    }
    return { name, rights: rightsIn(root) }
  },
}

/** OrgRole, as it was read and changed: its rights are replaced. */
export const changedRole: RequestDocument<readonly Permission[]> = {
  media: 'admin.role',
  shape: ROLE,
  example: () => element(ROLE, {}, ...rightsExample()),
  read: (raw) => rightsIn(readRoot(raw, ROLE)),
}
