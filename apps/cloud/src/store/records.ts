import { Fault } from '@skerry/fault'
import { isMisfit, tookTooLong, type Asking } from '@skerry/postgres'
import { sql, type RawBuilder } from 'kysely'

import { talliedBy, type Test } from '../query/condition.ts'
import { wrongCursor, type Cursor } from '../query/cursor.ts'
import type { Query } from '../query/query.ts'
import type { RecordType } from '../query/record-types.ts'
import { casted, condition } from './record-condition.ts'

type Sql = RawBuilder<unknown>

/** How long a page and its total may take. */
export const QUERY_MS = 2000

export interface RecordRow {
  /** Attribute → value; of a reference the id, and where that differs, under 'name:thing' what it is the id of, and 'name:there'. */
  readonly [name: string]: unknown
  readonly key: string
}

export interface Found {
  readonly rows: readonly RecordRow[]
  readonly total: number
  /** Where this page ends, when the next can begin there. */
  readonly end: Cursor | undefined
}

/** `everywhere`: over all organisations. */
export interface Reading {
  readonly asking: Asking
  readonly everywhere: boolean
}

/** One page of records and how many there are, both of the same moment. */
export async function readRecords(query: Query, reading: Reading): Promise<Found> {
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

interface Parts {
  /** What is read, as `r`, and which of it. */
  readonly from: Sql
  readonly where: Sql
  /** What is shown, with the key and the end of the page in columns of their own. */
  readonly shown: Sql
  /** By which columns, and which way. */
  readonly sorted: readonly Sql[]
  readonly descending: boolean
  readonly total: Sql | undefined
}

function partsOf({ type, test, fields, sort }: Query, { everywhere }: Reading): Parts {
  const own = condition(test, type.key)
  const always = [type.where, everywhere ? type.everywhere : undefined]
  const where = sql.join(
    [own, ...always.filter((each) => each !== undefined).map((each) => sql.raw(each))],
    sql` and `,
  )
  const sorted = [...sortColumn(sort), ...type.key.map((each) => sql.raw(each.sql))]
  const columns = fields.flatMap(([name, attribute]) => {
    if (attribute.is === 'constant') return []
    const value = sql`${sql.raw(attribute.sql)} as ${sql.ref(name)}`
    if (attribute.is !== 'reference' || typeof attribute.to === 'string') return [value]
    const { thing, there } = attribute.to
    return [
      value,
      sql`${sql.raw(thing)} as ${sql.ref(`${name}:thing`)}`,
      sql`${sql.raw(there)} as ${sql.ref(`${name}:there`)}`,
    ]
  })
  const key = sql.join(
    type.key.map((each) => sql`${sql.raw(each.sql)}::text`),
    sql` || '-' || `,
  )
  const ends = sorted.map((each, at) => sql`${each} as ${sql.ref(`sorted:${at}`)}`)
  return {
    ...{ where, sorted, descending: sort?.descending ?? false },
    from: sql`${sql.table(type.table)} r`,
    shown: sql.join([sql`${key} as "key"`, ...columns, ...ends]),
    total: totalOf(type, test, everywhere, own),
  }
}

/** Added up where a tally has all that the filter names. */
function totalOf(
  { tally }: RecordType,
  test: Test,
  everywhere: boolean,
  where: Sql,
): Sql | undefined {
  const by = talliedBy(test)
  if (!tally || by === undefined) return undefined
  const folded = everywhere && by === 'cloud' ? tally.cloud : tally.folded
  return sql`(select coalesce(sum(n), 0)::bigint from (select n from ${sql.table(folded)} r where ${where}
    union all select n from ${sql.table(tally.fresh)} r where ${where}) tally)`
}

/** A name sorts without regard to case, by the column that has the index. */
function sortColumn(sort: Query['sort']): Sql[] {
  if (!sort) return []
  const { attribute } = sort
  const folded = attribute.is === 'text' ? attribute.folded : undefined
  return [sql.raw(folded ?? attribute.sql)]
}

const isWalked = ({ sort }: Query): boolean => !sort || sort.attribute.walked === true

/** Nothing sorts last; then the first page of the other order begins with it. */
const order = (columns: readonly Sql[], descending: boolean): Sql =>
  sql.join(columns.map((each) => (descending ? sql`${each} desc` : each)))

/** Page 1, and every page behind a cursor: found by walking an index to where it begins. One statement, so one moment. */
async function readNear(query: Query, parts: Parts, asking: Asking): Promise<Found> {
  const { after, page, pageSize, sort, type } = query
  const { from, where, shown, sorted, total, descending } = parts
  const beyond = after
    ? sql` and (${sql.join(sorted)}) ${descending ? sql`<` : sql`>`} (${cursorValues(sort, type, after)})`
    : sql``
  // A first page that is not full has told how many there are.
  const told = sql`case when (select count(*) from page) < ${sql.lit(pageSize)}
    then (select count(*) from page) else ${counted(parts)} end`
  const sum = total ?? (page === 1 && !after ? told : counted(parts))
  const rows = await asking.ask(sql<Line>`
    with page as materialized (select ${shown} from ${from} where ${where}${beyond}
      order by ${order(sorted, descending)} limit ${sql.lit(pageSize)})
    select * from (select ${sum} as total) t left join page on true
    order by ${order(ends(sorted), descending)}`)
  return foundIn(rows, query, sorted.length)
}

/** A page by its number: skips inside an index, and fetches only the records that it shows. */
async function readCounted(query: Query, parts: Parts, asking: Asking): Promise<Found> {
  const { page, pageSize } = query
  const { descending, sorted } = parts
  const picked = pick(query, parts, descending, pageSize, (page - 1) * pageSize)
  const rows = await asking.ask(sql<Line>`
    with page as materialized (${picked})
    select * from (select ${counted(parts)} as total) t left join page on true
    order by ${order(ends(sorted), descending)}`)
  return foundIn(rows, query, sorted.length)
}

/** The same where the total is known at once: then from the nearer end. */
async function readFar(
  query: Query,
  parts: Parts & { readonly total: Sql },
  asking: Asking,
): Promise<Found> {
  const { page, pageSize } = query
  const { descending, sorted } = parts
  const offset = (page - 1) * pageSize
  const [[first], rows] = await asking.askOn(
    sql<{ total: string }>`select ${parts.total} as total`,
    ([told]) => {
      const known = Number(told?.total ?? 0)
      if (offset >= known) return undefined
      const fromEnd = offset > known / 2
      const limit = Math.min(pageSize, known - offset)
      const skip = fromEnd ? known - offset - limit : offset
      const picked = pick(query, parts, descending !== fromEnd, limit, skip)
      return sql<Line>`select ${sql.lit(known)} as total, page.* from (${picked}) page
        order by ${order(ends(sorted), descending)}`
    },
  )
  return { ...foundIn(rows, query, sorted.length), total: Number(first?.total ?? 0) }
}

/** Keys first, then what is shown of them: what is skipped is not read. */
function pick(
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

const counted = ({ from, where }: Parts): Sql => sql`(select count(*) from ${from} where ${where})`

type Line = RecordRow & { readonly total: string | number }

const ends = (sorted: readonly Sql[]): Sql[] =>
  sorted.map((_, at) => sql`${sql.ref(`sorted:${at}`)}`)

const kinds = {
  ...{ text: 'text', word: 'text', number: 'integer', boolean: 'boolean' },
  ...{ time: 'timestamptz', reference: 'uuid' },
} as const

const cursorValues = (sort: Query['sort'], { key }: RecordType, after: Cursor): Sql =>
  sort
    ? sql`${after[0]}::${sql.raw(kinds[sort.attribute.is])}, ${casted(after.slice(1), key)}`
    : casted(after, key)

function foundIn(lines: readonly Line[], query: Query, columns: number): Found {
  const rows = lines.filter(({ key }) => key !== null)
  const last = rows.length === query.pageSize && isWalked(query) ? rows.at(-1) : undefined
  const end = last
    ? Array.from({ length: columns }, (_, at) => String(last[`sorted:${at}`]))
    : undefined
  return { rows, end, total: Number(lines[0]?.total ?? 0) }
}

/** What would make it quicker depends on what was asked. */
function tooLong({ page, sort, test }: Query, cause: unknown): Fault {
  const narrower = [
    ...(test === true ? ['filter by status, vdc or container'] : []),
    ...(test !== true ? ['compare a whole name or its beginning, with ; instead of ,'] : []),
    ...(sort && !sort.attribute.walked ? ['sort by name, by containerName or not at all'] : []),
    ...(page > 1 ? ['follow nextPage instead of asking for a page by its number'] : []),
  ]
  return new Fault('invalid', `this query takes longer than ${QUERY_MS / 1000} s`, {
    hint: `narrow it: ${narrower.join('; ')}`,
    cause,
  })
}
