import { sql, type RawBuilder } from 'kysely'

import { sharesWith, type SharedWith } from '../sharing/shared-access.ts'
import type { CheckedFilter } from './condition.ts'
import type { Operator } from './filter.ts'
import type { RecordKey, RecordType } from './record-types.ts'

type Sql = RawBuilder<unknown>

const signs: Readonly<Record<Operator, Sql>> = {
  '==': sql`=`,
  '!=': sql`is distinct from`,
  '=lt=': sql`<`,
  '=le=': sql`<=`,
  '=gt=': sql`>`,
  '=ge=': sql`>=`,
}
const types = {
  number: sql`integer`,
  boolean: sql`boolean`,
  time: sql`timestamptz`,
  reference: sql`uuid`,
} as const

/** Translates a test into SQL over the row `r`. Columns come from the table of types; all input of a client is a parameter. */
export function condition(test: CheckedFilter, key: readonly RecordKey[]): Sql {
  if (typeof test === 'boolean') return test ? sql`true` : sql`false`
  if ('any' in test) return joinConditions(test.any, key, sql` or `)
  if ('all' in test) return joinConditions(test.all, key, sql` and `)
  if (test.is === 'key') return isKey(test.value, test.equal, key)
  const named = sql.raw(test.attribute.sql)
  if (test.is === 'value') {
    return sql`${named} ${signs[test.sign]} ${test.value}::${types[test.attribute.is]}`
  }
  if (test.is === 'text') return text(test, named)
  const { among, others } = test
  // One word, or all but one, in a form that the index supports.
  if (among.length === 1) return sql`${named} = ${among[0]}`
  if (others.length === 1) return sql`${named} <> ${others[0]}`
  return sql`${named} = any(${among}::text[])`
}

function text(test: Extract<CheckedFilter, { readonly is: 'text' }>, named: Sql): Sql {
  const { attribute, value, equal, cased } = test
  const [first = '', second] = value
  const folded = attribute.folded === undefined ? sql`folded(${named})` : sql.raw(attribute.folded)
  if (value.length === 1) {
    const sign = equal ? sql`=` : attribute.maybe ? sql`is distinct from` : sql`<>`
    if (!cased) return sql`${folded} ${sign} folded(${first}::text)`
    if (!equal || attribute.folded === undefined) return sql`${named} ${sign} ${first}::text`
    // The folded column has the index.
    return sql`(${folded} = folded(${first}::text) and ${named} = ${first}::text)`
  }
  if (value.every((part) => part === '')) return sql`${named} is not null`
  // Under row-level security a prefix can use an index, a pattern cannot.
  if (value.length === 2 && second === '') return sql`${folded} ^@ folded(${first}::text)`
  const pattern = value.map((part) => part.replaceAll(/[\\%_]/g, '\\$&')).join('%')
  return sql`${folded} ~~~ folded(${pattern}::text)`
}

function isKey(value: readonly string[], equal: boolean, key: readonly RecordKey[]): Sql {
  const columns = sql.join(key.map((each) => sql.raw(each.sql)))
  return sql`(${columns}) ${equal ? sql`=` : sql`<>`} (${castValues(value, key)})`
}

/** Values of the key, cast to the types of its columns. */
export const castValues = (
  values: readonly string[],
  key: readonly Pick<RecordKey, 'type'>[],
): Sql => sql.join(key.map(({ type }, at) => sql`${values[at]}::${sql.raw(type)}`))

const joinConditions = (tests: readonly CheckedFilter[], key: readonly RecordKey[], by: Sql): Sql =>
  sql`(${sql.join(
    tests.map((each) => condition(each, key)),
    by,
  )})`

/** SQL over the row `r`: whether it is shared with this user. Of a type that is not shared, no record is. */
export function isShared({ shared }: Pick<RecordType, 'shared'>, user: SharedWith): Sql {
  if (!shared) return sql`false`
  const column = sql.raw(shared.column)
  if (shared.with === 'template') {
    return sql`${column} in (select catalog_item.template from ${sharesWith(user)} given
      join catalog_item on catalog_item.org = given.org and catalog_item.catalog = given.catalog)`
  }
  const of = sql.ref(`given.${shared.with}`)
  return sql`${column} in (select ${of} from ${sharesWith(user)} given where ${of} is not null)`
}
