import { Fault } from '@skerry/fault'
import type { OrgId, VmId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import { emitEvent } from '../database/events.ts'
import { keepRequest } from '../database/request-keys.ts'
import type { Tx, CloudTables } from '../database/tables.ts'
import type { VappId } from '../domain/ids.ts'
import { lockVapp } from '../inventory/vapps.ts'
import { vappOperations } from '../operations/vapp-operations.ts'
import { open } from '../tasks/claimable.ts'
import { submitTogether } from '../tasks/submit-task.ts'
import { causedBy, SYSTEM } from './cause.ts'

/** A pass needs an operator's confirmation to stop or delete more VMs than the smaller of 100 and max(5, 5 % of all VMs). */
const MOST = 100
const SHARE = 0.05
const LEAST = 5
/** While this share of the hosts went silent within this time, too little is known to stop anything. */
const SILENT_SHARE = 0.2
const SILENT_MINUTES = 10
/** A warning is emitted before a lease ends: a tenth of its length before, at most a day. */
const WARN_SECONDS_MAX = 86_400

interface DueVapp {
  readonly id: VappId
  readonly org: OrgId
  readonly what: 'suspend' | 'expire' | 'delete'
  readonly until: Date
  readonly over: boolean
  readonly warned: boolean
  /** How many VMs it would stop or delete. */
  readonly vms: number
  /** Idempotency key; it contains the hour, so a failed action is retried after an hour at the earliest. */
  readonly cause: string
}

/** vApps that have a lease, with their observed state. */
const leased = sql`select vapp.*, rule.*, on_.vms as running, all_.vms as vms, on_.vms > 0 as deployed
  from vapp
  left join lateral (select
      lease_in_force(vapp.deployment_lease, deployment_default, deployment_max) as deployment,
      lease_in_force(vapp.storage_lease, storage_default, storage_max) as storage
    from (select 1) one left join lease_policy on lease_policy.org = vapp.org) rule on true
  left join lateral (select count(*)::integer as vms from vm
    where vm.org = vapp.org and vm.vapp = vapp.id and vm.deleted_at is null) all_ on true
  left join lateral (select count(*)::integer as vms from vm
    where vm.org = vapp.org and vm.vapp = vapp.id and vm.deleted_at is null and vm.status = 'POWERED_ON') on_ on true
  where vapp.deleted_at is null and not vapp.closed and (rule.deployment > 0 or rule.storage > 0)`

/**
 * Which lease ends when, and what happens then; without vApps that have open tasks. Times are truncated to milliseconds, because
 * they are compared with values that were read before.
 */
const due = sql`select id, org, what, date_trunc('milliseconds', until) as until, until < clock_timestamp() as over, lease_warned as warned,
    case what when 'suspend' then running when 'delete' then vms else 0 end as vms,
    'expiry/' || what || '/' || id || '/' || until || '/' || date_trunc('hour', clock_timestamp()) as cause
  from (select leased.*,
      case when deployed then 'suspend' when expired_at is null then 'expire' else 'delete' end as what,
      case when deployed then deployed_since + make_interval(secs => nullif(deployment, 0))
        else coalesce(expired_at, stored_since) + make_interval(secs => nullif(storage, 0)) end as until,
      least(case when deployed then deployment else storage end / 10, ${sql.lit(WARN_SECONDS_MAX)}) as warning
    from (${leased}) leased) ends
  where until - make_interval(secs => warning) < clock_timestamp()
    and not exists (select from task where task.org = ends.org and task.vapp = ends.id and task.state in ('queued', 'running'))`

/**
 * Handles expired leases: a running vApp is suspended, which loses nothing; a stopped one is marked as expired, and deleted after
 * another lease of the same length. Events are emitted before and after. Returns the VMs that got a task.
 */
export async function reconcileLeases(db: Kysely<CloudTables>): Promise<readonly VmId[]> {
  if (await isRecovering(db)) return []
  await noteChanges(db)
  const { rows } = await sql<DueVapp>`${due} order by until, id`.execute(db)
  for (const each of rows) {
    if (!each.over && !each.warned) await db.transaction().execute((tx) => warn(tx, each))
    if (each.over && each.what === 'expire') {
      await db.transaction().execute((tx) => expire(tx, each))
    }
  }
  const acts = rows.filter(({ over, what }) => over && what !== 'expire')
  if (acts.length === 0 || (await isSilent(db)) || !(await mayAct(db, acts))) return []
  const requested: VmId[] = []
  for (const each of acts) requested.push(...(await endLease(db, each)))
  return requested
}

async function isRecovering(db: Kysely<CloudTables>): Promise<boolean> {
  const { recovering } = await db.selectFrom('cloud').select('recovering').executeTakeFirstOrThrow()
  return recovering
}

/** A lease starts when the vApp was first observed in this state. */
async function noteChanges(db: Kysely<CloudTables>): Promise<void> {
  await sql`update vapp set
      deployed_since = case when leased.deployed then clock_timestamp() end,
      stored_since = case when leased.deployed then null else clock_timestamp() end,
      expired_at = null, lease_warned = false
    from (${leased}) leased where vapp.org = leased.org and vapp.id = leased.id
      and ((leased.deployed and vapp.deployed_since is null) or (not leased.deployed and vapp.stored_since is null))`.execute(
    db,
  )
}

const eventSubject = ({ org, id }: DueVapp) => ({ org, id: null, vapp: id })

async function warn(tx: Tx, each: DueVapp): Promise<void> {
  const { id, what, until } = each
  await tx.updateTable('vapp').set({ lease_warned: true }).where('id', '=', id).execute()
  await emitEvent(tx, { kind: 'vapp.expiring', vm: eventSubject(each), details: { what, until } })
}

async function expire(tx: Tx, each: DueVapp): Promise<void> {
  if (!(await stillSo(tx, each))) return
  await tx
    .updateTable('vapp')
    .set({ expired_at: sql`clock_timestamp()`, lease_warned: false })
    .where('id', '=', each.id)
    .execute()
  const { until } = each
  await emitEvent(tx, {
    kind: 'vapp.expired',
    vm: eventSubject(each),
    details: { what: 'expire', until },
  })
}

/** Checks again under the vApp's lock: its leases may have been changed meanwhile. */
async function stillSo(tx: Tx, { id, what, until }: DueVapp): Promise<boolean> {
  await lockVapp(tx, id)
  const { rows } = await sql`select from (${due}) due
    where id = ${id} and what = ${what} and over and until = ${until}`.execute(tx)
  return rows.length > 0
}

async function isSilent(db: Kysely<CloudTables>): Promise<boolean> {
  const { rows } = await sql<{ silent: boolean }>`
    select count(*) filter (where not coalesce(${open}, false)
      and seen_at > clock_timestamp() - make_interval(mins => ${SILENT_MINUTES})) > ${SILENT_SHARE}::float8 * count(*) as silent
    from host where state = 'joined'`.execute(db)
  return rows[0]?.silent ?? false
}

/** Whether the number is within the bound, or an operator has allowed more. Emits leases.held at most once an hour. */
async function mayAct(db: Kysely<CloudTables>, acts: readonly DueVapp[]): Promise<boolean> {
  const { rows } = await sql<{ all: number; allowed: boolean }>`
    select (select count(*)::integer from vm where deleted_at is null) as all,
      coalesce(expiry_allowed_until > clock_timestamp(), false) as allowed from cloud`.execute(db)
  const { all = 0, allowed = false } = rows[0] ?? {}
  const vms = acts.reduce((sum, each) => sum + each.vms, 0)
  const most = Math.min(MOST, Math.max(LEAST, Math.floor(SHARE * all)))
  if (vms <= most || allowed) return true
  await db.transaction().execute(async (tx) => {
    const { rows: asks } = await sql`update cloud set expiry_asked_at = clock_timestamp()
      where expiry_asked_at is null or expiry_asked_at < clock_timestamp() - interval '1 hour' returning id`.execute(
      tx,
    )
    if (asks.length > 0) await emitEvent(tx, { kind: 'leases.held', details: { vms, most } })
  })
  return false
}

/** Submits an ordinary operation without a user. If it conflicts now, a later pass submits it. */
async function endLease(db: Kysely<CloudTables>, each: DueVapp): Promise<readonly VmId[]> {
  try {
    return await db.transaction().execute(async (tx): Promise<readonly VmId[]> => {
      if (!(await stillSo(tx, each))) return []
      const { principal, requested } = causedBy(each.org, each.cause)
      const { task, again } = await keepRequest(tx, principal, requested)
      const whole = vappOperations.find(({ name }) => name === each.what)
      if (again || !whole) return []
      const ask = { vapp: each.id, owner: SYSTEM, id: task }
      const { vms } = await submitTogether(tx, whole, ask)
      const { what, until } = each
      await emitEvent(tx, {
        kind: 'vapp.expired',
        vm: eventSubject(each),
        details: { what, until, task },
      })
      return vms
    })
  } catch (error) {
    if (error instanceof Fault && error.kind === 'conflict') return []
    throw error
  }
}
