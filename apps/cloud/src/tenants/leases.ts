import { Fault } from '@skerry/fault'
import type { OrgId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import type { Tx, CloudTables } from '../database/tables.ts'
import type { VappId } from '../domain/ids.ts'

/** In seconds; 0: unlimited. */
export interface LeaseRule {
  readonly deploymentDefault: number
  readonly deploymentMax: number
  readonly storageDefault: number
  readonly storageMax: number
}

const FOREVER: LeaseRule = {
  deploymentDefault: 0,
  deploymentMax: 0,
  storageDefault: 0,
  storageMax: 0,
}

export async function readLeaseRule(db: Kysely<CloudTables>, org: OrgId): Promise<LeaseRule> {
  const row = await db
    .selectFrom('lease_policy')
    .selectAll()
    .where('org', '=', org)
    .executeTakeFirst()
  if (!row) return FOREVER
  return {
    deploymentDefault: row.deployment_default,
    deploymentMax: row.deployment_max,
    storageDefault: row.storage_default,
    storageMax: row.storage_max,
  }
}

/** Missing values are set to 0. */
export async function writeLeaseRule(
  tx: Tx,
  org: OrgId,
  requested: Partial<LeaseRule>,
): Promise<void> {
  const rule = { ...FOREVER, ...requested }
  const set = {
    deployment_default: rule.deploymentDefault,
    deployment_max: rule.deploymentMax,
    storage_default: rule.storageDefault,
    storage_max: rule.storageMax,
  }
  await tx
    .insertInto('lease_policy')
    .values({ org, ...set })
    .onConflict((conflict) => conflict.column('org').doUpdateSet(set))
    .execute()
}

/** The effective leases of a vApp and their ends; an inactive lease has no end. */
export interface Lease {
  readonly deployment: number
  readonly storage: number
  readonly deploymentEnds: Date | null
  readonly storageEnds: Date | null
}

export async function readLease(db: Kysely<CloudTables>, id: VappId): Promise<Lease> {
  const { rows } = await sql<Lease>`
    select deployment, storage,
      case when deployment > 0 then deployed_since + make_interval(secs => deployment) end as "deploymentEnds",
      case when storage > 0 then coalesce(expired_at, stored_since) + make_interval(secs => storage) end as "storageEnds"
    from (select vapp.*,
        lease_in_force(deployment_lease, deployment_default, deployment_max) as deployment,
        lease_in_force(storage_lease, storage_default, storage_max) as storage
      from vapp left join lease_policy on lease_policy.org = vapp.org where vapp.id = ${id}) leased`.execute(
    db,
  )
  const [lease] = rows
  if (!lease) throw new Fault('not-found', 'vApp not found')
  return lease
}

/** Missing values stay unchanged. */
export interface WantedLease {
  readonly deployment?: number
  readonly storage?: number
}

/** Both leases restart: a user who sets them still needs the vApp. */
export async function setLease(
  tx: Tx,
  { org, vapp }: { readonly org: OrgId; readonly vapp: VappId },
  { deployment, storage }: WantedLease,
): Promise<void> {
  const rule = await readLeaseRule(tx, org)
  requireWithin('DeploymentLeaseInSeconds', deployment, rule.deploymentMax)
  requireWithin('StorageLeaseInSeconds', storage, rule.storageMax)
  const now = sql<Date>`clock_timestamp()`
  await tx
    .updateTable('vapp')
    .set({
      ...(deployment !== undefined && { deployment_lease: deployment }),
      ...(storage !== undefined && { storage_lease: storage }),
      deployed_since: sql`case when deployed_since is null then null else ${now} end`,
      stored_since: sql`case when stored_since is null then null else ${now} end`,
      expired_at: null,
      lease_warned: false,
    })
    .where('id', '=', vapp)
    .execute()
}

function requireWithin(name: string, seconds: number | undefined, most: number): void {
  if (seconds === undefined || most === 0 || (seconds > 0 && seconds <= most)) return
  throw new Fault('invalid', `${name} must be between 1 and ${most} in this organisation`)
}
