// Routes of shares of the simulated cell, and the groups with which its vApps and catalogs can be shared.
import { catalogHref } from './catalog.ts'
import { KIND, uuidOf } from './inventory.ts'
import { answer, first, row, type SimulatedRequest, type SimulatedRow } from './row.ts'
import { readBody, sendError } from './send.ts'
import {
  accessTo,
  mayShare,
  setAccess,
  shareLinks,
  type SharedKind,
  type SimulatedAccess,
} from './shares.ts'
import { vappHref } from './vm-documents.ts'

const groupsOf: Readonly<Record<string, readonly string[]>> = {
  corp: ['testers', 'operators'],
  partners: ['auditors'],
}
const providerHref = (n: number): string =>
  `/api/admin/identityProvider/${uuidOf(KIND.provider, n)}`

const hrefs: Readonly<Record<SharedKind, (n: number) => string>> = {
  vapp: vappHref,
  catalog: catalogHref,
}

function show(request: SimulatedRequest, kind: SharedKind): void {
  const n = first(request)
  const { link } = shareLinks(request.caller, kind, n, hrefs[kind](n))
  answer(request, { ...accessTo(kind, n), link })
}

async function change(request: SimulatedRequest, kind: SharedKind): Promise<void> {
  const { caller, response } = request
  const n = first(request)
  const access = (await readBody(request.request)) as unknown as SimulatedAccess
  if (!mayShare(caller, kind, n))
    return sendError(response, 403, 'FORBIDDEN', 'you may not share it')
  const unknown = access.accessSettings?.accessSetting?.find(
    ({ subject: { type, name, provider = '' } }) =>
      type === 'group' ? !groupsOf[provider]?.includes(name) : name.startsWith('no-'),
  )
  if (unknown)
    return sendError(response, 400, 'INVALID', `${unknown.subject.name} does not exist here`)
  setAccess(kind, n, access)
  show(request, kind)
}

const objects = [
  ['vApp/vapp-UUID', 'vapp'],
  ['catalog/UUID', 'catalog'],
] as const

export const sharingRows: readonly SimulatedRow[] = [
  ...objects.flatMap(([path, kind]) => [
    row('GET', `${path}/controlAccess`, (request) => show(request, kind)),
    row('POST', `${path}/action/controlAccess`, (request) => change(request, kind)),
  ]),
  row('GET', 'admin/org/UUID/identityProviders', (request) =>
    answer(request, {
      identityProviderReference: Object.keys(groupsOf).map((name, n) => ({
        name,
        href: providerHref(n),
      })),
    }),
  ),
  row('GET', 'admin/identityProvider/UUID', (request) => {
    const [name, groups = []] = Object.entries(groupsOf)[first(request)] ?? []
    answer(request, {
      name,
      kind: 'ldap',
      groupRole: groups.map((group) => ({ name: group, role: 'user' })),
    })
  }),
]
