// The query service of the simulated cell: filters, exact totals, pages by number.
import {
  addressOf,
  ALL_VMS,
  factsOf,
  hostOf,
  orgName,
  ORG_VMS,
  statuses,
  STATUSES,
  type VmFacts,
} from './inventory.ts'

interface Condition {
  readonly column: string
  readonly operator: '==' | '!=' | '=gt=' | '=lt=' | '=ge=' | '=le='
  readonly value: string
}

/** `status==A;name==web*` and `(status==A,status==B);…`: conditions of which one holds, and of those lists all. */
export function parseFilter(text: string): Condition[][] {
  if (text === '') return []
  return text.split(';').map((clause) =>
    clause
      .replace(/^\(|\)$/g, '')
      .split(',')
      .map((each) => {
        const found = /^(\w+)(==|!=|=gt=|=lt=|=ge=|=le=)(.*)$/.exec(each)
        if (!found) throw new InvalidQuery(`the filter must be COLUMN==VALUE, not ${each}`)
        const [, column = '', operator, value = ''] = found
        return {
          column,
          operator: operator as Condition['operator'],
          value: value.replaceAll(/\\(.)/g, '$1'),
        }
      }),
  )
}

/** A filter or sort column that the service rejects with 400. */
export class InvalidQuery extends Error {}

const asRegExp = (value: string): RegExp =>
  new RegExp(
    `^${value
      .split('*')
      .map((part) => RegExp.escape(part))
      .join('.*')}$`,
    'i',
  )

function judge({
  column,
  operator,
  value,
}: Condition): (n: number, facts: () => VmFacts) => boolean {
  const not = operator === '!='
  if (column === 'status') {
    const wanted = STATUSES.findIndex((each) => each === value)
    return (n) => (statuses[n] === wanted) !== not
  }
  if (column === 'memoryMB' || column === 'numberOfCpus' || column === 'diskMB') {
    const key = column === 'memoryMB' ? 'memory' : column === 'diskMB' ? 'disk' : 'cpus'
    const bound = Number(value)
    const compare = {
      '==': (x: number) => x === bound,
      '!=': (x: number) => x !== bound,
      '=gt=': (x: number) => x > bound,
      '=lt=': (x: number) => x < bound,
      '=ge=': (x: number) => x >= bound,
      '=le=': (x: number) => x <= bound,
    }[operator]
    return (_, facts) => compare(facts()[key])
  }
  const pattern = asRegExp(value)
  const read: Readonly<Record<string, (facts: VmFacts) => string>> = {
    name: ({ name }) => name,
    containerName: ({ vapp }) => vapp,
    vdcName: ({ vdc }) => vdc,
    orgName: ({ org }) => orgName(org),
    hostName: ({ host }) => hostOf(host).name,
    ipAddress: addressOf,
  }
  const text = read[column]
  if (!text) throw new InvalidQuery(`there is no column ${column}`)
  return (_, facts) => pattern.test(text(facts())) !== not
}

/** The status of a VM that was deleted. */
export const DELETED = 255

const cache = new Map<string, Uint32Array>()
let cachedAt = 0

/** The numbers of the VMs that match, in order. */
export function findVms(
  filter: string,
  sort: string,
  descending: boolean,
  everywhere: boolean,
  version: number,
): Uint32Array {
  if (version !== cachedAt) {
    cache.clear()
    cachedAt = version
  }
  const key = JSON.stringify([filter, sort, descending, everywhere])
  const known = cache.get(key)
  if (known) return known
  const clauses = parseFilter(filter).map((clause) => clause.map(judge))
  const most = everywhere ? ALL_VMS : ORG_VMS
  const found = new Uint32Array(most)
  let count = 0
  for (let n = 0; n < most; n++) {
    if (statuses[n] === DELETED) continue
    let made: VmFacts | undefined
    const facts = () => (made ??= factsOf(n))
    if (clauses.every((clause) => clause.some((holds) => holds(n, facts)))) found[count++] = n
  }
  let rows = found.slice(0, count)
  const number: Readonly<Record<string, (n: number) => number>> = {
    memoryMB: (n) => factsOf(n).memory,
    numberOfCpus: (n) => factsOf(n).cpus,
    diskMB: (n) => factsOf(n).disk,
    status: (n) => statuses[n] ?? 0,
    dateCreated: (n) => factsOf(n).created,
  }
  const by = number[sort]
  if (by && count < 200_000) {
    const keys = new Map<number, number>()
    for (const n of rows) keys.set(n, by(n))
    rows = rows.toSorted((a, b) => (keys.get(a) ?? 0) - (keys.get(b) ?? 0) || a - b)
  }
  if (descending) rows = rows.toReversed()
  cache.set(key, rows)
  return rows
}

/** Matches the text columns of records that are made already. */
export function matches(record: object, filter: string): boolean {
  return parseFilter(filter).every((clause) =>
    clause.some(({ column, operator, value }) => {
      const text = String(Reflect.get(record, column) ?? '')
      // An id stands for the address that ends with it.
      const found = asRegExp(value).test(text) || (column === 'parent' && text.endsWith(value))
      return found !== (operator === '!=')
    }),
  )
}

/** Sorts records that are made already by a column. */
export function sorted<T extends object>(
  records: readonly T[],
  column: string,
  descending: boolean,
): T[] {
  const valueOf = (record: T) => (record as Readonly<Record<string, string | number>>)[column]
  const ordered = records.toSorted((a, b) => {
    const [left, right] = [valueOf(a), valueOf(b)]
    if (typeof left === 'number' && typeof right === 'number') return left - right
    return String(left ?? '').localeCompare(String(right ?? ''))
  })
  return descending ? ordered.toReversed() : ordered
}
