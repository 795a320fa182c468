import { Fault } from '@skerry/fault'
import { isMisfit, tookTooLong, type SnapshotReader } from '@skerry/postgres'
import type { OrgId } from '@skerry/vm'
import { sql, type RawBuilder } from 'kysely'

import type { Tx } from '../database/tables.ts'
import type { SharedWith } from '../sharing/shared-access.ts'
import { talliedBy, type CheckedFilter } from './condition.ts'
import { wrongCursor, type PageCursor } from './cursor.ts'
import type { Query } from './query.ts'
import { castValues, condition, isShared } from './record-condition.ts'
import type { RecordType } from './record-types.ts'

type Sql = RawBuilder<unknown>

/** Timeout of a page and its total. */
export const QUERY_MS = 2000

export interface RecordRow {
  /** Attribute → value; of a reference the id. If the kind varies, 'name:thing' holds the kind, and 'name:there' whether it exists. */
  readonly [name: string]: unknown
  readonly key: string
}

export interface RecordPage {
  readonly rows: readonly RecordRow[]
  readonly total: number
  /** The end of this page, if the next page can start there. */
  readonly end: PageCursor | undefined
}

/** `everywhere`: over all organisations. `sharedWith`: only what is shared with this user. */
export interface RecordSource {
  readonly asking: SnapshotReader
  readonly everywhere: boolean
  readonly sharedWith?: SharedWith | undefined
}

/** Reads one page of records and the total, both from the same snapshot. */
export async function readRecords(query: Query, reading: RecordSource): Promise<RecordPage> {
  const parts = partsOf(query, reading)
  try {
    const isNear = query.after !== undefined || (query.page === 1 && isWalked(query))
    if (isNear) return await readNear(query, parts, reading.asking)
    return parts.total
      ? await readFar(query, { ...parts, total: parts.total }, reading.asking)
      : await readCounted(query, parts, reading.asking)
  } catch (error) {
    if (tookTooLong(error)) throw tooLong(query, error)
    if (query.after && isMisfit(error)) throw wrongCursor(error)
    throw error
  }
}

/**
 * The number of records of an organisation that a change is about to act on, up to `limit`: in its transaction, with the timeout and
 * the faults of a query.
 */
export async function countRecords(
  tx: Tx,
  query: Query,
  { org, limit }: { readonly org: OrgId; readonly limit: number },
): Promise<number> {
  try {
    await sql`set local statement_timeout = ${sql.lit(QUERY_MS)}`.execute(tx)
    const { rows } = await sql<{ total: number }>`select count(*)::integer as total from (
      select from ${sql.table(query.type.table)} r where r.org = ${org} and ${matching(query)}
      limit ${limit}) found`.execute(tx)
    await sql`set local statement_timeout to default`.execute(tx)
    return rows[0]?.total ?? 0
  } catch (error) {
    throw tookTooLong(error) ? tooLong(query, error) : error
  }
}

interface Parts {
  /** The source of rows, as `r`, and the condition on them. */
  readonly from: Sql
  readonly where: Sql
  /** The selected columns, with separate columns for the key and the end of the page. */
  readonly shown: Sql
  /** Sort columns and direction. */
  readonly sorted: readonly Sql[]
  readonly descending: boolean
  readonly total: Sql | undefined
}

/** SQL over the row `r`: whether it is a record of this query. */
export const matching = ({ type, test }: Pick<Query, 'type' | 'test'>): Sql => {
  const own = condition(test, type.key)
  return type.where === undefined ? own : sql`${own} and ${sql.raw(type.where)}`
}

function partsOf(
  { type, test, fields, sort }: Query,
  { everywhere, sharedWith }: Omit<RecordSource, 'asking'>,
): Parts {
  const own = condition(test, type.key)
  const all = matching({ type, test })
  const records = sharedWith ? sql`(${all}) and ${isShared(type, sharedWith)}` : all
  const isAll = everywhere && type.everywhere !== undefined
  const where = isAll ? sql`${records} and ${sql.raw(type.everywhere ?? 'true')}` : records
  const sorted = [...sortColumn(sort), ...type.key.map((each) => sql.raw(each.sql))]
  const columns = fields.flatMap(([name, attribute]) => {
    if (attribute.is === 'constant') return []
    const value = sql`${sql.raw(attribute.sql)} as ${sql.ref(name)}`
    if (attribute.is !== 'reference' || typeof attribute.to === 'string') return [value]
    const { resource, there } = attribute.to
    return [
      value,
      sql`${sql.raw(resource)} as ${sql.ref(`${name}:thing`)}`,
      sql`${sql.raw(there)} as ${sql.ref(`${name}:there`)}`,
    ]
  })
  const key = sql.join(
    type.key.map((each) => sql`${sql.raw(each.sql)}::text`),
    sql` || '-' || `,
  )
  const sortedAs = sorted.map((each, at) => sql`${each} as ${sql.ref(`sorted:${at}`)}`)
  return {
    where,
    sorted,
    descending: sort?.descending ?? false,
    from: sql`${sql.table(type.table)} r`,
    shown: sql.join([sql`${key} as "key"`, ...columns, ...sortedAs]),
    // A tally is of all records.
    total: sharedWith ? undefined : totalOf(type, test, everywhere, own),
  }
}

/** Sums up the tally if it has all columns that the filter uses. */
function totalOf(
  { tally }: RecordType,
  test: CheckedFilter,
  everywhere: boolean,
  where: Sql,
): Sql | undefined {
  const by = talliedBy(test)
  if (!tally || by === undefined) return undefined
  const folded = everywhere && by === 'cloud' ? tally.cloud : tally.folded
  return sql`(select coalesce(sum(n), 0)::bigint from (select n from ${sql.table(folded)} r where ${where}
    union all select n from ${sql.table(tally.fresh)} r where ${where}) tally)`
}

/** Names are sorted case-insensitively, by the column that has the index. */
function sortColumn(sort: Query['sort']): Sql[] {
  if (!sort) return []
  const { attribute } = sort
  const folded = attribute.is === 'text' ? attribute.folded : undefined
  return [sql.raw(folded ?? attribute.sql)]
}

const isWalked = ({ sort }: Query): boolean => !sort || sort.attribute.walked === true

/** Nulls sort last, and first in descending order. */
const order = (columns: readonly Sql[], descending: boolean): Sql =>
  sql.join(columns.map((each) => (descending ? sql`${each} desc` : each)))

/** Keyset page: page 1 and every page after a cursor, found by an index scan. One statement, so one snapshot. */
async function readNear(query: Query, parts: Parts, asking: SnapshotReader): Promise<RecordPage> {
  const { after, page, pageSize, sort, type } = query
  const { from, where, shown, sorted, total, descending } = parts
  const beyond = after
    ? sql` and (${sql.join(sorted)}) ${descending ? sql`<` : sql`>`} (${cursorValues(sort, type, after)})`
    : sql``
  // A first page that is not full is the total.
  const knownTotal = sql`case when (select count(*) from page) < ${sql.lit(pageSize)}
    then (select count(*) from page) else ${countQuery(parts)} end`
  const sum = total ?? (page === 1 && !after ? knownTotal : countQuery(parts))
  const rows = await asking.ask(sql<PageRow>`
    with page as materialized (select ${shown} from ${from} where ${where}${beyond}
      order by ${order(sorted, descending)} limit ${sql.lit(pageSize)})
    select * from (select ${sum} as total) t left join page on true
    order by ${order(sortColumns(sorted), descending)}`)
  return foundIn(rows, query, sorted.length)
}

/** Offset page: skips inside an index, and fetches only the records that it returns. */
async function readCounted(
  query: Query,
  parts: Parts,
  asking: SnapshotReader,
): Promise<RecordPage> {
  const { page, pageSize } = query
  const { descending, sorted } = parts
  const picked = selectByKeys(query, parts, descending, pageSize, (page - 1) * pageSize)
  const rows = await asking.ask(sql<PageRow>`
    with page as materialized (${picked})
    select * from (select ${countQuery(parts)} as total) t left join page on true
    order by ${order(sortColumns(sorted), descending)}`)
  return foundIn(rows, query, sorted.length)
}

/** The same if a tally has the total: then it skips from the nearer end. */
async function readFar(
  query: Query,
  parts: Parts & { readonly total: Sql },
  asking: SnapshotReader,
): Promise<RecordPage> {
  const { page, pageSize } = query
  const { descending, sorted } = parts
  const offset = (page - 1) * pageSize
  const [[first], rows] = await asking.askOn(
    sql<{ total: string }>`select ${parts.total} as total`,
    ([knownTotal]) => {
      const known = Number(knownTotal?.total ?? 0)
      if (offset >= known) return undefined
      const fromEnd = offset > known / 2
      const limit = Math.min(pageSize, known - offset)
      const skip = fromEnd ? known - offset - limit : offset
      const picked = selectByKeys(query, parts, descending !== fromEnd, limit, skip)
      return sql<PageRow>`select ${sql.lit(known)} as total, page.* from (${picked}) page
        order by ${order(sortColumns(sorted), descending)}`
    },
  )
  return { ...foundIn(rows, query, sorted.length), total: Number(first?.total ?? 0) }
}

/** Selects keys first, then the columns: skipped rows are not read. */
function selectByKeys(
  { type }: Query,
  parts: Parts,
  descending: boolean,
  limit: number,
  skip: number,
): Sql {
  const { from, where, shown, sorted } = parts
  const keys = sql.join(type.key.map((each) => sql.raw(each.sql)))
  const names = sql.join(type.key.map((each) => sql.raw(each.sql.replace('r.', ''))))
  return sql`with picked as materialized (select ${keys} from ${from} where ${where}
      order by ${order(sorted, descending)} limit ${sql.lit(limit)} offset ${sql.lit(skip)})
    select ${shown} from picked join ${from} using (${names})`
}

const countQuery = ({ from, where }: Parts): Sql =>
  sql`(select count(*) from ${from} where ${where})`

type PageRow = RecordRow & { readonly total: string | number }

const sortColumns = (sorted: readonly Sql[]): Sql[] =>
  sorted.map((_, at) => sql`${sql.ref(`sorted:${at}`)}`)

const kinds = {
  text: 'text',
  word: 'text',
  number: 'integer',
  boolean: 'boolean',
  time: 'timestamptz',
  reference: 'uuid',
} as const

const cursorValues = (sort: Query['sort'], { key }: RecordType, after: PageCursor): Sql =>
  sort
    ? sql`${after[0]}::${sql.raw(kinds[sort.attribute.is])}, ${castValues(after.slice(1), key)}`
    : castValues(after, key)

function foundIn(lines: readonly PageRow[], query: Query, columns: number): RecordPage {
  const rows = lines.filter(({ key }) => key !== null)
  const last = rows.length === query.pageSize && isWalked(query) ? rows.at(-1) : undefined
  const end = last
    ? Array.from({ length: columns }, (_, at) => String(last[`sorted:${at}`]))
    : undefined
  return { rows, end, total: Number(lines[0]?.total ?? 0) }
}

/** The hint depends on the query. */
function tooLong({ page, sort, test }: Query, cause: unknown): Fault {
  const narrower = [
    ...(test === true ? ['filter by status, vdc or container'] : []),
    ...(test !== true ? ['compare a whole name or its beginning, with ; instead of ,'] : []),
    ...(sort && !sort.attribute.walked ? ['sort by name, by containerName or not at all'] : []),
    ...(page > 1 ? ['follow nextPage instead of requesting a page by its number'] : []),
  ]
  return new Fault('invalid', `the query timed out after ${QUERY_MS / 1000} s`, {
    hint: `narrow it: ${narrower.join('; ')}`,
    cause,
  })
}
