import { sql, type RawBuilder } from 'kysely'

import type { Filter, Operator } from '../query/filter.ts'
import type { Query } from '../query/query.ts'
import type { Tx } from '../world.ts'

const signs: Readonly<Record<Operator, RawBuilder<unknown>>> = {
  '==': sql`=`,
  '!=': sql`<>`,
  '=lt=': sql`<`,
  '=le=': sql`<=`,
  '=gt=': sql`>`,
  '=ge=': sql`>=`,
}

export interface RecordRow {
  readonly id: string
  readonly [column: string]: unknown
}

/** One page of records and how many there are. Columns come from the table of types, values are parameters. */
export async function readRecords(
  tx: Tx,
  query: Query,
): Promise<{ readonly rows: readonly RecordRow[]; readonly total: number }> {
  const from = sql`(select vm.id, vm.name, vm.shown, vm.cpus, vm.memory_mib, vapp.name as container_name,
      vm.holder is not null as is_busy
    from vm join vapp on vapp.org = vm.org and vapp.id = vm.vapp where vm.deleted_at is null) record`
  const where = query.filter ? sql`where ${condition(query, query.filter)}` : sql``
  const { rows: counted } = await sql<{
    total: string
  }>`select count(*) as total from ${from} ${where}`.execute(tx)
  const order = query.sort
    ? sql`${column(query, query.sort.field)} ${query.sort.descending ? sql`desc` : sql`asc`}, id`
    : sql`id`
  const { rows } = await sql<RecordRow>`select * from ${from} ${where} order by ${order}
    limit ${query.pageSize} offset ${(query.page - 1) * query.pageSize}`.execute(tx)
  return { rows, total: Number(counted[0]?.total ?? 0) }
}

function condition(query: Query, filter: Filter): RawBuilder<unknown> {
  const join = (filters: readonly Filter[], by: RawBuilder<unknown>) =>
    sql`(${sql.join(
      filters.map((each) => condition(query, each)),
      by,
    )})`
  if ('any' in filter) return join(filter.any, sql` or `)
  if ('all' in filter) return join(filter.all, sql` and `)
  const named = column(query, filter.field)
  if (filter.value.length === 1) {
    const text = query.type.fields[filter.field]?.ordered ? named : sql`${named}::text`
    return sql`${text} ${signs[filter.is]} ${filter.value[0]}`
  }
  const like = filter.value.map((part) => part.replaceAll(/[\\%_]/g, '\\$&')).join('%')
  return sql`${named}::text ilike ${like}`
}

const column = ({ type }: Query, field: string): RawBuilder<unknown> =>
  sql`${sql.ref(type.fields[field]?.column ?? '')}`
