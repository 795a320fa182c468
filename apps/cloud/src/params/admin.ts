import { Fault } from '@skerry/fault'
import { attribute, childrenByLocalName, element, type Element } from '@skerry/xml'

import { roles, type Role } from '../domain/roles.ts'
import type { LeaseRule } from '../tenants/leases.ts'
import type { Quota } from '../tenants/quotas.ts'
import { childText, readBoolean } from './child-text.ts'
import { leasesIn } from './lease.ts'
import { nameIn, readRoot } from './named.ts'
import type { RequestDocument } from './request-document.ts'

function roleIn(root: Element): Role | undefined {
  const [found] = childrenByLocalName(root, 'Role')
  if (!found) return undefined
  const name = attribute(found, 'name') ?? ''
  if (Object.hasOwn(roles, name)) return name as Role
  throw new Fault('invalid', `Role must be one of: ${Object.keys(roles).join(', ')}`)
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
  ChangeParams & { readonly quota?: Quota; readonly leases?: Partial<LeaseRule> }
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
    return {
      ...maybeName(root),
      ...maybeEnabled(root),
      ...(quota && { quota }),
      ...(leases && { leases }),
    }
  },
}
export const newVdc = createBody('AdminVdc', 'admin.vdc', 'second')
export const changedVdc = changeBody('AdminVdc', 'admin.vdc')

export const newUser: RequestDocument<{
  readonly name: string
  readonly role: Role
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
  readonly role?: Role
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
