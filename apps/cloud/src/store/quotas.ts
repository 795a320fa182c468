import { Fault } from '@skerry/fault'
import type { OrgId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import type { Tx } from '../world.ts'
import type { Database } from './database.ts'

/** The most that there may be at once; what is missing has no bound. */
export interface Quota {
  readonly vms?: number
  readonly runningVms?: number
  readonly cpus?: number
  readonly memoryMiB?: number
  readonly storageMiB?: number
}

export async function readQuota(db: Kysely<Database>, org: OrgId): Promise<Quota> {
  const row = await db.selectFrom('quota').selectAll().where('org', '=', org).executeTakeFirst()
  if (!row) return {}
  return {
    ...(row.vms !== null && { vms: row.vms }),
    ...(row.running_vms !== null && { runningVms: row.running_vms }),
    ...(row.cpus !== null && { cpus: row.cpus }),
    ...(row.memory_mib !== null && { memoryMiB: Number(row.memory_mib) }),
    ...(row.storage_mib !== null && { storageMiB: Number(row.storage_mib) }),
  }
}

export async function writeQuota(tx: Tx, org: OrgId, quota: Quota): Promise<void> {
  const set = {
    ...{ vms: quota.vms ?? null, running_vms: quota.runningVms ?? null, cpus: quota.cpus ?? null },
    ...{ memory_mib: quota.memoryMiB ?? null, storage_mib: quota.storageMiB ?? null },
  }
  await tx
    .insertInto('quota')
    .values({ org, ...set })
    .onConflict((conflict) => conflict.column('org').doUpdateSet(set))
    .execute()
}

/** What an organisation has, and what it will have running when its queues are empty. */
export async function used(tx: Kysely<Database>, org: OrgId): Promise<Required<Quota>> {
  const { rows } = await sql<Record<keyof Quota, string>>`
    select count(*) as vms, count(*) filter (where desired = 'POWERED_ON') as "runningVms",
      coalesce(sum(cpus), 0) as cpus, coalesce(sum(memory_mib), 0) as "memoryMiB",
      coalesce(sum(disk_mib), 0) + (select coalesce(sum(bytes), 0)::bigint / 1048576 from (
        select image.bytes from template join image on image.digest = template.image where template.org = ${org}
        union all select upload.bytes from upload where upload.org = ${org}) files) as "storageMiB"
    from vm where org = ${org} and deleted_at is null`.execute(tx)
  const count = (key: keyof Quota): number => Number(rows[0]?.[key] ?? 0)
  return {
    ...{ vms: count('vms'), runningVms: count('runningVms'), cpus: count('cpus') },
    ...{ memoryMiB: count('memoryMiB'), storageMiB: count('storageMiB') },
  }
}

const words: Readonly<Record<keyof Quota, string>> = {
  vms: 'VMs',
  runningVms: 'running VMs',
  cpus: 'processors',
  memoryMiB: 'MiB of memory',
  storageMiB: 'MiB of storage',
}

const bounds = {
  make: ['vms', 'cpus', 'memoryMiB', 'storageMiB'],
  start: ['runningVms'],
  store: ['storageMiB'],
} as const satisfies Record<string, readonly (keyof Quota)[]>

/**
 * Asked when what was asked for is written down and not committed: whoever comes at the same moment waits, and then
 * counts this as well. It is the last lock that a request takes, so nobody waits in a circle for it.
 */
export async function requireQuota(
  tx: Tx,
  org: OrgId,
  ...what: readonly (keyof typeof bounds)[]
): Promise<void> {
  const quota = await readQuota(tx, org)
  const names = what.flatMap((each): readonly (keyof Quota)[] => bounds[each])
  if (names.every((name) => quota[name] === undefined)) return
  await sql`select pg_advisory_xact_lock(hashtextextended('quota/' || ${org}::text, 0))`.execute(tx)
  const now = await used(tx, org)
  for (const name of names) {
    const most = quota[name]
    if (most === undefined || now[name] <= most) continue
    throw new Fault(
      'conflict',
      `the organisation may have ${most} ${words[name]}; this would make it ${now[name]}`,
      {
        hint: 'delete or stop some, or ask the administrator for more',
      },
    )
  }
}
