// The inventory of the simulated cell: every VM, host and organisation is computed from its number, so that a million of them cost
// nothing until they are shown.

export const STATUSES = ['POWERED_ON', 'POWERED_OFF', 'SUSPENDED', 'UNKNOWN', 'UNRESOLVED'] as const
export type Status = (typeof STATUSES)[number]

export const HOSTS = 1000
export const ALL_VMS = 1_000_000
export const ORG_VMS = 12_480

const ROLES = [
  'api',
  'auth',
  'billing',
  'build',
  'cache',
  'ci-runner',
  'db',
  'edge',
  'etl',
  'gateway',
  'grafana',
  'ingest',
  'kafka',
  'ldap',
  'mail',
  'minio',
  'postgres',
  'proxy',
  'queue',
  'search',
  'shop',
  'vault',
  'web',
  'worker',
]
const STAGES = ['dev', 'lab', 'prod', 'stage', 'test']
const SIZES: readonly (readonly [cpus: number, memory: number, disk: number])[] = [
  [1, 1024, 10_240],
  [2, 2048, 20_480],
  [2, 4096, 40_960],
  [4, 8192, 61_440],
  [8, 16_384, 122_880],
  [16, 65_536, 512_000],
]

/** A hash: the same number gives the same result, and neighbours have nothing in common. */
export function mix(seed: number): number {
  let x = (seed + 0x9e3779b9) | 0
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b)
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35)
  return (x ^ (x >>> 16)) >>> 0
}

export const uuidOf = (kind: number, n: number): string =>
  `0198${kind.toString(16).padStart(4, '0')}-${(mix(n * 7 + kind) & 0xffff).toString(16).padStart(4, '0')}-7000-8000-${n.toString(16).padStart(12, '0')}`
export const numberOf = (uuid: string): number => Number.parseInt(uuid.slice(-12), 16)

export const KIND = {
  vm: 1,
  vapp: 2,
  vdc: 3,
  org: 4,
  host: 5,
  task: 6,
  template: 7,
  user: 8,
  catalog: 9,
  upload: 10,
  token: 11,
  network: 12,
  gateway: 13,
  externalNetwork: 14,
  securityGroup: 15,
  webhook: 18,
  role: 20,
  provider: 21,
  secondFactor: 19,
} as const

/** The VMs of one vApp have neighbouring numbers. */
export interface VmFacts {
  readonly n: number
  readonly name: string
  readonly vapp: string
  readonly vappN: number
  readonly vdc: 'main' | 'lab'
  readonly cpus: number
  readonly memory: number
  readonly disk: number
  readonly host: number
  readonly org: number
  readonly created: number
}

export const VMS_PER_VAPP = ORG_VMS / (ROLES.length * STAGES.length)

/** VMs that were created by requests: number → what is special about them. */
export const createdVms = new Map<number, Pick<VmFacts, 'name' | 'vapp' | 'vappN'>>()
/** Numbers of the organisation that no VM has at the start; a created VM takes one of them. */
export const FREE_NUMBERS = 40

/** Hardware that was changed by requests. */
export const changedHardware = new Map<number, Pick<VmFacts, 'cpus' | 'memory' | 'disk'>>()

export const factsOf = (n: number): VmFacts => ({
  ...originalFacts(n),
  ...createdVms.get(n),
  ...changedHardware.get(n),
})

function originalFacts(n: number): VmFacts {
  const own = n % ORG_VMS
  const group = Math.floor(own / VMS_PER_VAPP)
  const role = ROLES[Math.floor(group / STAGES.length)] ?? 'vm'
  const stage = STAGES[group % STAGES.length] ?? 'x'
  const within = own % VMS_PER_VAPP
  const [cpus, memory, disk] = SIZES[Math.min(5, Math.floor(Math.sqrt(mix(n * 3 + 1) % 30)))] ?? [
    1, 1024, 10_240,
  ]
  return {
    n,
    name: `${role}-${stage}-${String(within + 1).padStart(3, '0')}`,
    vapp: `${role}-${stage}`,
    vappN: Math.floor(n / VMS_PER_VAPP),
    vdc: stage === 'lab' ? 'lab' : 'main',
    cpus,
    memory,
    disk,
    host: mix(n * 11 + 5) % HOSTS,
    org: Math.floor(n / ORG_VMS),
    created: Date.UTC(2026, 10, 16) - (mix(n * 13 + 7) % (420 * 86_400)) * 1000,
  }
}

const ORGS = [
  'eng',
  'blue',
  'green',
  'ops',
  'sales',
  'red',
  'data',
  'mobile',
  'web',
  'research',
  'finance',
  'games',
  'maps',
  'media',
  'core-it',
  'support',
]
export const orgName = (n: number): string => ORGS[n] ?? `tenant-${String(n).padStart(3, '0')}`

/** One byte for each VM of the cloud; 255: deleted. */
export const statuses = new Uint8Array(ALL_VMS)
for (let n = 0; n < ALL_VMS; n++) {
  const dice = mix(n * 17 + 3) % 1000
  statuses[n] = dice < 741 ? 0 : dice < 968 ? 1 : dice < 992 ? 2 : dice < 998 ? 3 : 1
}

for (let n = ORG_VMS - FREE_NUMBERS; n < ORG_VMS; n++) statuses[n] = 255

export const statusOf = (n: number): Status => STATUSES[statuses[n] ?? 1] ?? 'POWERED_OFF'

export function addressOf({ n, org }: Pick<VmFacts, 'n' | 'org'>): string {
  const own = n % ORG_VMS
  return `10.84.${(org + Math.floor(own / 223)) % 256}.${(own % 223) + 16}`
}

export interface HostFacts {
  readonly n: number
  readonly name: string
  readonly cpus: number
  readonly memory: number
  readonly storage: number
  readonly cpuUsed: number
  readonly memoryUsed: number
  readonly storageUsed: number
  readonly vms: number
  readonly state: 'joined' | 'lost'
  readonly seen: boolean
  readonly enabled: boolean
  readonly version: string
  readonly address: string
}

const disabled = new Set([17, 311, 640])
const silent = new Set([42, 778])
export const setHostEnabled = (n: number, is: boolean): void =>
  void (is ? disabled.delete(n) : disabled.add(n))

export function hostOf(n: number): HostFacts {
  const big = mix(n * 19 + 2) % 4 === 0
  const cpus = big ? 256 : 128
  const memory = big ? 2_097_152 : 1_048_576
  const storage = big ? 61_440_000 : 30_720_000
  const wave = 0.5 + 0.24 * Math.sin(n / 37) + ((mix(n * 23) % 1000) / 1000 - 0.5) * 0.36
  const load = Math.min(0.985, Math.max(0.05, wave))
  return {
    n,
    name: `host-${String(n + 1).padStart(4, '0')}`,
    cpus,
    memory,
    storage,
    cpuUsed: Math.round(cpus * Math.min(1, load * 0.92)),
    memoryUsed: Math.round(memory * load),
    storageUsed: Math.round(storage * Math.min(0.97, load * 0.7 + 0.08)),
    vms: Math.round(940 + load * 120),
    state: n === 505 ? 'lost' : 'joined',
    seen: !silent.has(n) && n !== 505,
    enabled: !disabled.has(n),
    version: mix(n) % 20 === 0 ? '0.1.0' : '0.2.0',
    address: `10.20.${Math.floor(n / 250)}.${(n % 250) + 1}`,
  }
}

export const ROLE_NAMES = [
  'console only',
  'user',
  'author',
  'organisation administrator',
  'system administrator',
] as const
/** `contractor` is a role of the organisation's own, which sees only what is shared with it. */
export type Role = (typeof ROLE_NAMES)[number] | 'contractor'
const user = ['session', 'org:read', 'vm:read', 'vm:power', 'vm:console', 'network:read']
const author = [...user, 'vm:edit']
export const rightsOf: Readonly<Record<Role, readonly string[]>> = {
  contractor: ['session'],
  'console only': ['session', 'org:read', 'vm:read', 'vm:console'],
  user,
  author,
  'organisation administrator': [...author, 'org:admin', 'network:edit'],
  'system administrator': [
    ...author,
    'org:admin',
    'network:edit',
    'cloud:admin',
    'host:admin',
    'external:admin',
    'cloud:read',
  ],
}
/** user@organisation → role. */
export const accounts: Readonly<Record<string, Role>> = {
  'alice@eng': 'organisation administrator',
  'bob@eng': 'user',
  'carol@eng': 'console only',
  'frida@eng': 'user',
  'gina@eng': 'contractor',
  'ines@eng': 'user',
  'root@System': 'system administrator',
}
