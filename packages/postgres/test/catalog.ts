// Everything that the system catalog knows about a database, as lines of text, for tests that compare two databases.
import { readFile } from 'node:fs/promises'

import { freshDatabase, type Postgres } from '@skerry/lab'
import { sql, type RawBuilder } from 'kysely'

import { openDatabase } from '../src/index.ts'

/** Returns lines; for rows that belong to the schema. */
export type CatalogQuery = RawBuilder<{ line: string }>

/** Every column, constraint, index, trigger, policy, permission and function of a database that these files make. */
export async function catalogAfter(
  postgres: Postgres,
  files: readonly string[],
  rows: readonly CatalogQuery[] = [],
): Promise<readonly string[]> {
  await using fresh = await freshDatabase(postgres)
  const db = openDatabase<unknown>({ url: fresh.url, applicationName: 'test' })
  try {
    for (const file of files) await sql.raw(await readFile(file, 'utf8')).execute(db)
    const lines = await Promise.all(
      [...parts, ...rows].map(async (part) =>
        (await part.execute(db)).rows.map(({ line }) => line),
      ),
    )
    return lines.flat().map(plain)
  } finally {
    await db.destroy()
  }
}

/** Without comments and layout. */
const plain = (line: string): string =>
  line
    .replaceAll(/--[^\n]*/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim()

const ours = sql`join pg_namespace on pg_namespace.oid = relnamespace and nspname = 'public'`
const sorted = sql`(select string_agg(each::text, ',' order by each::text)`
const parts: readonly CatalogQuery[] = [
  sql<{
    line: string
  }>`select 'column ' || relname || '.' || attname || ' ' || format_type(atttypid, atttypmod)
      || ' ' || coalesce(nullif(attcollation, 0)::regcollation::text, '') || case when attnotnull then ' not null' else '' end
      || ' ' || attgenerated::text || attidentity::text || ' ' || coalesce(pg_get_expr(adbin, adrelid), '') || ' ' || coalesce(attstattarget, -1)
      || ' ' || coalesce(${sorted} from unnest(attacl) each), '') as line
    from pg_class ${ours} join pg_attribute on attrelid = pg_class.oid and attnum > 0 and not attisdropped
    left join pg_attrdef on adrelid = attrelid and adnum = attnum where relkind in ('r', 'p')`,
  sql<{
    line: string
  }>`select 'relation ' || relname || ' ' || relkind::text || ' ' || relrowsecurity || ' ' || relforcerowsecurity
      || ' ' || coalesce(array_to_string(reloptions, ','), '') || ' ' || coalesce(pg_get_partkeydef(pg_class.oid), '')
      || ' ' || coalesce(pg_get_expr(relpartbound, pg_class.oid), '')
      || ' ' || coalesce(${sorted} from unnest(relacl) each), '') as line
    from pg_class ${ours} where relkind in ('r', 'p', 'S', 'v')`,
  sql<{
    line: string
  }>`select 'constraint ' || relname || ' ' || conname || ' ' || pg_get_constraintdef(pg_constraint.oid) as line
    from pg_class ${ours} join pg_constraint on conrelid = pg_class.oid`,
  sql<{
    line: string
  }>`select 'index ' || indexdef as line from pg_indexes where schemaname = 'public'`,
  sql<{ line: string }>`select 'trigger ' || pg_get_triggerdef(pg_trigger.oid) as line
    from pg_class ${ours} join pg_trigger on tgrelid = pg_class.oid where not tgisinternal`,
  sql<{
    line: string
  }>`select 'policy ' || tablename || ' ' || policyname || ' ' || permissive || ' ' || roles::text || ' ' || cmd
      || ' ' || coalesce(qual, '') || ' ' || coalesce(with_check, '') as line
    from pg_policies where schemaname = 'public'`,
  sql<{
    line: string
  }>`select 'function ' || pg_get_functiondef(pg_proc.oid) || ' ' || proowner::regrole
      || ' ' || coalesce(${sorted} from unnest(proacl) each), '') as line
    from pg_proc join pg_namespace on pg_namespace.oid = pronamespace and nspname = 'public'
    where not exists (select from pg_depend where objid = pg_proc.oid and deptype = 'e')`,
  sql<{ line: string }>`select 'operator ' || oprname || ' ' || oprcode::text as line
    from pg_operator join pg_namespace on pg_namespace.oid = oprnamespace and nspname = 'public'
    where not exists (select from pg_depend where objid = pg_operator.oid and deptype = 'e')`,
  sql<{ line: string }>`select 'extension ' || extname as line from pg_extension`,
  sql<{
    line: string
  }>`select 'sequence ' || sequencename || ' ' || max_value || ' ' || cycle as line from pg_sequences`,
]
