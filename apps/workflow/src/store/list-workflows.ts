import { sql, type Kysely, type RawBuilder, type Selectable } from 'kysely'

import { listed, type Condition, type ListQuery, type Order } from '../query/workflow-list.ts'
import type { CategoryRow } from './categories.ts'
import type { Database } from './database.ts'

const columns = [
  ...([
    'org',
    'id',
    'name',
    'description',
    'version',
    'category',
    'category_name',
    'tags',
  ] as const),
] as const
export type ListedWorkflow = Pick<Selectable<Database['workflow']>, (typeof columns)[number]>

/** A whole list is read in parts of so many, so that it costs the same memory however long it is. */
export const PART = 500

export interface Page {
  readonly after?: ListedWorkflow
  readonly limit: number
  readonly offset?: number
  /** Only those of one folder. */
  readonly inside?: Pick<CategoryRow, 'org' | 'id'>
}

/** The workflows that fit, after this one; as many as `limit`. `offset` skips some first. */
export async function listWorkflows(
  db: Kysely<Database>,
  query: ListQuery,
  { after, limit, offset = 0, inside }: Page,
): Promise<ListedWorkflow[]> {
  let found = fitting(db, query).select(columns).limit(limit)
  if (offset > 0) found = found.offset(offset)
  if (inside) found = found.where('org', '=', inside.org).where('category', '=', inside.id)
  for (const { attribute, down } of query.order) {
    found = found.orderBy(listed[attribute], down ? 'desc' : 'asc')
  }
  // The same id may be in several organisations, for whoever sees them all.
  found = found.orderBy('org')
  if (after) found = found.where(beyond(query.order, after))
  return found.execute()
}

export async function countWorkflows(db: Kysely<Database>, query: ListQuery): Promise<number> {
  const { count } = await fitting(db, query)
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

function fitting(db: Kysely<Database>, { conditions, tags }: ListQuery) {
  let found = db.selectFrom('workflow').where('deleted_at', 'is', null)
  for (const condition of conditions) found = found.where(holds(condition))
  if (tags.length > 0) found = found.where(sql<boolean>`tags @> ${tags}::text[]`)
  return found
}

/** As text, also an id: what is no uuid is simply no workflow's. */
function holds({ attribute, is, value }: Condition): RawBuilder<boolean> {
  const column = sql`${sql.ref(listed[attribute])}::text`
  return is === 'equal'
    ? sql<boolean>`${column} = ${value}`
    : sql<boolean>`position(${value} in ${column}) > 0`
}

/** Strictly behind this row: behind it in the first column in which they differ. */
function beyond(order: readonly Order[], row: ListedWorkflow): RawBuilder<boolean> {
  const keys = [
    ...order.map(({ attribute, down }) => ({ column: listed[attribute], down })),
    { column: 'org', down: false } as const,
  ]
  const ways = keys.map(({ column, down }, at) => {
    const same = keys.slice(0, at).map((each) => sql`${sql.ref(each.column)} = ${row[each.column]}`)
    const further = sql`${sql.ref(column)} ${sql.raw(down ? '<' : '>')} ${row[column]}`
    return sql`(${sql.join([...same, further], sql` and `)})`
  })
  const [first] = keys
  if (!first) return sql<boolean>`true`
  // Said beside, so that an index on the first column is entered where the last part ended.
  const from = sql`${sql.ref(first.column)} ${sql.raw(first.down ? '<=' : '>=')} ${row[first.column]}`
  return sql<boolean>`(${from} and (${sql.join(ways, sql` or `)}))`
}
