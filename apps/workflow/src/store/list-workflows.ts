import { sql, type Kysely, type RawBuilder, type Selectable } from 'kysely'

import {
  listed,
  type ListCondition,
  type ListQuery,
  type SortOrder,
} from '../query/workflow-list.ts'
import type { CategoryRow } from './categories.ts'
import type { WorkflowTables } from './database.ts'

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
export type ListedWorkflow = Pick<Selectable<WorkflowTables['workflow']>, (typeof columns)[number]>

/** The number of rows read at once, so that a list of any length needs the same memory. */
export const PART = 500

export interface WorkflowPage {
  readonly after?: ListedWorkflow
  readonly limit: number
  readonly offset?: number
  /** Only workflows of one folder. */
  readonly inside?: Pick<CategoryRow, 'org' | 'id'>
}

/** The matching workflows after this one, up to `limit`. `offset` skips rows first. */
export async function listWorkflows(
  db: Kysely<WorkflowTables>,
  query: ListQuery,
  { after, limit, offset = 0, inside }: WorkflowPage,
): Promise<ListedWorkflow[]> {
  let found = matchingWorkflows(db, query).select(columns).limit(limit)
  if (offset > 0) found = found.offset(offset)
  if (inside) found = found.where('org', '=', inside.org).where('category', '=', inside.id)
  for (const { attribute, down } of query.order) {
    found = found.orderBy(listed[attribute], down ? 'desc' : 'asc')
  }
  // The same id may exist in several organisations, for callers who see all of them.
  found = found.orderBy('org')
  if (after) found = found.where(afterRow(query.order, after))
  return found.execute()
}

export async function countWorkflows(
  db: Kysely<WorkflowTables>,
  query: ListQuery,
): Promise<number> {
  const { count } = await matchingWorkflows(db, query)
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

function matchingWorkflows(db: Kysely<WorkflowTables>, { conditions, tags }: ListQuery) {
  let found = db.selectFrom('workflow').where('deleted_at', 'is', null)
  for (const condition of conditions) found = found.where(conditionSql(condition))
  if (tags.length > 0) found = found.where(sql<boolean>`tags @> ${tags}::text[]`)
  return found
}

/** Compares as text, also ids: a value that is not a UUID matches no workflow. */
function conditionSql({ attribute, is, value }: ListCondition): RawBuilder<boolean> {
  const column = sql`${sql.ref(listed[attribute])}::text`
  return is === 'equal'
    ? sql<boolean>`${column} = ${value}`
    : sql<boolean>`position(${value} in ${column}) > 0`
}

/** The condition for rows strictly after this row in the sort order. */
function afterRow(order: readonly SortOrder[], row: ListedWorkflow): RawBuilder<boolean> {
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
  // Redundant, but lets an index on the first column start where the last part ended.
  const from = sql`${sql.ref(first.column)} ${sql.raw(first.down ? '<=' : '>=')} ${row[first.column]}`
  return sql<boolean>`(${from} and (${sql.join(ways, sql` or `)}))`
}
