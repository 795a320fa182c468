// Security groups of the simulated cell. Each has some VMs, whatever its labels are.
import { may, type SimulatedCaller } from './callers.ts'
import { factsOf, KIND, uuidOf } from './inventory.ts'
import { answer, first, noContent, row, type SimulatedRequest, type SimulatedRow } from './row.ts'
import { readBody, sendError } from './send.ts'

interface SimulatedRule {
  readonly protocol: string
  readonly portRange?: string
  readonly cidr?: string
  readonly peerGroup?: { readonly name?: string; readonly href?: string }
}

interface SimulatedGroupParts {
  readonly name: string
  readonly description?: string
  readonly selector?: {
    readonly label?: readonly { readonly key: string; readonly value: string }[]
  }
  readonly inbound?: { readonly rule?: readonly SimulatedRule[] }
  readonly outbound?: { readonly rule?: readonly SimulatedRule[] }
}

interface SimulatedGroup {
  parts: SimulatedGroupParts
  version: number
  /** The VMs that it has: the first number, and how many. */
  readonly vms: readonly [from: number, count: number]
}

const groupHref = (n: number): string => `/api/admin/securityGroup/${uuidOf(KIND.securityGroup, n)}`

const labelled = (key: string, value: string) => ({ label: [{ key, value }] })

/** By number; undefined: deleted. */
const groups: (SimulatedGroup | undefined)[] = [
  {
    parts: {
      name: 'web',
      description: 'Servers of the shop',
      selector: labelled('role', 'web'),
      inbound: { rule: [{ protocol: 'tcp', portRange: '443' }, { protocol: 'icmp' }] },
    },
    version: 4,
    vms: [12_000, 6],
  },
  {
    parts: {
      name: 'db',
      selector: labelled('role', 'db'),
      inbound: {
        rule: [
          {
            protocol: 'tcp',
            portRange: '5432',
            peerGroup: { name: 'web', href: groupHref(0) },
          },
        ],
      },
      outbound: { rule: [{ protocol: 'udp', portRange: '53', cidr: '9.9.9.9/32' }] },
    },
    version: 2,
    vms: [12_010, 14],
  },
  { parts: { name: 'quiet', inbound: {} }, version: 1, vms: [0, 0] },
]

const existing = (): (readonly [number, SimulatedGroup])[] =>
  groups.flatMap((each, n) => (each ? [[n, each] as const] : []))

const rulesOf = ({ inbound, outbound }: SimulatedGroupParts): readonly SimulatedRule[] => [
  ...(inbound?.rule ?? []),
  ...(outbound?.rule ?? []),
]

/** As another administrator does while the page of the first one is open. */
export const changeGroupBehindThePage = (n: number): void => {
  const group = groups[n]
  if (!group) return
  const rule = [...(group.parts.inbound?.rule ?? []), { protocol: 'tcp', portRange: '22' }]
  group.parts = { ...group.parts, inbound: { rule } }
  group.version++
}

export const groupRecords = () =>
  existing().map(([n, { parts, vms }]) => {
    const labels = parts.selector?.label ?? []
    return {
      name: parts.name,
      ...(labels.length > 0 && {
        selector: labels.map(({ key, value }) => `${key}=${value}`).join(', '),
      }),
      isInboundLimited: parts.inbound !== undefined,
      isOutboundLimited: parts.outbound !== undefined,
      numberOfRules: rulesOf(parts).length,
      numberOfVMs: vms[1],
      href: groupHref(n),
    }
  })

function groupDocument(n: number, caller: SimulatedCaller) {
  const group = groups[n]
  if (!group) return undefined
  const { parts, version, vms } = group
  const [from, count] = vms
  return {
    ...parts,
    href: groupHref(n),
    status: 1,
    version,
    link: may(caller, 'network:edit')
      ? ['edit', 'remove'].map((rel) => ({ rel, href: groupHref(n) }))
      : [],
    selector: parts.selector ?? {},
    members: {
      total: count,
      vmReference: Array.from({ length: Math.min(count, 10) }, (_, at) => ({
        name: factsOf(from + at).name,
        href: `/api/vApp/vm-${uuidOf(KIND.vm, from + at)}`,
      })),
    },
  }
}

const isNamed = (name: string, except?: number): boolean =>
  existing().some(([n, { parts }]) => parts.name === name && n !== except)

async function addGroup(request: SimulatedRequest): Promise<void> {
  const parts = (await readBody(request.request)) as unknown as SimulatedGroupParts
  if (isNamed(parts.name)) {
    const because = `security group ${parts.name} already exists`
    return sendError(request.response, 409, 'CONFLICT', because)
  }
  const n = groups.push({ parts, version: 1, vms: [0, 0] }) - 1
  answer(request, groupDocument(n, request.caller), 201)
}

async function changeGroup(request: SimulatedRequest): Promise<void> {
  const n = first(request)
  const { version, ...parts } = (await readBody(
    request.request,
  )) as unknown as SimulatedGroupParts & {
    readonly version?: number
  }
  const group = groups[n]
  if (!group) return answer(request, undefined)
  if (version !== undefined && version !== group.version) {
    const because = `security group ${group.parts.name} has changed: it is version ${group.version}`
    return sendError(request.response, 409, 'CONFLICT', because)
  }
  group.parts = parts
  group.version++
  answer(request, groupDocument(n, request.caller))
}

function deleteGroup(request: SimulatedRequest): void {
  const n = first(request)
  const name = groups[n]?.parts.name ?? ''
  const users = existing().filter(([at, { parts }]) =>
    at === n ? false : rulesOf(parts).some(({ peerGroup }) => peerGroup?.href === groupHref(n)),
  )
  if (users.length > 0) {
    const names = users.map(([, { parts }]) => parts.name).join(', ')
    const because = `security group ${name} is a peer in rules of ${names}; remove these rules first`
    return sendError(request.response, 409, 'CONFLICT', because)
  }
  groups[n] = undefined
  noContent(request)
}

export const securityGroupRows: readonly SimulatedRow[] = [
  row('GET', 'admin/org/UUID/securityGroups', (request) =>
    answer(request, {
      link: may(request.caller, 'network:edit') ? [{ rel: 'add', href: request.url.pathname }] : [],
    }),
  ),
  row('POST', 'admin/org/UUID/securityGroups', addGroup),
  row('GET', 'admin/securityGroup/UUID', (request) =>
    answer(request, groupDocument(first(request), request.caller)),
  ),
  row('PUT', 'admin/securityGroup/UUID', changeGroup),
  row('DELETE', 'admin/securityGroup/UUID', deleteGroup),
]
