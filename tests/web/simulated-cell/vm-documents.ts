// Documents of VMs, vApps and tasks in JSON, with the names and links of the cloud API.
import type { SimulatedCaller } from './callers.ts'
import {
  addressOf,
  factsOf,
  hostOf,
  KIND,
  ORG_VMS,
  orgName,
  statuses,
  statusOf,
  uuidOf,
  VMS_PER_VAPP,
  createdVms,
  type Status,
} from './inventory.ts'
import { connectionsDocument } from './networks.ts'
import { DELETED } from './query.ts'
import { mayAt, shareLinks } from './shares.ts'
import { operations, snapshots, type Operation, type SimulatedTask } from './tasks.ts'

export const media = (document: string): string => `application/vnd.skerry.cloud.${document}+json`
const numbers: Readonly<Record<Status, number>> = {
  POWERED_ON: 4,
  POWERED_OFF: 8,
  SUSPENDED: 3,
  UNKNOWN: 6,
  UNRESOLVED: 0,
}
const iso = (ms: number): string => new Date(ms).toISOString()

export const vmHref = (n: number): string => `/api/vApp/vm-${uuidOf(KIND.vm, n)}`
export const vappHref = (n: number): string => `/api/vApp/vapp-${uuidOf(KIND.vapp, n)}`
export const vdcHref = (n: number): string => `/api/vdc/${uuidOf(KIND.vdc, n)}`
const vdcNumber = (name: string): number => (name === 'main' ? 1 : 2)

/** Why an operation is not linked; undefined: it is. */
export function whyNot(
  operation: Operation,
  n: number,
  caller: SimulatedCaller,
): string | undefined {
  if (!mayAt(caller, operation.right, 'vapp', factsOf(n).vappN))
    return `your role, ${caller.role}, lacks the right ${operation.right}`
  const status = statusOf(n)
  if (!operation.from.includes(status))
    return `it is ${status}; this needs it ${operation.from.join(' or ')}`
  const needsSnapshot = /revert|removeAll/.test(operation.rel)
  return needsSnapshot && !snapshots.has(n) ? 'it has no snapshot' : undefined
}

function linksOf(n: number, caller: SimulatedCaller) {
  const href = vmHref(n)
  const { vapp, vappN } = factsOf(n)
  const linked = operations.filter((operation) => whyNot(operation, n, caller) === undefined)
  const canView = statusOf(n) === 'POWERED_ON' && mayAt(caller, 'vm:console', 'vapp', vappN)
  return [
    ...linked.map(({ rel, path }) => ({ rel, href: path === '' ? href : `${href}/${path}` })),
    ...(canView
      ? [
          { rel: 'screen:acquireTicket', href: `${href}/screen/action/acquireTicket` },
          { rel: 'screen:thumbnail', href: `${href}/screen` },
        ]
      : []),
    { rel: 'down', type: media('metadata'), href: `${href}/metadata` },
    { rel: 'up', type: media('vApp'), href: vappHref(vappN), name: vapp },
  ]
}

function unavailableOf(n: number, caller: SimulatedCaller) {
  const refused = operations.flatMap((operation) => {
    const because = whyNot(operation, n, caller)
    return because === undefined ? [] : [{ rel: operation.rel, because }]
  })
  const canView = mayAt(caller, 'vm:console', 'vapp', factsOf(n).vappN)
  if (statusOf(n) === 'POWERED_ON' && canView) return refused
  const because = canView
    ? `it is ${statusOf(n)}; only one that is POWERED_ON has a screen`
    : `your role, ${caller.role}, lacks the right vm:console`
  return [...refused, { rel: 'screen:acquireTicket', because }]
}

export function vmDocument(n: number, caller: SimulatedCaller, tasks: Iterable<SimulatedTask>) {
  const facts = factsOf(n)
  const status = statusOf(n)
  const snapshot = snapshots.get(n)
  const open = [...tasks].filter((task) => task.vm === n && task.ended === undefined)
  return {
    name: facts.name,
    id: `urn:skerry:vm:${uuidOf(KIND.vm, n)}`,
    href: vmHref(n),
    type: media('vm'),
    status: numbers[status],
    link: linksOf(n, caller),
    unavailable: unavailableOf(n, caller),
    tasks: { task: open.map(taskDocument) },
    virtualHardwareSection: {
      item: [
        { resourceType: 3, virtualQuantity: facts.cpus },
        { resourceType: 4, virtualQuantity: facts.memory },
        { resourceType: 17, virtualQuantity: facts.disk },
      ],
    },
    networkConnectionSection: connectionsDocument(n, caller),
    guestCustomizationSection: { computerName: facts.name },
    snapshotSection: snapshot
      ? {
          snapshot: {
            name: snapshot.name,
            created: iso(snapshot.created),
            poweredOn: snapshot.hasMemory,
            size: (facts.disk + (snapshot.hasMemory ? facts.memory : 0)) * 1024 ** 2,
          },
        }
      : {},
    dateCreated: iso(facts.created),
    ...(status === 'UNKNOWN' && { lastSeen: iso(Date.now() - 94_000) }),
  }
}

/** An action on many VMs belongs to its organisation. */
const objectOf = ({ vm, parts }: SimulatedTask) =>
  parts
    ? { type: media('org'), href: `/api/org/${uuidOf(KIND.org, 0)}` }
    : { type: media('vm'), href: vmHref(vm) }

export function taskDocument(task: SimulatedTask) {
  const href = `/api/task/${task.id}`
  return {
    name: 'task',
    href,
    type: media('task'),
    status: task.state,
    operationName: task.operation,
    operation: `${task.operation} VM ${uuidOf(KIND.vm, task.vm)}`,
    startTime: iso(task.started ?? task.created),
    ...(task.ended !== undefined && { endTime: iso(task.ended) }),
    link: task.ended === undefined ? [{ rel: 'task:cancel', href: `${href}/action/cancel` }] : [],
    owner: { ...objectOf(task), name: task.object },
    ...(task.error && {
      error: {
        majorErrorCode: task.error.status,
        minorErrorCode: task.error.code,
        message: task.error.message,
      },
    }),
    user: { name: task.owner },
    progress: task.progress,
  }
}

export const taskRecord = (task: SimulatedTask) => ({
  name: task.operation,
  status: task.state,
  orgName: orgName(task.org),
  startDate: iso(task.started ?? task.created),
  ...(task.ended !== undefined && { endDate: iso(task.ended) }),
  ownerName: task.owner,
  object: objectOf(task).href,
  objectType: task.parts ? 'org' : 'vm',
  isInBulk: task.parent !== undefined,
  ...(task.parent && { parent: `/api/task/${task.parent.id}` }),
  ...(task.error && { message: task.error.message }),
  objectName: task.object,
  progress: task.progress,
  href: `/api/task/${task.id}`,
})

export function vmRecord(n: number, isBusy: boolean, isEverywhere: boolean) {
  const facts = factsOf(n)
  const status = statusOf(n)
  return {
    name: facts.name,
    containerName: facts.vapp,
    container: vappHref(facts.vappN),
    vdcName: facts.vdc,
    status,
    ...(status !== 'UNRESOLVED' && { ipAddress: addressOf(facts) }),
    numberOfCpus: facts.cpus,
    memoryMB: facts.memory,
    diskMB: facts.disk,
    isBusy,
    dateCreated: iso(facts.created),
    ...(isEverywhere && { orgName: orgName(facts.org), hostName: hostOf(facts.host).name }),
    href: vmHref(n),
  }
}

/** The numbers of the VMs of a vApp. */
export function vmsOfVapp(vappN: number): number[] {
  const created = [...createdVms].filter(([, vm]) => vm.vappN === vappN).map(([n]) => n)
  if (created.length > 0) return created
  const first = vappN * VMS_PER_VAPP
  return Array.from({ length: VMS_PER_VAPP }, (_, at) => first + at).filter(
    (n) => statuses[n] !== DELETED,
  )
}

/** The numbers of all vApps of the first organisation. */
export const vappNumbers = (): number[] => [
  ...Array.from({ length: ORG_VMS / VMS_PER_VAPP }, (_, at) => at),
  ...new Set([...createdVms.values()].map(({ vappN }) => vappN)),
]

const wordOf = (vms: readonly number[]): string => {
  const words = new Set(vms.map(statusOf))
  return words.size === 1 ? ([...words][0] ?? 'RESOLVED') : words.size === 0 ? 'RESOLVED' : 'MIXED'
}

export function vappRecord(vappN: number) {
  const vms = vmsOfVapp(vappN)
  const facts = factsOf(vms[0] ?? vappN * VMS_PER_VAPP)
  return {
    name: facts.vapp,
    vdcName: facts.vdc,
    status: wordOf(vms),
    numberOfVMs: vms.length,
    isBusy: false,
    creationDate: iso(facts.created),
    ownerName: vappN % 3 === 0 ? 'alice' : 'bob',
    isExpired: vappN % 37 === 5,
    href: vappHref(vappN),
  }
}

export function vappDocument(
  vappN: number,
  caller: SimulatedCaller,
  lease: { readonly run: number; readonly keep: number },
) {
  const { name, vdcName, creationDate, ownerName, status } = vappRecord(vappN)
  const href = vappHref(vappN)
  const canEdit = mayAt(caller, 'vm:edit', 'vapp', vappN)
  const sharing = shareLinks(caller, 'vapp', vappN, href)
  const isOff = status === 'POWERED_OFF'
  return {
    name,
    href,
    type: media('vApp'),
    status: status === 'MIXED' ? 10 : (numbers[status as Status] ?? 1),
    link: [
      ...(mayAt(caller, 'vm:power', 'vapp', vappN)
        ? [
            { rel: 'power:powerOn', href: `${href}/power/action/powerOn` },
            { rel: 'power:shutdown', href: `${href}/power/action/shutdown` },
          ]
        : []),
      ...(canEdit ? [{ rel: 'recompose', href: `${href}/action/recomposeVApp` }] : []),
      ...(canEdit && isOff ? [{ rel: 'remove', href }] : []),
      ...sharing.link,
      { rel: 'up', type: media('vdc'), href: vdcHref(vdcNumber(vdcName)) },
    ],
    unavailable: [
      ...(isOff ? [] : [{ rel: 'remove', because: `it is ${status}; this needs it POWERED_OFF` }]),
      ...sharing.unavailable,
    ],
    leaseSettingsSection: {
      href: `${href}/leaseSettingsSection`,
      deploymentLeaseInSeconds: lease.run,
      storageLeaseInSeconds: lease.keep,
      ...(lease.run > 0 && { deploymentLeaseExpiration: iso(Date.now() + lease.run * 600) }),
    },
    dateCreated: creationDate,
    owner: { user: { name: ownerName } },
    children: {
      vm: vmsOfVapp(vappN)
        .slice(0, 12)
        .map((n) => vmDocument(n, caller, [])),
    },
  }
}
