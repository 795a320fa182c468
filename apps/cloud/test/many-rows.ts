// Many VMs in many organisations, the same ones every time: every value is drawn from a hash of a number.
import { sql, type Kysely } from 'kysely'

import type { CloudTables } from '../src/database/tables.ts'
import { DIGEST, type CloudDatabase } from './cloud-database.ts'

export interface Size {
  readonly vms: number
  readonly orgs: number
  /** How many of the VMs belong to the first organisation. */
  readonly giant: number
}

export const SMALL = 'org-0002'
export const GIANT = 'org-0001'

/**
 * One large organisation and many small ones, with interleaved rows as in production; two data centres each, a vApp for five
 * VMs, all statuses, and in addition a twentieth as many deleted rows.
 */
export async function addMany(
  { asOwner }: Pick<CloudDatabase, 'asOwner'>,
  size: Size,
): Promise<void> {
  await asOwner(async (db) => {
    // Building the indexes at the end takes a tenth of the time of updating them row by row.
    const { rows: indexes } = await sql<{ name: string; made: string }>`
      select indexname as name, indexdef as made from pg_indexes where tablename = 'vm'
        and not exists (select from pg_constraint where conname = indexname)`.execute(db)
    for (const { name } of indexes) await sql`drop index ${sql.ref(name)}`.execute(db)
    await addRows(db, size)
    for (const { made } of indexes) await sql.raw(made).execute(db)
    await sql`select vm_tally_fold()`.execute(db)
    await sql`vacuum analyze`.execute(db)
  })
}

async function addRows(db: Kysely<CloudTables>, { vms, orgs, giant }: Size): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await sql`create function pg_temp.draw(n bigint, k int) returns float8 language sql immutable
      return (hashint8extended(n, k) & 2147483647) / 2147483648.0`.execute(tx)
    await sql`create function pg_temp.uuid_of(kind int, n bigint) returns uuid language sql immutable
      return md5(kind || '/' || n)::uuid`.execute(tx)
    await sql`insert into org (id, name) select pg_temp.uuid_of(1, n), 'org-' || lpad(n::text, 4, '0')
      from generate_series(1, ${orgs}::bigint) n`.execute(tx)
    await sql`insert into vdc (org, id, name) select pg_temp.uuid_of(1, n), pg_temp.uuid_of(2, n * 2 + k), 'centre-' || k
      from generate_series(1, ${orgs}::bigint) n, generate_series(0, 1) k`.execute(tx)
    await sql`create temp table slot on commit drop as
      select n, case when n <= ${giant} then 1 else 2 + (n - ${giant}) % ${Math.max(orgs - 1, 1)} end as org_no,
        (case when n <= ${giant} then n else (n - ${giant}) / ${Math.max(orgs - 1, 1)} end) / 5 as vapp_no
      from generate_series(1, ${vms}::bigint) n`.execute(tx)
    await sql`insert into vapp (org, id, vdc, name, owner, created_at)
      select pg_temp.uuid_of(1, org_no), pg_temp.uuid_of(3, org_no * 100000 + vapp_no), pg_temp.uuid_of(2, org_no * 2 + vapp_no % 2),
        (array['shop', 'billing', 'crm', 'Lab', 'portal', 'intranet', 'warehouse', 'search'])[1 + vapp_no % 8] || '-'
          || lpad(vapp_no::text, 5, '0'), 'user' || vapp_no % 20, now() - interval '3 years'
      from (select distinct org_no, vapp_no from slot) v`.execute(tx)
    await addVms(tx, vms)
  })
}

async function addVms(tx: Kysely<CloudTables>, vms: number): Promise<void> {
  await sql`insert into vm (org, id, vapp, name, image, cpus, memory_mib, disk_mib, created_at, status, host_silent, deleted_at)
    select pg_temp.uuid_of(1, org_no), uuid, pg_temp.uuid_of(3, org_no * 100000 + vapp_no), name, ${DIGEST}, cpus,
      cpus * 1024 * (array[1, 2, 4, 8])[1 + (pg_temp.draw(n, 5) * 4)::int % 4], 1024, created,
      case when r < 0.70 then 'POWERED_ON' when r < 0.93 then 'POWERED_OFF' when r < 0.96 then 'SUSPENDED'
        when r < 0.975 then 'RESOLVED' when r < 0.99 then 'UNRESOLVED' else 'FAILED_CREATION' end,
      pg_temp.draw(n, 6) < 0.01, case when n > ${vms} then now() end
    from (
      select n, org_no, vapp_no, pg_temp.draw(n, 1) as r,
        now() - interval '3 years' * (1 - pg_temp.draw(n, 2)) as created,
        (lpad(to_hex(1700000000000 + (pg_temp.draw(n, 2) * 90000000000)::bigint), 12, '0') || '7' || substr(md5(n::text), 1, 3) || '8'
          || substr(md5(n::text), 4, 15))::uuid as uuid,
        (array[1, 2, 2, 4, 4, 8, 16])[1 + (pg_temp.draw(n, 3) * 7)::int % 7] as cpus,
        (array['web', 'db', 'app', 'cache', 'mq', 'lb', 'build', 'Win', 'k8s-node', 'mail', 'ftp', 'git', 'ldap', 'log', 'proxy',
            'Ärger', '100%', 'a_b', 'gw', 'x(1)'])[1 + (pg_temp.draw(n, 4) * 20)::int % 20]
          || case when pg_temp.draw(n, 7) < 0.1 then '-Web' else '' end || '-'
          || (array['prod', 'test', 'dev', 'stage'])[1 + (pg_temp.draw(n, 8) * 4)::int % 4] || '-' || lpad(((n * 7919) % 1000003)::text, 7, '0') as name
      from (select n, org_no, vapp_no from slot
        union all select n + ${vms}, org_no, vapp_no from slot where n % 20 = 0) every) drawn
    order by pg_temp.draw(n, 9)`.execute(tx)
}
