import type { FaultKind } from '@skerry/fault'
import type { Goal } from '@skerry/host-api'
import type { HostId, OrgId, TaskId, UserId, VmId } from '@skerry/vm'
import type {
  ColumnType,
  Generated,
  GeneratedAlways,
  JSONColumnType,
  Transaction,
  Selectable,
} from 'kysely'

import type { VappId } from '../domain/ids.ts'
import type { Role } from '../domain/roles.ts'
import type { VmTaskKind } from '../domain/task-kind.ts'
import type { LostReason, DisplayedStatus, Status, DesiredPower } from '../domain/vm-status.ts'
import type { AccountTables } from './account-tables.ts'
import type { Big, MaybeTime, Time } from './column-types.ts'
import type { NetworkOfHost, NetworkOfTask, NetworkTables } from './network-tables.ts'
import type { RequestKeyTable } from './request-key-table.ts'
import type { ShareTables } from './share-tables.ts'
import type { UsageTables } from './usage-tables.ts'
import type { WebhookTables } from './webhook-tables.ts'

// The tables of migrations/, column by column; the migrations document them.

export interface CloudTables
  extends NetworkTables, AccountTables, UsageTables, WebhookTables, ShareTables {
  cloud: {
    single: Generated<boolean>
    id: Generated<string>
    recovering: Generated<boolean>
    epoch: Generated<number>
    expiry_allowed_until: MaybeTime
    expiry_asked_at: MaybeTime
    recovery: Generated<number>
    recovering_since: MaybeTime
    new_era: Generated<boolean>
    recovered: ColumnType<
      Readonly<Record<string, number>> | null,
      string | null | undefined,
      string | null
    >
    consoles_per_vm: Generated<number>
    consoles_per_user: Generated<number>
  }
  cell: {
    id: string
    alive_until: Time
    fit: Generated<boolean>
    version: string | null
    conditions: Generated<unknown>
  }
  standing_back: { cell: string; host: HostId; until: Time }
  org: {
    id: Generated<OrgId>
    name: string
    disabled: Generated<boolean>
    second_factor_required: Generated<boolean>
  }
  workflow_machine: { name: string; host: string; made_at: Time }
  workflow_login: { server: string; account_org: OrgId; account: UserId; at: Time }
  workflow_grant: {
    id: Generated<string>
    org: OrgId | null
    kind: 'run' | 'schedule' | null
    parent: string | null
    account_org: OrgId | null
    account: UserId | null
    ceiling: string | null
    ceiling_rights: string[] | null
    server: string
    made_at: Time
    ended_at: MaybeTime
  }
  vdc: {
    org: OrgId
    id: Generated<string>
    name: string
    disabled: Generated<boolean>
    zone: Generated<string>
  }
  catalog: { org: OrgId; id: Generated<string>; name: string; created_at: Time }
  catalog_item: {
    org: OrgId
    id: Generated<string>
    catalog: string
    name: string
    template: string
    created_at: Time
  }
  screen_ticket: {
    ticket_hash: Buffer
    org: OrgId
    vm: VmId
    boot: string
    host: HostId
    account_org: OrgId
    account: UserId
    made_at: Time
    used_at: MaybeTime
  }
  console_machine: { name: string; host: string; login: string; made_at: Time }
  console_role: { role: Role; everywhere: Generated<boolean> }
  console: {
    id: Generated<string>
    org: OrgId
    vapp: VappId
    vm: VmId
    boot: string
    host: HostId
    account_org: OrgId
    account: UserId
    user_name: string
    address: string | null
    via: string
    opened_at: Time
    renewed_at: Time
    bytes: Big
    ended_at: MaybeTime
    why: string | null
  }
  quota: {
    org: OrgId
    vms: number | null
    running_vms: number | null
    cpus: number | null
    memory_mib: ColumnType<string | null, number | null, number | null>
    storage_mib: ColumnType<string | null, number | null, number | null>
    networks: number | null
    edge_gateways: number | null
    external_addresses: number | null
  }
  metadata: {
    org: OrgId
    vapp: VappId
    vm: VmId | null
    key: string
    type: MetadataType
    value: string
  }
  image: { digest: string; bytes: string; virtual_mib: number }
  lease_policy: {
    org: OrgId
    deployment_default: number
    deployment_max: number
    storage_default: number
    storage_max: number
  }
  upload: {
    org: OrgId
    id: Generated<string>
    catalog: string
    name: string
    bytes: string
    sha256: string | null
    cpus: number
    memory_mib: number
    received: Big
    sending_until: Time
    touched_at: Time
  }
  guest_seed: { org: OrgId; vm: VmId; sealed: Buffer }
  template: {
    org: OrgId
    id: Generated<string>
    name: string
    image: string
    cpus: number
    memory_mib: number
    disk_mib: number
    metered_since: Time
  }
  host: HostTable
  invitation: {
    token_hash: Buffer
    expires_at: Time
    host: HostId | null
    public_key: string | null
    made: HostId | null
  }
  vapp: {
    org: OrgId
    id: Generated<VappId>
    vdc: string
    name: string
    owner: string
    created_at: Time
    closed: Generated<boolean>
    deleted_at: MaybeTime
    vdc_name: Generated<string>
    name_key: GeneratedAlways<string>
    deployment_lease: number | null
    storage_lease: number | null
    deployed_since: MaybeTime
    stored_since: MaybeTime
    expired_at: MaybeTime
    lease_warned: Generated<boolean>
  }
  vm: VmTable
  task: TaskTable
  request_key: RequestKeyTable
  pending_undo: {
    host: HostId
    vm: VmId
    incarnation: string
    goal: JSONColumnType<Goal>
    task: TaskId
    made_at: Time
  }
  event: EventTable
  host_record: {
    host: HostId
    vm: VmId
    incarnation: string
    highest: string
    there: boolean
    gone: boolean
    lost: boolean
    spec: ColumnType<unknown, string | null, never>
  }
  orphan: { host: HostId; vm: VmId; found_at: Time }
}

interface HostTable extends NetworkOfHost {
  id: Generated<HostId>
  name: string
  address: string
  port: number
  public_key: string
  state: Generated<'joined' | 'revoked' | 'lost'>
  enabled: Generated<boolean>
  first_list_read: Generated<boolean>
  quarantine: string | null
  follower: string | null
  follow_until: MaybeTime
  session: Big
  list_session: Big
  seen_at: MaybeTime
  boot: string | null
  highest: Big
  version: string | null
  cpus: Generated<number>
  memory_mib: Generated<number>
  disk_mib: Generated<number>
  local_cpus: Generated<number>
  local_memory_mib: Generated<number>
  placed_cpus: Generated<number>
  placed_memory_mib: Generated<number>
  placed_disk_mib: Generated<number>
  recovery_read: Generated<number>
  recovery_waived: Generated<number>
}

interface VmTable {
  org: OrgId
  id: Generated<VmId>
  vapp: VappId
  name: string
  start_order: Generated<number>
  image: string
  cpus: number
  memory_mib: number
  disk_mib: number
  metered_since: Time
  created_at: Time
  closed: Generated<boolean>
  deleted_at: MaybeTime
  host: HostId | null
  incarnation: Big
  ever_started: Generated<boolean>
  status: Generated<Status>
  boot: string | null
  last_boot: string | null
  seen_session: Big
  seen_seq: Generated<number>
  seen_at: MaybeTime
  host_silent: Generated<boolean>
  missing: Generated<number>
  lost_reason: LostReason | null
  desired_power_unknown: Generated<boolean>
  displayed_status: GeneratedAlways<DisplayedStatus>
  sizes_before: ColumnType<Sizes | null, string | null | undefined, string | null>
  nested: Generated<boolean>
  network: string | null
  mac: string | null
  address: string | null
  snapshot: string | null
  snapshot_name: string | null
  snapshot_at: MaybeTime
  snapshot_on: Generated<boolean>
  snapshot_mib: Generated<number>
  taking_mib: Generated<number>
  taking_asked: Generated<boolean>
  saving_mib: Generated<number>
  reserved_task: TaskId | null
  stored_mib: GeneratedAlways<number>
  desired_power: Generated<DesiredPower>
  queue_target: Status | null
  projected_status: GeneratedAlways<Status>
  queue_length: Generated<number>
  fence: Big
  holder: string | null
  lease_until: MaybeTime
  wake_attempts: Generated<number>
  woken_at: MaybeTime
  vdc: Generated<string>
  container_name: Generated<string>
  container_key: GeneratedAlways<string>
  host_name: Generated<string | null>
  name_key: GeneratedAlways<string>
  computer_name: string | null
  source: VmId | null
}

export const metadataTypes = ['String', 'Number', 'Boolean', 'DateTime'] as const
export type MetadataType = (typeof metadataTypes)[number]

export const taskStates = ['queued', 'running', 'success', 'error', 'canceled'] as const
export type TaskState = (typeof taskStates)[number]

interface TaskTable extends NetworkOfTask {
  id: Generated<TaskId>
  org: OrgId
  vapp: VappId | null
  vm: VmId | null
  children: number | null
  in_bulk: Generated<boolean>
  parent: TaskId | null
  rank: Generated<number>
  stop_on_failure: Generated<boolean>
  position: number | null
  owner: string
  operation: string
  kind: Generated<VmTaskKind>
  input: ColumnType<unknown, string, string>
  stores_mib: Generated<number>
  target_status: Status | null
  status_before: Status | null
  state: Generated<TaskState>
  direction: Generated<'forward' | 'back'>
  cancel_requested: Generated<boolean>
  past_no_return: Generated<boolean>
  progress: Generated<number>
  fault: FaultKind | null
  message: string | null
  created_at: Time
  started_at: MaybeTime
  deadline: MaybeTime
  ended_at: MaybeTime
  object_name: Generated<string>
  worker_wait: string | null
  attempts: Generated<number>
  failing_since: MaybeTime
  step_gives_up_at: MaybeTime
  last_failure: string | null
  last_failure_at: MaybeTime
  wait_reason: string | null
  waiting_since: MaybeTime
}

interface EventTable {
  tx: GeneratedAlways<string>
  seq: GeneratedAlways<string>
  at: Time
  org: OrgId | null
  kind: string
  vapp: VappId | null
  vm: VmId | null
  task: TaskId | null
  host: HostId | null
  details: ColumnType<Readonly<Record<string, unknown>>, string | undefined, never>
}

export type Tx = Transaction<CloudTables>
export type TaskRow = Selectable<CloudTables['task']>

/** The resources that a VM takes on its host. */
export interface Sizes {
  readonly cpus: number
  readonly memoryMiB: number
  readonly diskMiB: number
}

export interface Claim {
  readonly task: TaskId
  readonly fence: string
}
