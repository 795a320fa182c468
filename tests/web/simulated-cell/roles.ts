// Roles of an organisation of the simulated cell. One is in use.
import { KIND, uuidOf } from './inventory.ts'
import { answer, first, noContent, row, type SimulatedRow } from './row.ts'
import { readBody } from './send.ts'
import { media } from './vm-documents.ts'

interface SimulatedRole {
  readonly name: string
  right: readonly string[]
  readonly users: number
}

type RoleBody = Partial<SimulatedRole>

const LISTED = 'admin/org/UUID/roles'
const listHref = `/api/admin/org/${uuidOf(KIND.org, 0)}/roles`
const hrefOf = (n: number): string => `/api/admin/role/${uuidOf(KIND.role, n)}`

/** By number; undefined: removed. */
const roles: (SimulatedRole | undefined)[] = [
  { name: 'night shift', right: ['session', 'vm:read', 'vm:power', 'vm:console'], users: 3 },
  { name: 'network engineer', right: ['session', 'network:read', 'network:edit'], users: 0 },
  { name: 'contractor', right: ['session'], users: 1 },
]

function documentOf(n: number) {
  const role = roles[n]
  if (!role) return undefined
  const href = hrefOf(n)
  return {
    ...role,
    href,
    groups: 0,
    link: [
      { rel: 'edit', href, type: media('admin.role') },
      { rel: 'remove', href },
    ],
  }
}

export const roleRows: readonly SimulatedRow[] = [
  row('GET', LISTED, (request) =>
    answer(request, {
      link: [{ rel: 'add', href: listHref, type: media('admin.role') }],
      orgRole: roles.flatMap((_, n) => documentOf(n) ?? []),
    }),
  ),
  row('POST', LISTED, async (request) => {
    const { name = '', right = [] } = (await readBody(request.request)) as RoleBody
    const n = roles.push({ name, right: ['session', ...right], users: 0 }) - 1
    answer(request, documentOf(n), 201)
  }),
  row('PUT', 'admin/role/UUID', async (request) => {
    const role = roles[first(request)]
    const { right = [] } = (await readBody(request.request)) as RoleBody
    if (role) role.right = ['session', ...right]
    answer(request, documentOf(first(request)))
  }),
  row('DELETE', 'admin/role/UUID', (request) => {
    roles[first(request)] = undefined
    noContent(request)
  }),
]
