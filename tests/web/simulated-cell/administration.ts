// Organisations, users, hosts, catalogs and events of the simulated cell.
import { may, type SimulatedCaller } from './callers.ts'
import {
  accounts,
  factsOf,
  hostOf,
  KIND,
  mix,
  numberOf,
  orgName,
  ORG_VMS,
  rightsOf,
  ROLE_NAMES,
  uuidOf,
} from './inventory.ts'
import type { SimulatedEvent, TaskQueue } from './tasks.ts'
import { media, vmHref } from './vm-documents.ts'

export const ORGS = 80
const iso = (ms: number): string => new Date(ms).toISOString()

export const sessionDocument = (caller: SimulatedCaller, isLimited = false) => ({
  user: caller.user,
  org: caller.org,
  role: caller.role,
  right: rightsOf[caller.role],
  type: media('session'),
  href: '/api/session',
  link: isLimited
    ? [{ rel: 'down', type: media('secondFactors'), href: '/api/session/secondFactors' }]
    : [
        {
          rel: 'down',
          type: media('org'),
          name: caller.org,
          href: `/api/org/${uuidOf(KIND.org, 0)}`,
        },
        { rel: 'down', type: media('query.queryList'), href: '/api/query' },
      ],
})

/** The cell that follows this host. */
const cellOf = (host: number): string => `cell-${(host % 2) + 1}`

export function hostRecord(n: number) {
  const host = hostOf(n)
  return {
    name: host.name,
    state: host.state,
    isEnabled: host.enabled,
    numOfCpusLogical: host.cpus,
    cpusUsed: host.cpuUsed,
    memTotal: host.memory,
    memUsed: host.memoryUsed,
    storageTotal: host.storage,
    storageUsed: host.storageUsed,
    numberOfVMs: host.vms,
    version: host.version,
    address: host.address,
    ...(host.seen && { cellName: cellOf(n) }),
    lastSeen: iso(Date.now() - (host.seen ? n % 900 : 94_000)),
    href: `/api/admin/host/${uuidOf(KIND.host, n)}`,
  }
}

export function hostDocument(n: number) {
  const host = hostOf(n)
  const href = `/api/admin/host/${uuidOf(KIND.host, n)}`
  const action = host.enabled ? 'disable' : 'enable'
  return {
    name: host.name,
    href,
    state: host.state,
    isEnabled: host.enabled,
    isOpen: host.enabled && host.seen,
    cpu: { allocated: host.cpus, limit: host.cpus, used: host.cpuUsed },
    memory: { allocated: host.memory, limit: host.memory, used: host.memoryUsed },
    storage: { allocated: host.storage, limit: host.storage, used: host.storageUsed },
    link: [{ rel: action, href: `${href}/action/${action}` }],
  }
}

const disabledOrgs = new Set([5])
export const setOrgEnabled = (n: number, isEnabled: boolean): void =>
  void (isEnabled ? disabledOrgs.delete(n) : disabledOrgs.add(n))

export const orgRecord = (n: number) => ({
  name: orgName(n),
  displayName: orgName(n),
  isEnabled: !disabledOrgs.has(n),
  numberOfVdcs: 2,
  numberOfCatalogs: 1,
  numberOfVApps: 120 - (n % 7) * 9,
  numberOfVMs: ORG_VMS - (mix(n) % 900),
  numberOfRunningVMs: Math.round(ORG_VMS * 0.74) - (mix(n) % 700),
  href: `/api/org/${uuidOf(KIND.org, n)}`,
})

interface SimulatedUser {
  name: string
  role: string
  isEnabled: boolean
}
/** Of every organisation; the names are those of the accounts that can log in. */
const users: SimulatedUser[] = [
  ...Object.entries(accounts)
    .filter(([name]) => name.endsWith('@eng'))
    .map(([name, role]) => ({ name: name.split('@')[0] ?? '', role, isEnabled: true })),
  { name: 'dave', role: 'author', isEnabled: false },
]
const userHref = (n: number): string => `/api/admin/user/${uuidOf(KIND.user, n)}`

export function userDocument(n: number) {
  const user = users[n]
  if (!user) return undefined
  return {
    name: user.name,
    href: userHref(n),
    isEnabled: user.isEnabled,
    role: { name: user.role },
    link: [
      { rel: 'edit', href: userHref(n) },
      { rel: 'removeSecondFactors', href: `${userHref(n)}/action/removeSecondFactors` },
    ],
  }
}

interface UserBody {
  readonly name?: string
  readonly isEnabled?: boolean
  readonly role?: { readonly name: string }
}

export function changeUser(n: number, { isEnabled, role }: UserBody): void {
  const user = users[n]
  if (!user) return
  if (isEnabled !== undefined) user.isEnabled = isEnabled
  if (role) user.role = role.name
}

export const addUser = ({ name = '', role }: UserBody): number =>
  users.push({ name, role: role?.name ?? 'user', isEnabled: true }) - 1

interface OrgSettings {
  readonly quota?: object
  readonly leases?: object
  readonly secondFactorRequired?: boolean
}

/** Settings of the organisations, where a request changed them. */
const settings = new Map<number, OrgSettings>()
export const changeOrg = (n: number, body: OrgSettings): void =>
  void settings.set(n, { ...settings.get(n), ...body })

export function orgDocument(n: number, caller: SimulatedCaller) {
  const href = `/api/admin/org/${uuidOf(KIND.org, n)}`
  const isEnabled = !disabledOrgs.has(n)
  const action = isEnabled ? 'disable' : 'enable'
  const canAdminister = may(caller, 'cloud:admin')
  return {
    name: orgName(n),
    href,
    fullName: orgName(n),
    isEnabled,
    link: [
      { rel: 'add', type: media('admin.user'), href: `${href}/users` },
      { rel: 'down', type: media('admin.usage'), href: `${href}/usage` },
      { rel: 'down', type: media('admin.roles'), href: `${href}/roles` },
      {
        rel: 'down',
        type: media('admin.identityProviders'),
        href: `${href}/identityProviders`,
      },
      { rel: 'down', type: media('admin.webhooks'), href: `${href}/webhooks` },
      ...(canAdminister
        ? [
            { rel: 'edit', href },
            { rel: action, href: `${href}/action/${action}` },
          ]
        : []),
    ],
    quota: settings.get(n)?.quota ?? {
      vms: 15_000,
      memoryMB: 134_217_728,
      storageMB: 2_147_483_648,
    },
    used: {
      vms: ORG_VMS - 40,
      runningVms: 9210,
      cpus: 44_920,
      memoryMB: 113_246_208,
      storageMB: 1_010_827_264,
    },
    leases: settings.get(n)?.leases ?? {
      deploymentDefault: 7 * 86_400,
      deploymentMax: 30 * 86_400,
      storageDefault: 30 * 86_400,
      storageMax: 0,
    },
    secondFactorRequired: settings.get(n)?.secondFactorRequired ?? false,
    users: { userReference: users.map(({ name }, at) => ({ name, href: userHref(at) })) },
    vdcs: {
      vdc: ['main', 'lab'].map((name, at) => ({
        name,
        href: `/api/admin/vdc/${uuidOf(KIND.vdc, at + 1)}`,
      })),
    },
  }
}

const HOUR_MS = 3_600_000

/** By hour: the last days, with a wave a day. Otherwise one period. */
export function usageDocument(n: number, query: URLSearchParams) {
  const href = `/api/admin/org/${uuidOf(KIND.org, n)}/usage`
  const [by, from] = [query.get('by') ?? 'day', Date.parse(query.get('from') ?? '')]
  const end = Math.ceil(Date.now() / HOUR_MS) * HOUR_MS
  const step = by === 'hour' ? HOUR_MS : end - from
  const count = Math.max(1, Math.round((end - from) / step))
  return {
    name: orgName(n),
    by,
    type: media('admin.usage'),
    href,
    link: [{ rel: 'alternate', href: `${href}.csv` }],
    period: Array.from({ length: count }, (_, at) => {
      const cpus = 40_000 + Math.round(4000 * Math.sin(at / 4))
      return {
        from: iso(from + at * step),
        to: iso(from + (at + 1) * step),
        complete: at < count - 1,
        vmMilliseconds: 11_000 * step,
        runningVmMilliseconds: 9000 * step,
        cpuMilliseconds: cpus * step,
        runningCpuMilliseconds: Math.round(cpus * 0.8) * step,
        memoryMBMilliseconds: cpus * 2048 * step,
        runningMemoryMBMilliseconds: cpus * 1800 * step,
        storageMBMilliseconds: 900_000_000 * step,
        templateMBMilliseconds: 120_000 * step,
        externalAddressMilliseconds: 12 * step,
      }
    }),
  }
}

export const adminDocument = (caller: SimulatedCaller) => ({
  name: 'Skerry',
  organizations: {
    organization: [{ name: caller.org, href: `/api/admin/org/${uuidOf(KIND.org, 0)}` }],
  },
  roles: { role: ROLE_NAMES.map((name) => ({ name, right: rightsOf[name] })) },
})

const kinds: readonly string[] = [
  'task.success',
  'session.begun',
  'vm.status',
  'task.queued',
  'user.changed',
  'task.success',
  'session.refused',
  'token.made',
  'task.error',
  'vapp.expiring',
]
const OLD_EVENTS = 4000

/** The newest first: what was emitted since the start, then invented ones. */
export function eventRecords(queue: TaskQueue) {
  const emitted = queue.events.toReversed().map(emittedRecord)
  const old = Array.from({ length: OLD_EVENTS }, (_, n) => oldRecord(n))
  return [...emitted, ...old]
}

const emittedRecord = ({ event, data }: SimulatedEvent) => {
  const vm = typeof data['vm'] === 'string' ? numberOf(data['vm']) : undefined
  return {
    eventType: event,
    timeStamp: String(data['at']),
    eventStatus: event === 'task.error' || event === 'task.canceled' ? 0 : 1,
    userName: 'alice',
    userAddress: '10.1.2.3',
    orgName: 'eng',
    ...(vm !== undefined && { entity: vmHref(vm), entityType: 'vm', entityName: vmName(vm) }),
  }
}

const vmName = (n: number): string => factsOf(n).name

function oldRecord(n: number) {
  const eventType = kinds[mix(n) % kinds.length] ?? 'task.success'
  const isOfVm = /^(?:task|vm)\./.test(eventType)
  const vm = mix(n * 3) % ORG_VMS
  return {
    eventType,
    timeStamp: iso(Date.now() - n * 97_000 - 60_000),
    eventStatus: /error|refused/.test(eventType) ? 0 : 1,
    userName: ['alice', 'bob', 'carol'][mix(n * 7) % 3] ?? 'alice',
    userAddress: `10.1.${mix(n) % 4}.${(mix(n * 5) % 200) + 20}`,
    orgName: orgName(mix(n * 11) % 6),
    ...(isOfVm && { entity: vmHref(vm), entityType: 'vm', entityName: vmName(vm) }),
  }
}
