import {
  adminCommands,
  anyOf,
  byName,
  listOf,
  number,
  object,
  orNull,
  text,
  truth,
  type OutputShape,
} from '@skerry/command-line'
import { usageKeys } from '@skerry/vm'

/** vmd's short response. */
const said = object({ code: number, message: text })
const task = object({ id: text, status: text })
/** A VM of a cloud after an operation; without waiting only the task is known. */
const changed = object({ vm: text, name: text, state: text }, { vapp: text, task })
const underWay = object({ task })
/** An action on all VMs that match a filter. */
const bulk = object({
  task,
  total: number,
  failed: number,
  results: listOf(object({ name: text, status: text }, { vm: text, reason: text })),
})

const vm = object(
  { id: text, state: text },
  {
    name: text,
    tag: text,
    address: orNull(text),
    ipv6: text,
    cpus: number,
    memoryMiB: number,
    diskMiB: number,
    vapp: text,
    org: text,
    host: text,
  },
)
const made = anyOf(object({ id: text }, { name: text, tag: text }), changed, underWay)
const powered = anyOf(said, changed, underWay)
const snapshot = object({ name: text, createdAt: text, memory: truth, current: truth })
const template = object(
  { name: text, virtualBytes: number },
  { digest: text, fileBytes: number, cpus: number, memoryMiB: number },
)
const folder = object({ guestPath: text, hostPath: text, flags: number })
const forward = object({ hostAddress: text, hostPort: number, guestPort: number, protocol: text })
const removed = object({ removed: text })
const profile = object(
  { name: text, active: truth, url: text, user: text },
  { workflow: text, vdc: text },
)
/** A record of the query API; docs/reference/api/cloud.md lists its attributes. */
const record = byName(anyOf(text, number, truth))
const done = anyOf(object({ name: text, done: text }, { task }), underWay)
const wholeTask = object(
  { id: text, status: text, operation: text, progress: number },
  {
    of: text,
    by: text,
    began: text,
    ended: text,
    error: text,
    details: text,
    waitsFor: text,
    waitReason: text,
    waitsSince: text,
    givesUpAt: text,
    next: text,
    attempts: number,
    lastFailure: text,
    lastFailureAt: text,
  },
)
const user = object({ name: text, org: text, role: text, enabled: truth })
const role = object({ name: text, rights: listOf(text), users: number, groups: number })
const shareEntry = object({ type: text, name: text, provider: text, level: text })
const orgUsage = object({
  from: text,
  to: text,
  complete: truth,
  vmMilliseconds: number,
  runningVmMilliseconds: number,
  cpuMilliseconds: number,
  runningCpuMilliseconds: number,
  memoryMBMilliseconds: number,
  runningMemoryMBMilliseconds: number,
  storageMBMilliseconds: number,
  templateMBMilliseconds: number,
  externalAddressMilliseconds: number,
})
const identityServer = object(
  { name: text, kind: text, urls: listOf(text), enabled: truth, groups: byName(text) },
  { redirectUrl: text, silentSince: text, doubtedSince: text },
)
const webhookFields = {
  name: text,
  url: text,
  enabled: truth,
  kinds: listOf(text),
  behind: number,
}
const webhookState = {
  disabledBecause: text,
  failingSince: text,
  nextAttempt: text,
  lastAnswer: text,
}
const webhook = object(webhookFields, webhookState)
const delivery = object({
  at: text,
  taken: truth,
  answer: text,
  milliseconds: number,
  events: number,
  firstEvent: text,
})
const quota = byName(object({ used: orNull(number), most: orNull(number) }))
const execution = object({ id: text, state: text })
const schedule = object({ id: text, name: text, state: text })
const natRule = object({
  id: text,
  enabled: truth,
  kind: text,
  protocol: text,
  external: text,
  port: orNull(number),
  internal: text,
  internalPort: orNull(number),
})
const firewallRule = object({
  id: text,
  enabled: truth,
  policy: text,
  direction: text,
  protocols: listOf(text),
  source: text,
  destination: text,
  ports: text,
  description: text,
})
const staticRoute = object({ network: text, nexthop: text, name: text })
/** Rules of an edge gateway, changed. */
const rulesChanged = anyOf(object({ edge: text, version: number, done: text }, { task }), underWay)

const securityGroup = object({
  name: text,
  labels: listOf(text),
  limits: listOf(text),
  rules: listOf(object({ rule: number, direction: text, protocol: text, ports: text, peer: text })),
  vms: listOf(text),
  ready: truth,
  href: text,
})

/** First words of `list` commands that print records of the query API. */
const records = [
  'org',
  'vdc',
  'catalog',
  'network',
  'edge',
  'external',
  'security-group',
  'vapp',
  'vm',
  'task',
  'event',
  'host',
] as const
const named = [
  'org',
  'vdc',
  'catalog',
  'network',
  'external',
  'template',
  'vapp',
  'vm',
  'host',
] as const
const vappVerbs = ['start', 'stop', 'suspend', 'reset', 'reboot', 'rm'] as const
const same = (
  names: readonly string[],
  shape: OutputShape,
): Readonly<Record<string, OutputShape>> => Object.fromEntries(names.map((name) => [name, shape]))

/** Schemas of what --json prints, by command. Commands without JSON output are absent: servers, ssh, scripts and help. */
export const outputs: Readonly<Record<string, OutputShape>> = {
  up: object({
    dir: text,
    cloud: text,
    ca: text,
    console: text,
    workflow: text,
    user: text,
    password: text,
    administrator: text,
    passwords: text,
    template: text,
    servers: listOf(object({ name: text, log: text }, { pid: number })),
  }),
  down: object({ dir: text, stopped: listOf(text), forgot: truth }),
  doctor: listOf(object({ check: text, state: text, found: text }, { fix: text })),
  ui: object({ address: text }, { expires: text }),
  version: object({ version: text }),
  login: profile,
  profiles: listOf(profile),
  logout: object({ profile: text, revoked: truth }),
  use: object({ active: text }),
  'second-factor add': object({ name: text, recoveryCodes: listOf(text) }),
  'second-factor list': object({
    factors: listOf(
      object({ name: text, kind: text, confirmed: truth, made: text }, { used: text }),
    ),
    recoveryCodesLeft: number,
    required: truth,
  }),
  'second-factor rm': removed,
  'second-factor recovery-codes': object({ recoveryCodes: listOf(text) }),
  list: listOf(vm),
  info: vm,
  usage: object({
    step: number,
    until: text,
    ...same(usageKeys, listOf(orNull(number))),
  }),
  ...same(['create', 'clone', 'set'], made),
  ...same(['start', 'stop', 'suspend', 'pause', 'unpause', 'reset', 'reboot'], powered),
  rm: object({ deleted: listOf(text) }, { tasks: listOf(task) }),
  address: anyOf(said, object({ vm: text, name: text, address: text })),
  console: object({ address: text, state: text }, { expires: text }),
  exec: object({ exitCode: number, stdout: text, stderr: text }),
  logs: object({ serial: text }),
  'share enable': object({ message: text }),
  'share add': folder,
  'share list': listOf(folder),
  'share rm': removed,
  'snapshot create': anyOf(object({ name: text }), changed, underWay),
  'snapshot list': listOf(snapshot),
  'snapshot revert': powered,
  'snapshot rm': anyOf(removed, changed, underWay),
  'forward add': forward,
  'forward list': listOf(forward),
  'forward rm': removed,
  ...same(['template build', 'template import'], template),
  'template list': listOf(template),
  'template rm': removed,
  /** One per line. */
  'event follow': object({ type: text, at: text }),
  'event export': object({ added: number, events: number, last: text }),
  'event verify': object({ events: number, last: text }, { deleted: number, newer: number }),
  ...same(
    records.map((word) => `${word} list`),
    listOf(record),
  ),
  ...same(
    named.map((word) => `${word} info`),
    record,
  ),
  ...same(
    vappVerbs.map((verb) => `vapp ${verb}`),
    done,
  ),
  ...same(
    vappVerbs.map((verb) => `vm ${verb}`),
    anyOf(bulk, underWay),
  ),
  ...same(['label list', 'label set', 'label rm'], listOf(object({ key: text, value: text }))),
  'network create': anyOf(object({ name: text, href: text }), underWay),
  'network set': anyOf(object({ name: text, href: text }), underWay),
  'network rm': done,
  ...same(
    ['connect', 'disconnect'],
    anyOf(
      object({
        vm: text,
        card: number,
        network: text,
        address: orNull(text),
        ipv6: orNull(text),
        connected: truth,
      }),
      underWay,
    ),
  ),
  'edge info': object({
    name: text,
    version: number,
    external: text,
    address: text,
    networks: listOf(text),
    nat: listOf(natRule),
    firewall: object({ enabled: truth, otherwise: text, rules: listOf(firewallRule) }),
    routes: listOf(staticRoute),
  }),
  'edge create': anyOf(object({ name: text, external: text, address: text, href: text }), underWay),
  'edge rm': done,
  'nat list': listOf(natRule),
  'firewall list': listOf(firewallRule),
  'route list': listOf(staticRoute),
  ...same(
    [
      'edge set',
      'nat add',
      'nat rm',
      'firewall allow',
      'firewall deny',
      'firewall move',
      'firewall rm',
      'route add',
      'route rm',
    ],
    rulesChanged,
  ),
  publish: anyOf(
    object({
      vm: text,
      address: text,
      port: number,
      internal: text,
      internalPort: number,
      protocol: text,
      from: text,
    }),
    underWay,
  ),
  unpublish: rulesChanged,
  'address list': listOf(
    object({ address: text, network: text, edge: text, purpose: text, rules: number }),
  ),
  'address take': object({ address: text, network: text, edge: text }),
  'address release': object({ released: text }),
  'external create': object({ name: text, href: text }),
  'external set': object({
    name: text,
    description: text,
    pool: listOf(text),
    dns: listOf(text),
    default: truth,
    href: text,
  }),
  'external rm': done,
  'security-group create': object({ name: text, href: text }),
  ...same(['security-group info', 'security-group allow'], securityGroup),
  'security-group rm': done,
  'vapp clone': anyOf(object({ name: text, href: text }), underWay),
  ...same(['task info', 'task wait', 'task cancel'], wholeTask),
  'user list': listOf(user),
  ...same(['user create', 'user set'], user),
  'token list': listOf(object({ name: text, made: text }, { used: text, expires: text })),
  'token revoke': object({ revoked: text }),
  'identity list': listOf(identityServer),
  ...same(['identity create', 'identity set'], identityServer),
  'identity test': object({ name: text }, { people: number, groups: number }),
  'identity rm': object({ removed: text }),
  ...same(['access list', 'access set', 'access rm'], listOf(shareEntry)),
  'role list': listOf(role),
  'role create': role,
  'role set': role,
  'role rm': object({ removed: text }),
  'webhook list': listOf(webhook),
  'webhook info': object({ ...webhookFields, deliveries: listOf(delivery) }, webhookState),
  'webhook create': object({ ...webhookFields, secret: text }, webhookState),
  'webhook set': object(webhookFields, { ...webhookState, secret: text }),
  'webhook resend': webhook,
  'webhook test': object({ name: text, answer: text }),
  'webhook rm': object({ removed: text }),
  ...same(['quota info', 'quota set'], quota),
  ...same(['host enable', 'host disable', 'org enable', 'org disable'], done),
  'org create': object({ name: text, href: text }),
  'org set': object({ name: text, secondFactorRequired: truth }),
  'org usage': listOf(orgUsage),
  'vdc create': object({ name: text, org: text, href: text }),
  'workflow list': listOf(object({ id: text, name: text, version: text, categoryName: text })),
  'workflow info': object({ id: text, name: text, version: text }),
  'workflow export': object({ file: text, id: text }),
  'workflow import': object({ result: text, complaints: listOf(object({ message: text })) }),
  'workflow run': execution,
  'workflow logs': listOf(byName(anyOf(text, number))),
  'workflow answer': object({ answered: text }),
  ...Object.fromEntries(adminCommands.map(({ name, output }) => [name, output])),
  'workflow schedule': anyOf(listOf(schedule), schedule, object({ deleted: text })),
}
