// The vocabulary that pages share: states, actions, operations, events. Another language is another file of this type.
import type { UsageAmounts } from '../api/documents.ts'
import type { ActionName } from '../model/actions.ts'
import type { CellState } from '../model/cell.ts'
import type { BulkOutcome } from '../model/machine/bulk-outcomes.ts'
import type { ModeOfCard } from '../model/networks/cards.ts'
import type { NatKind } from '../model/networks/edge-gateway.ts'
import type { NetworkKind } from '../model/networks/network.ts'
import type { Passage } from '../model/networks/reach.ts'
import type { GroupDirection } from '../model/networks/security-group.ts'
import type { DisplayedPower } from '../model/power.ts'
import type { QuotaRow } from '../model/quota.ts'
import type { ShownTaskState } from '../model/task.ts'
import { plural } from './format.ts'

/** Present and past of an operation, by its name in the API. */
const operations: Readonly<Record<string, readonly [doing: string, done: string]>> = {
  vdcInstantiateVapp: ['Creating', 'Created'],
  vdcComposeVapp: ['Creating', 'Created'],
  vdcRecomposeVapp: ['Changing the VMs of', 'Changed the VMs of'],
  vdcCopyVapp: ['Copying', 'Copied'],
  vdcDeleteVapp: ['Deleting', 'Deleted'],
  vdcUpdateVapp: ['Updating', 'Updated'],
  vappUpdateVm: ['Changing hardware of', 'Changed hardware of'],
  vappDeploy: ['Starting', 'Started'],
  vappPowerOff: ['Powering off', 'Powered off'],
  vappSuspend: ['Suspending', 'Suspended'],
  vappShutdownGuest: ['Shutting down', 'Shut down'],
  vappRebootGuest: ['Restarting', 'Restarted'],
  vappReset: ['Resetting', 'Reset'],
  vappDiscardSuspendedState: ['Discarding saved state of', 'Discarded saved state of'],
  vappCreateSnapshot: ['Taking a snapshot of', 'Took a snapshot of'],
  vappRevertToCurrentSnapshot: ['Reverting', 'Reverted'],
  vappRemoveAllSnapshots: ['Removing the snapshot of', 'Removed the snapshot of'],
  createVm: ['Creating', 'Created'],
  changePower: ['Changing the power of', 'Changed the power of'],
  importTemplate: ['Importing a template', 'Imported a template'],
  createSnapshot: ['Taking a snapshot of', 'Took a snapshot of'],
  revertSnapshot: ['Reverting', 'Reverted'],
  removeSnapshot: ['Removing a snapshot of', 'Removed a snapshot of'],
  metadataUpdate: ['Changing metadata of', 'Changed metadata of'],
  networkCreateOrgVdcNetwork: ['Creating the network', 'Created the network'],
  networkUpdateNetwork: ['Changing the network', 'Changed the network'],
  edgeGatewayCreate: ['Creating the edge gateway', 'Created the edge gateway'],
  edgeGatewayUpdate: ['Changing the edge gateway', 'Changed the edge gateway'],
  edgeGatewayDelete: ['Deleting the edge gateway', 'Deleted the edge gateway'],
  edgeGatewayConfigureServices: ['Changing the rules of', 'Changed the rules of'],
  networkDelete: ['Deleting the network', 'Deleted the network'],
}

/** Why a login at an identity server failed, by the word in the address. */
const loginProblems: Readonly<Record<string, string>> = {
  attempt: 'This login was not begun in this browser, or too long ago. Log in again.',
  unavailable: 'The cloud or the identity server does not answer. Try again later.',
  unproved: 'The answer of the identity server was not accepted. Log in again.',
  access:
    'The identity server knows you, but you have no access here: none of your groups has a role, your account is disabled, or your name belongs to another user. Ask your administrator.',
  name: 'The identity server gives no name that a user can have here. Ask your administrator.',
  groups:
    'The identity server does not list your groups, as Entra ID does beyond 200: it must list only the groups that are assigned to this application. Ask your administrator.',
  acr: 'A stronger login is required. Ask your administrator.',
}

/** What an event of the audit log means, by its type. */
const events: Readonly<Record<string, string>> = {
  'task.queued': 'Task queued',
  'task.running': 'Task started',
  'task.waiting': 'Task waits',
  'task.success': 'Task finished',
  'task.error': 'Task failed',
  'task.canceled': 'Task canceled',
  'vm.status': 'VM changed state',
  'vms.unknown': 'State of VMs unknown',
  'vm.lost': 'VM lost',
  'vm.missing': 'VM missing on its host',
  'vm.orphaned': 'Unknown VM found on a host',
  'vm.adopted': 'VM adopted',
  'vapp.expiring': 'Lease ends soon',
  'vapp.expired': 'Lease expired',
  'vapp.shared': 'Sharing of a vApp changed',
  'catalog.shared': 'Sharing of a catalog changed',
  'session.begun': 'Logged in',
  'session.ended': 'Logged out',
  'session.refused': 'Login refused',
  'second-factor.made': 'Second factor added',
  'second-factor.confirmed': 'Second factor confirmed',
  'second-factor.removed': 'Second factor removed',
  'second-factor.recovery-used': 'Recovery code used',
  'second-factor.recovery-replaced': 'Recovery codes replaced',
  'token.made': 'API token created',
  'token.revoked': 'API token revoked',
  'token.expired': 'API token expired',
  'template.uploaded': 'Template uploaded',
  'user.added': 'User added',
  'user.changed': 'User changed',
  'user.removed': 'User removed',
  'user.lapsed': 'User lost access at the identity server',
  'user.returned': 'User has access at the identity server again',
  'role.added': 'Role added',
  'role.changed': 'Role changed',
  'role.removed': 'Role removed',
  'provider.added': 'Identity server added',
  'provider.changed': 'Identity server changed',
  'provider.removed': 'Identity server removed',
  'provider.silent': 'Identity server does not answer',
  'provider.back': 'Identity server answers again',
  'provider.doubted': 'Mass departure of users not believed',
  'webhook.added': 'Webhook added',
  'webhook.changed': 'Webhook changed',
  'webhook.removed': 'Webhook removed',
  'webhook.resent': 'Webhook sends events again',
  'webhook.disabled': 'Webhook given up',
  'org.added': 'Organisation created',
  'org.changed': 'Organisation changed',
  'vdc.added': 'Data centre created',
  'vdc.changed': 'Data centre changed',
  'host.joined': 'Host joined',
  'host.lost': 'Host lost',
  'host.revoked': 'Host removed',
  'host.quarantined': 'Host quarantined',
  'host.adopted': 'Host adopted',
  'host.enabled': 'Host enabled',
  'host.disabled': 'Host disabled',
  'grant.given': 'Workflow may act for a user',
  'grant.ended': 'Workflow may no longer act for a user',
  'screen.ticket': 'Console ticket requested',
  'console.opened': 'Console opened',
  'console.closed': 'Console closed',
  'console.ended': 'Console closed by an administrator',
  'cell.fit': 'Cell fit again',
  'cell.unfit': 'Cell unfit',
  'network.created': 'Network created',
  'network.changed': 'Network changed',
  'network.deleted': 'Network deleted',
  'security-group.created': 'Security group created',
  'security-group.changed': 'Security group changed',
  'security-group.deleted': 'Security group deleted',
}

const conditions: Readonly<Record<string, string>> = {
  clock: 'Clock',
  certificate: 'Certificate',
  hosts: 'Way to the hosts',
  trust: 'Trust of the hosts',
  database: 'PostgreSQL',
  temporal: 'Temporal',
}

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

export const en = {
  power: {
    on: 'On',
    off: 'Off',
    suspended: 'Suspended',
    paused: 'Paused',
    unknown: 'Unknown',
    creating: 'Creating',
    failed: 'Failed',
    mixed: 'Mixed',
  } satisfies Record<DisplayedPower, string>,

  powerMeaning: {
    on: 'The VM is running.',
    off: 'The VM is powered off.',
    suspended: 'Its memory is saved on disk. Start it to continue.',
    paused: 'The VM is stopped for a moment and keeps its memory. Resume it to continue.',
    unknown: 'Its host does not answer. The VM may still be running.',
    creating: 'The VM is being created.',
    failed: 'The VM could not be created.',
    mixed: 'Its VMs are in different states.',
  } satisfies Record<DisplayedPower, string>,

  action: {
    start: 'Start',
    shutdown: 'Shut down',
    reboot: 'Restart',
    suspend: 'Suspend',
    pause: 'Pause',
    unpause: 'Resume',
    reset: 'Reset',
    powerOff: 'Power off',
    discardState: 'Discard saved state',
    console: 'Console',
    createSnapshot: 'Take snapshot',
    revertSnapshot: 'Revert to snapshot',
    removeSnapshot: 'Delete snapshot',
    changeHardware: 'Change hardware',
    clone: 'Clone',
    delete: 'Delete',
  } satisfies Record<ActionName, string>,

  /** What an action loses; an action with a warning is confirmed first. */
  warning: {
    powerOff: 'This is like pulling the power cord. Data that the guest has not written is lost.',
    reset: 'This is like the reset button. Data that the guest has not written is lost.',
    discardState: 'The saved memory is deleted. The VM will be powered off.',
    revertSnapshot: 'The VM returns to the snapshot. Everything after it is lost.',
    removeSnapshot: 'The snapshot is deleted. The VM stays as it is now.',
    delete: 'The VM and its disk are deleted. This cannot be undone.',
  } as Readonly<Partial<Record<ActionName, string>>>,

  /** Of a user who may not follow the events of the organisation. */
  noEvents: (seconds: number): string =>
    `Your role does not have the right vm:read: the page is read again every ${seconds} s`,

  noAnswer: { cloud: 'The cloud does not answer.', machine: 'vmd does not answer.' },

  snapshotNote: {
    cloud: 'A VM has one snapshot. A new one replaces it.',
    machine: 'A VM can have several snapshots. Each needs its own name.',
  },

  taskState: {
    queued: 'Queued',
    running: 'Running',
    success: 'Done',
    error: 'Failed',
    canceled: 'Canceled',
  } satisfies Record<ShownTaskState, string>,

  bulkOutcome: {
    waiting: 'Waiting',
    running: 'Running',
    done: 'Done',
    failed: 'Failed',
  } satisfies Record<BulkOutcome['state'], string>,

  operation: (name: string, isDone: boolean): string =>
    operations[name]?.[isDone ? 1 : 0] ?? capitalised(name.replaceAll(/([A-Z])/g, ' $1')),

  event: (type: string): string => events[type] ?? capitalised(type.replace('.', ': ')),

  cellState: {
    good: 'Alive and fit',
    warning: 'A check fails',
    unfit: 'Unfit',
    dead: 'Not alive',
  } satisfies Record<CellState, string>,

  cellMeaning: {
    good: 'The cell answers requests and follows its hosts.',
    warning: 'The cell works. What the check found says what to do.',
    unfit: 'The cell leaves hosts and tasks to the other cells until its checks are right.',
    dead: 'The cell sends no heartbeats: its process ended, or it does not reach PostgreSQL. What it checked last is shown.',
  } satisfies Record<CellState, string>,

  /** What a cell checks, by the name of the condition. */
  condition: (name: string): string => conditions[name] ?? capitalised(name),

  quota: {
    vms: 'VMs',
    runningVms: 'Running VMs',
    cpus: 'CPUs',
    memoryMB: 'Memory',
    storageMB: 'Storage',
    networks: 'Networks',
    edgeGateways: 'Edge gateways',
    externalAddresses: 'External addresses',
  } satisfies Record<QuotaRow['key'], string>,

  usage: {
    vmMilliseconds: 'VMs',
    runningVmMilliseconds: 'Running VMs',
    cpuMilliseconds: 'CPUs',
    runningCpuMilliseconds: 'CPUs of running VMs',
    memoryMBMilliseconds: 'Memory',
    runningMemoryMBMilliseconds: 'Memory of running VMs',
    storageMBMilliseconds: 'Storage of VMs, with snapshots',
    templateMBMilliseconds: 'Templates',
    externalAddressMilliseconds: 'External addresses',
  } satisfies Record<keyof UsageAmounts, string>,

  networkKind: {
    isolated: 'Isolated',
    routed: 'Routed',
    direct: 'Direct',
  } satisfies Record<NetworkKind, string>,

  networkMeaning: {
    isolated: 'Its VMs reach each other and nothing else.',
    routed: 'Its VMs also reach the outside, through an edge gateway.',
    direct: 'Its VMs are on an external network of the site.',
  } satisfies Record<NetworkKind, string>,

  ipv6Meaning: 'Its VMs have IPv6 addresses too, which reach nothing outside',

  natKind: {
    forward: 'Port',
    oneToOne: 'Whole address',
    source: 'Leaves as',
  } satisfies Record<NatKind, string>,

  natMeaning: {
    forward: 'A port of an external address leads to a port of a VM.',
    oneToOne: 'All ports of an external address lead to one VM, which leaves with this address.',
    source: 'What a network or a VM sends outside has this address.',
  } satisfies Record<NatKind, string>,

  firewallPolicy: { allow: 'Allow', drop: 'Drop' },
  direction: { in: 'In', out: 'Out' },

  /** What the VMs of a security group accept, or send. */
  groupLimit: (isLimited: boolean): string => (isLimited ? 'Only by a rule' : 'Everything'),
  noLabels: 'none',
  anybody: 'anybody',

  groupPeer: {
    anybody: 'Anybody',
    addresses: 'A block of addresses',
    group: 'VMs of a security group',
  },

  groupDirection: {
    in: {
      title: 'What its VMs accept',
      open: 'The group does not limit it: everything is accepted.',
      none: 'No rule: its VMs accept nothing but replies.',
      closes: 'The group does not limit it yet. With its first rule, its VMs accept nothing else.',
    },
    out: {
      title: 'What its VMs send',
      open: 'The group does not limit it: everything may be sent.',
      none: 'No rule: its VMs send nothing but replies.',
      closes: 'The group does not limit it yet. With its first rule, its VMs send nothing else.',
    },
  } satisfies Record<GroupDirection, object>,

  passage: {
    open: 'Passes',
    some: 'In part',
    blocked: 'Dropped',
  } satisfies Record<Passage, string>,

  /** Words of the drawing of who reaches whom, and of its table. */
  reach: {
    outside: 'Outside',
    otherwise: 'all else',
    anythingElse: 'all else of',
    eachOther: 'each other',
    isolated: 'no edge gateway',
    kind: ({ kind }: { readonly kind: NetworkKind }): string => en.networkKind[kind],
    vms: (n: number): string => plural(n, 'VM'),
    more: (n: number): string => `and ${plural(n, 'more', 'more')}`,
  },

  networkState: (isBusy: boolean): string => (isBusy ? 'Changing' : 'Ready'),

  allocationMode: {
    POOL: 'Chosen by the cloud, from the pool',
    DHCP: 'Chosen by the cloud, for guests that use DHCP',
    MANUAL: 'This one',
    NONE: 'None, and no DHCP',
  } satisfies Record<ModeOfCard, string>,

  /** On a direct network the cloud gives no addresses. */
  directMode: (mode: ModeOfCard): string =>
    mode === 'NONE' ? 'None: the guest has its own' : 'Given by the site, with DHCP',

  /** A reason that stands alone. */
  sentence: (reason: string): string => `${capitalised(reason)}.`,

  vms: (n: number): string => plural(n, 'VM'),
  loginProblem: (problem: string): string => loginProblems[problem] ?? 'The login failed.',
  unavailable: (reason: string): string => `Not available: ${reason}`,
  missingRight: (role: string, right: string): string =>
    `your role, ${role}, does not have the right ${right}`,
}
