import type { OrgId } from '@skerry/vm'
import { sql, type RawBuilder } from 'kysely'

/** What is metered: units times milliseconds. The columns of `usage_hour`. */
export const usageColumns = [
  'vm_ms',
  'running_vm_ms',
  'cpu_ms',
  'running_cpu_ms',
  'memory_mib_ms',
  'running_memory_mib_ms',
  'storage_mib_ms',
  'template_mib_ms',
  'address_ms',
] as const

export type UsageColumn = (typeof usageColumns)[number]

interface Window {
  /** Both are expressions; `past` is not part of it, and not in the future. */
  readonly first: RawBuilder<unknown>
  readonly past: RawBuilder<unknown>
  /** One organisation, or those of a range of ids. Default: all. */
  readonly org?: OrgId | OrgRange | undefined
}

/** Organisations by their ids, `past` not among them. An end that is undefined is open. */
export interface OrgRange {
  readonly first?: OrgId | undefined
  readonly past?: OrgId | undefined
}

/** The condition that a column is the id of one of them. */
export function isAmong(column: string, { first, past }: OrgRange): RawBuilder<boolean> {
  const id = sql.ref(column)
  return sql`(${first === undefined ? sql`true` : sql`${id} >= ${first}`} and ${past === undefined ? sql`true` : sql`${id} < ${past}`})`
}

/**
 * A query: what organisations used between two times, a row for each that used anything. It sums up spans that overlap, and what is metered
 * now, since when it has been what it is. Integers only, so that every sum is exact.
 */
export function sumUsage({ first, past, org }: Window): RawBuilder<unknown> {
  const own = typeof org === 'string' ? sql`org = ${org}` : isAmong('org', org ?? {})
  // Most rows have not changed for the whole time: that needs no arithmetic on times.
  const ms = (began: string, ended: RawBuilder<unknown>) => sql`case
      when ${sql.ref(began)} <= ${first} and ${ended} >= ${past} then whole_ms
      else (extract(epoch from least(${ended}, ${past}) - greatest(${sql.ref(began)}, ${first})) * 1000)::bigint end`
  const since = ms('metered_since', past)
  return sql`
    select org, sum(ms * vm)::bigint as vm_ms, coalesce(sum(ms) filter (where running), 0)::bigint as running_vm_ms,
      sum(ms * cpus)::bigint as cpu_ms, coalesce(sum(ms * cpus) filter (where running), 0)::bigint as running_cpu_ms,
      sum(ms * memory_mib)::bigint as memory_mib_ms,
      coalesce(sum(ms * memory_mib) filter (where running), 0)::bigint as running_memory_mib_ms,
      sum(ms * storage_mib)::bigint as storage_mib_ms, sum(ms * template_mib)::bigint as template_mib_ms,
      sum(ms * address)::bigint as address_ms
    from (select (extract(epoch from ${past} - ${first}) * 1000)::bigint as whole_ms) whole, lateral (
      select org, ${since} as ms, 1 as vm, status = 'POWERED_ON' as running, cpus, memory_mib, stored_mib as storage_mib,
        0 as template_mib, 0 as address
        from vm where ${own} and deleted_at is null and lost_reason is null and metered_since < ${past}
      union all
      select org, ${ms('began_at', sql`ended_at`)}, (kind = 'vm')::integer, running, cpus, memory_mib,
        case kind when 'vm' then storage_mib else 0 end, case kind when 'template' then storage_mib else 0 end,
        (kind = 'address')::integer
        from usage_span where ${own} and ended_at > ${first} and began_at < ${past}
      union all
      select org, ${since}, 0, false, 0, 0, 0, template_mib(image.bytes), 0
        from template join image on image.digest = template.image where ${own} and metered_since < ${past}
      union all
      select org, ${since}, 0, false, 0, 0, 0, 0, 1
        from external_address where ${own} and purpose = 'tenant' and metered_since < ${past}) used
    group by org`
}
