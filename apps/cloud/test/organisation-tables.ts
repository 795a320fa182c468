// The tables of organisations from PostgreSQL's catalog: their policies, their keys, and what tenants may write.
import { sql, type Kysely } from 'kysely'

import type { CloudTables } from '../src/database/tables.ts'

export interface Column {
  readonly name: string
  readonly type: string
  /** Only the database sets it. */
  readonly given: boolean
}

export interface UniqueKey {
  readonly name: string
  /** Null for an expression. */
  readonly columns: readonly (string | null)[]
}

export interface ForeignKey {
  readonly name: string
  readonly to: string
  /** Column here, or the one that it is generated from; referenced column. */
  readonly pairs: readonly (readonly [string, string])[]
}

export interface Table {
  readonly name: string
  /** The column with the organisation of a row. */
  readonly owner: string
  /** Row-level security, also for the owner of the table, and a policy for tenants. */
  readonly secured: boolean
  /** Tenants may insert or update. */
  readonly written: boolean
  readonly columns: readonly Column[]
  readonly unique: readonly UniqueKey[]
  readonly foreign: readonly ForeignKey[]
}

/** Every table with rows of organisations, including the table of organisations itself, whose id is the organisation. */
export async function readTables<DB = CloudTables>(
  db: Kysely<DB>,
  tenant = 'skerry_tenant',
): Promise<Table[]> {
  const { rows } = await sql<Table>`
    with named as (
      select c.oid, c.relname, case when c.relname = 'org' then 'id' else 'org' end as owner,
        c.relrowsecurity and c.relforcerowsecurity as forced
      from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
        and (c.relname = 'org' or exists (select from pg_attribute a
          where a.attrelid = c.oid and a.attname = 'org' and not a.attisdropped)))
    select relname as name, owner,
      forced and exists (select from pg_policy p
        where p.polrelid = named.oid and ${tenant}::regrole::oid = any(p.polroles)) as secured,
      has_table_privilege(${tenant}, named.oid, 'insert')
        or has_any_column_privilege(${tenant}, named.oid, 'update') as written,
      (select jsonb_agg(jsonb_build_object('name', a.attname, 'type', t.typname,
          'given', a.attgenerated <> '' or a.attidentity = 'a') order by a.attnum)
        from pg_attribute a join pg_type t on t.oid = a.atttypid
        where a.attrelid = named.oid and a.attnum > 0 and not a.attisdropped) as columns,
      (select coalesce(jsonb_agg(jsonb_build_object('name', i.indexrelid::regclass::text, 'columns',
          (select jsonb_agg(a.attname order by k.at)
            from unnest(i.indkey::int2[]) with ordinality k(num, at)
            left join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.num and k.num > 0
            where k.at <= i.indnkeyatts))), '[]')
        from pg_index i where i.indrelid = named.oid and i.indisunique) as unique,
      (select coalesce(jsonb_agg(jsonb_build_object('name', f.conname, 'to', f.confrelid::regclass::text, 'pairs',
          (select jsonb_agg(jsonb_build_array(coalesce(source.name, here.attname), there.attname))
            from unnest(f.conkey, f.confkey) k(here, there)
            join pg_attribute here on here.attrelid = f.conrelid and here.attnum = k.here
            join pg_attribute there on there.attrelid = f.confrelid and there.attnum = k.there
            left join lateral (select a.attname as name from pg_attrdef d
              join pg_depend on classid = 'pg_attrdef'::regclass and objid = d.oid
                and refobjid = f.conrelid and refobjsubid not in (0, d.adnum)
              join pg_attribute a on a.attrelid = f.conrelid and a.attnum = refobjsubid
              where d.adrelid = f.conrelid and d.adnum = k.here and here.attgenerated <> '') source on true))), '[]')
        from pg_constraint f where f.conrelid = named.oid and f.contype = 'f') as foreign
    from named order by relname`.execute(db)
  return rows
}

/** Values that cannot be guessed: a random uuid from the database, or the hash of 256 random bits. */
export function isUnguessable({ columns: all }: Table, { columns }: UniqueKey): boolean {
  const [only, ...others] = columns
  const column = all.find(({ name }) => name === only)
  if (!column || others.length > 0) return false
  return (
    (column.name === 'id' && column.type === 'uuid') ||
    (column.name.endsWith('_hash') && column.type === 'bytea')
  )
}

/** Descriptions of everything in these tables that could reveal data of another organisation. */
export function gapsIn(tables: readonly Table[]): string[] {
  const gaps: string[] = []
  const byName = new Map(tables.map((table) => [table.name, table]))
  for (const table of tables) {
    const { name, owner } = table
    if (!table.secured) gaps.push(`${name} has no row-level security for tenants`)
    if (!table.written) continue
    for (const key of table.unique) {
      if (key.columns[0] === owner || isUnguessable(table, key)) continue
      gaps.push(`the unique key ${key.name} of ${name} does not begin with ${owner}`)
    }
    for (const { name: key, to, pairs } of table.foreign) {
      const there = byName.get(to)
      if (!there || pairs.some(([, column]) => column === there.owner)) continue
      gaps.push(`the foreign key ${key} of ${name} leads to ${to} without its organisation`)
    }
  }
  return gaps
}
