import { Fault } from '@skerry/fault'
import type { OrgId, TaskId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import type { Tx, CloudTables } from '../database/tables.ts'

/** Upper bounds; a missing one means unlimited. */
export interface Quota {
  readonly vms?: number
  readonly runningVms?: number
  readonly cpus?: number
  readonly memoryMiB?: number
  readonly storageMiB?: number
  readonly networks?: number
  readonly edgeGateways?: number
  readonly externalAddresses?: number
}

export async function readQuota(db: Kysely<CloudTables>, org: OrgId): Promise<Quota> {
  const row = await db.selectFrom('quota').selectAll().where('org', '=', org).executeTakeFirst()
  if (!row) return {}
  return {
    ...(row.vms !== null && { vms: row.vms }),
    ...(row.running_vms !== null && { runningVms: row.running_vms }),
    ...(row.cpus !== null && { cpus: row.cpus }),
    ...(row.memory_mib !== null && { memoryMiB: Number(row.memory_mib) }),
    ...(row.storage_mib !== null && { storageMiB: Number(row.storage_mib) }),
    ...(row.networks !== null && { networks: row.networks }),
    ...(row.edge_gateways !== null && { edgeGateways: row.edge_gateways }),
    ...(row.external_addresses !== null && { externalAddresses: row.external_addresses }),
  }
}

export async function writeQuota(tx: Tx, org: OrgId, quota: Quota): Promise<void> {
  const set = {
    vms: quota.vms ?? null,
    running_vms: quota.runningVms ?? null,
    cpus: quota.cpus ?? null,
    memory_mib: quota.memoryMiB ?? null,
    storage_mib: quota.storageMiB ?? null,
    networks: quota.networks ?? null,
    edge_gateways: quota.edgeGateways ?? null,
    external_addresses: quota.externalAddresses ?? null,
  }
  await tx
    .insertInto('quota')
    .values({ org, ...set })
    .onConflict((conflict) => conflict.column('org').doUpdateSet(set))
    .execute()
}

/**
 * The usage of an organisation, including VMs that its queued tasks will start and storage that its open tasks will need. Storage is
 * the maximum that VMs can take on disk (disk, snapshot, saved memory), plus templates and uploads.
 */
export async function readUsage(tx: Kysely<CloudTables>, org: OrgId): Promise<Required<Quota>> {
  const { rows } = await sql<Record<keyof Quota, string>>`
    select count(*) as vms, count(*) filter (where projected_status = 'POWERED_ON') as "runningVms",
      coalesce(sum(cpus), 0) as cpus, coalesce(sum(memory_mib), 0) as "memoryMiB",
      coalesce(sum(stored_mib), 0) + (select coalesce(sum(task.stores_mib), 0) from task join vm on vm.id = task.vm
        where task.org = ${org} and task.stores_mib > 0 and task.state in ('queued', 'running') and task.direction = 'forward'
        and vm.reserved_task is distinct from task.id) + (select coalesce(sum(bytes), 0)::bigint / 1048576 from (
        select image.bytes from template join image on image.digest = template.image where template.org = ${org}
        union all select upload.bytes from upload where upload.org = ${org}) files) as "storageMiB",
      (select count(*) from network where network.org = ${org} and network.deleted_at is null) as networks,
      (select count(*) from edge_gateway where edge_gateway.org = ${org} and edge_gateway.deleted_at is null) as "edgeGateways",
      (select count(*) from external_address where external_address.org = ${org} and external_address.purpose = 'tenant')
        as "externalAddresses"
    from vm where org = ${org} and deleted_at is null`.execute(tx)
  const count = (key: keyof Quota): number => Number(rows[0]?.[key] ?? 0)
  return {
    vms: count('vms'),
    runningVms: count('runningVms'),
    cpus: count('cpus'),
    memoryMiB: count('memoryMiB'),
    storageMiB: count('storageMiB'),
    networks: count('networks'),
    edgeGateways: count('edgeGateways'),
    externalAddresses: count('externalAddresses'),
  }
}

const words: Readonly<Record<keyof Quota, string>> = {
  vms: 'VMs',
  runningVms: 'running VMs',
  cpus: 'processors',
  memoryMiB: 'MiB of memory',
  storageMiB: 'MiB of storage',
  networks: 'networks',
  edgeGateways: 'edge gateways',
  externalAddresses: 'external addresses',
}

const LESS_STORAGE =
  'remove snapshots, discard suspended memory or delete VMs, or ask the administrator for more'

const LESS_VMS = 'delete or stop VMs, or ask the administrator for more'

const hints: Partial<Readonly<Record<keyof Quota, string>>> = {
  storageMiB: LESS_STORAGE,
  networks: 'delete a network, or ask the administrator for more',
  edgeGateways: 'delete an edge gateway, or ask the administrator for more',
  externalAddresses: 'release an external address, or ask the administrator for more',
}

const bounds = {
  make: ['vms', 'cpus', 'memoryMiB', 'storageMiB'],
  start: ['runningVms'],
  store: ['storageMiB'],
  network: ['networks'],
  edgeGateway: ['edgeGateways'],
  externalAddress: ['externalAddresses'],
} as const satisfies Record<string, readonly (keyof Quota)[]>

/**
 * Call it after the writes of a request and before their commit: a concurrent request waits for the lock and then
 * counts these writes too. It is the last lock that a request takes, so it cannot deadlock.
 */
export async function requireQuota(
  tx: Tx,
  org: OrgId,
  ...what: readonly (keyof typeof bounds)[]
): Promise<void> {
  const names = what.flatMap((each): readonly (keyof Quota)[] => bounds[each])
  const over = await firstOver(tx, org, names)
  if (!over) return
  const { name, most, now } = over
  const message = `quota exceeded: the organisation may have ${most} ${words[name]}; this request would make it ${now}`
  throw new Fault('conflict', message, { hint: hints[name] ?? LESS_VMS })
}

/** What is left of the quotas for the VMs of one request. Each call takes its part, or throws the reason. */
export interface QuotaRoom {
  requireStart(vms: number): void
  requireStorage(mib: number): void
}

/**
 * The same for a request whose VMs are refused one by one. Call it when all rows are locked: concurrent requests wait until the writes
 * of this one are committed.
 */
export async function readRoom(tx: Tx, org: OrgId): Promise<QuotaRoom> {
  const { runningVms = Infinity, storageMiB = Infinity } = await readQuota(tx, org)
  const isLimited = runningVms !== Infinity || storageMiB !== Infinity
  if (isLimited) await lockQuota(tx, org)
  const used = isLimited ? await readUsage(tx, org) : { runningVms: 0, storageMiB: 0 }
  const left = { vms: runningVms - used.runningVms, mib: storageMiB - used.storageMiB }
  return {
    requireStart(vms) {
      if (vms > left.vms) {
        const most = `quota exceeded: the organisation may have ${runningVms} ${words.runningVms}`
        throw new Fault('conflict', `${most}; none is left for this VM`, { hint: LESS_VMS })
      }
      left.vms -= vms
    },
    requireStorage(mib) {
      if (mib > left.mib) throw tooMuchStorage(mib, storageMiB, Math.max(0, left.mib))
      left.mib -= mib
    },
  }
}

const tooMuchStorage = (requested: number, most: number, left: number): Fault =>
  new Fault(
    'conflict',
    `quota exceeded: this may take ${requested} MiB of storage; the organisation may have ${most}, of which ${left} are left`,
    { hint: LESS_STORAGE },
  )

/** The same for the storage that a task or its children will need on hosts; the error reports the need and what is left. */
export async function requireStorage(tx: Tx, org: OrgId, task: TaskId): Promise<void> {
  const over = await firstOver(tx, org, bounds.store)
  if (!over) return
  const { most, now } = over
  const { rows } = await sql<{
    requested: number
  }>`select coalesce(sum(stores_mib), 0)::integer as requested
    from task where id = ${task} or parent = ${task}`.execute(tx)
  const requested = rows[0]?.requested ?? 0
  // A task that stores nothing is allowed even above the quota.
  if (requested === 0) return
  throw tooMuchStorage(requested, most, Math.max(0, most - (now - requested)))
}

interface Over {
  readonly name: keyof Quota
  readonly most: number
  readonly now: number
}

async function lockQuota(tx: Tx, org: OrgId): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('quota/' || ${org}::text, 0))`.execute(tx)
}

async function firstOver(
  tx: Tx,
  org: OrgId,
  names: readonly (keyof Quota)[],
): Promise<Over | undefined> {
  const quota = await readQuota(tx, org)
  if (names.every((name) => quota[name] === undefined)) return undefined
  await lockQuota(tx, org)
  const all = await readUsage(tx, org)
  for (const name of names) {
    const [most, now] = [quota[name], all[name]]
    if (most !== undefined && now > most) return { name, most, now }
  }
  return undefined
}
