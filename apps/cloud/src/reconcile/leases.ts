import { Fault } from '@skerry/fault'
import type { OrgId, VmId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import type { VappId } from '../ids.ts'
import { open } from '../store/claimable.ts'
import type { Database } from '../store/database.ts'
import { tell } from '../store/events.ts'
import { keepRequest } from '../store/request-keys.ts'
import { submitTogether } from '../store/submit-task.ts'
import { lockVapp } from '../store/vapps.ts'
import { vappOperations } from '../vapp-operations.ts'
import type { Tx } from '../world.ts'
import { causedBy, SYSTEM } from './cause.ts'

/** A pass that would stop or delete more than so many VMs asks first: more than 100, or than 5 % of all, however few 5 % are at least 5. */
const MOST = 100
const SHARE = 0.05
const LEAST = 5
/** While so many of the hosts have gone silent in so short a time, nobody knows enough to stop anything. */
const SILENT_SHARE = 0.2
const SILENT_MINUTES = 10
/** How long before its end a lease is told of: a tenth of it, a day at most. */
const WARN_SECONDS_MAX = 86_400

interface Due {
  readonly id: VappId
  readonly org: OrgId
  readonly what: 'suspend' | 'expire' | 'delete'
  readonly until: Date
  readonly over: boolean
  readonly warned: boolean
  /** How many VMs it would stop or delete. */
  readonly vms: number
  /** An act that failed is tried again, an hour later at the soonest. */
  readonly cause: string
}

/** vApps that have a lease, with what they were seen to be. */
const leased = sql`select vapp.*, rule.*, on_.vms as running, all_.vms as vms, on_.vms > 0 as deployed
  from vapp
  left join lateral (select
      lease_in_force(vapp.deployment_lease, deployment_default, deployment_max) as deployment,
      lease_in_force(vapp.storage_lease, storage_default, storage_max) as storage
    from (select 1) one left join lease_rule on lease_rule.org = vapp.org) rule on true
  left join lateral (select count(*)::integer as vms from vm
    where vm.org = vapp.org and vm.vapp = vapp.id and vm.deleted_at is null) all_ on true
  left join lateral (select count(*)::integer as vms from vm
    where vm.org = vapp.org and vm.vapp = vapp.id and vm.deleted_at is null and vm.status = 'POWERED_ON') on_ on true
  where vapp.deleted_at is null and not vapp.closed and (rule.deployment > 0 or rule.storage > 0)`

/**
 * When which lease ends, and what that means; not of those of which something is asked just now. In milliseconds, as it is
 * compared with what was read before.
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
 * Leases that are over: what runs is suspended, which loses nothing; what does not run is marked as expired, and deleted after
 * another lease of the same length. Told before and after. Answers with the VMs that were asked something.
 */
export async function reconcileLeases(db: Kysely<Database>): Promise<readonly VmId[]> {
  if (await isRecovering(db)) return []
  await noteChanges(db)
  const { rows } = await sql<Due>`${due} order by until, id`.execute(db)
  for (const each of rows) {
    if (!each.over && !each.warned) await db.transaction().execute((tx) => warn(tx, each))
    if (each.over && each.what === 'expire') {
      await db.transaction().execute((tx) => expire(tx, each))
    }
  }
  const acts = rows.filter(({ over, what }) => over && what !== 'expire')
  if (acts.length === 0 || (await isSilent(db)) || !(await mayAct(db, acts))) return []
  const asked: VmId[] = []
  for (const each of acts) asked.push(...(await act(db, each)))
  return asked
}

async function isRecovering(db: Kysely<Database>): Promise<boolean> {
  const { recovering } = await db.selectFrom('cloud').select('recovering').executeTakeFirstOrThrow()
  return recovering
}

/** A lease is counted from when the vApp was first seen to be so. */
async function noteChanges(db: Kysely<Database>): Promise<void> {
  await sql`update vapp set
      deployed_since = case when leased.deployed then clock_timestamp() end,
      stored_since = case when leased.deployed then null else clock_timestamp() end,
      expired_at = null, lease_warned = false
    from (${leased}) leased where vapp.org = leased.org and vapp.id = leased.id
      and ((leased.deployed and vapp.deployed_since is null) or (not leased.deployed and vapp.stored_since is null))`.execute(
    db,
  )
}

const about = ({ org, id }: Due) => ({ org, id: null, vapp: id })

async function warn(tx: Tx, each: Due): Promise<void> {
  const { id, what, until } = each
  await tx.updateTable('vapp').set({ lease_warned: true }).where('id', '=', id).execute()
  await tell(tx, { kind: 'vapp.expiring', vm: about(each), what: { what, until } })
}

async function expire(tx: Tx, each: Due): Promise<void> {
  if (!(await stillSo(tx, each))) return
  await tx
    .updateTable('vapp')
    .set({ expired_at: sql`clock_timestamp()`, lease_warned: false })
    .where('id', '=', each.id)
    .execute()
  const { until } = each
  await tell(tx, { kind: 'vapp.expired', vm: about(each), what: { what: 'expire', until } })
}

/** Looked at again under the vApp's lock: somebody may have set its leases meanwhile. */
async function stillSo(tx: Tx, { id, what, until }: Due): Promise<boolean> {
  await lockVapp(tx, id)
  const { rows } = await sql`select from (${due}) due
    where id = ${id} and what = ${what} and over and until = ${until}`.execute(tx)
  return rows.length > 0
}

async function isSilent(db: Kysely<Database>): Promise<boolean> {
  const { rows } = await sql<{ silent: boolean }>`
    select count(*) filter (where not coalesce(${open}, false)
      and seen_at > clock_timestamp() - make_interval(mins => ${SILENT_MINUTES})) > ${SILENT_SHARE}::float8 * count(*) as silent
    from host where state = 'joined'`.execute(db)
  return rows[0]?.silent ?? false
}

/** Within the bound, or a person has said so. Asks at most once an hour. */
async function mayAct(db: Kysely<Database>, acts: readonly Due[]): Promise<boolean> {
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
    if (asks.length > 0) await tell(tx, { kind: 'leases.held', what: { vms, most } })
  })
  return false
}

/** An ordinary operation, by nobody. One that cannot be asked for now is asked for in a later pass. */
async function act(db: Kysely<Database>, each: Due): Promise<readonly VmId[]> {
  try {
    return await db.transaction().execute(async (tx): Promise<readonly VmId[]> => {
      if (!(await stillSo(tx, each))) return []
      const { who, asked } = causedBy(each.org, each.cause)
      const { task, again } = await keepRequest(tx, who, asked)
      const whole = vappOperations.find(({ name }) => name === each.what)
      if (again || !whole) return []
      const ask = { vapp: each.id, owner: SYSTEM, id: task }
      const { vms } = await submitTogether(tx, whole, ask)
      const { what, until } = each
      await tell(tx, { kind: 'vapp.expired', vm: about(each), what: { what, until, task } })
      return vms
    })
  } catch (error) {
    if (error instanceof Fault && error.kind === 'conflict') return []
    throw error
  }
}
