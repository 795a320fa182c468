// Random queries from a seed, each compared with what plain JavaScript finds in the same rows.
import assert from 'node:assert/strict'

import { attribute, localName, readXml, type Element } from '@skerry/xml'
import { sql, type Kysely } from 'kysely'

import type { CloudTables } from '../src/database/tables.ts'
import { chance, fuzzFilter, pick, spoil, type Known } from './fuzz-filter.ts'
import type { Answered, Ask } from './tenants-api.ts'

/** A caller, and the rows that are visible to it. */
export interface Scope {
  readonly token: string
  readonly type: 'vm' | 'adminVM'
  readonly rows: readonly Known[]
}

export interface FuzzCounts {
  requested: number
  /** Queries that were compared with the expected result, row by row. */
  compared: number
  refused: number
  tooLong: number
  slowestMs: number
}

export async function readKnown(db: Kysely<CloudTables>): Promise<Known[]> {
  const { rows } =
    await sql<Known>`select org, id, name, container_name as "containerName", vapp as container, vdc,
    displayed_status as status, cpus as "numberOfCpus", memory_mib as "memoryMB", displayed_status = 'POWERED_ON' as "isDeployed"
    from vm where deleted_at is null`.execute(db)
  return rows
}

const SORTS = ['', '', 'name', 'name', 'containerName', 'memoryMB', 'status'] as const
/** Page, size and order. Default: in order of creation. */
interface Shape {
  readonly sort: (typeof SORTS)[number]
  readonly descending: boolean
  readonly page: number
  readonly pageSize: number
}

function compareBy({ sort, descending }: Shape): (a: Known, b: Known) => number {
  const key = (row: Known) =>
    sort === ''
      ? ''
      : sort === 'name' || sort === 'containerName'
        ? row[sort].toLowerCase()
        : row[sort]
  const less = (a: string | number, b: string | number) => (a < b ? -1 : a > b ? 1 : 0)
  const way = descending && sort !== '' ? -1 : 1
  return (a, b) => way * (less(key(a), key(b)) || less(a.id, b.id))
}

/** Runs this many queries, and fails at the first wrong result. */
export async function fuzz(
  ask: Ask,
  scopes: readonly Scope[],
  all: readonly Known[],
  { seed, count, base }: { readonly seed: number; readonly count: number; readonly base: string },
): Promise<FuzzCounts> {
  const draw = chance(seed)
  const counts: FuzzCounts = { requested: 0, compared: 0, refused: 0, tooLong: 0, slowestMs: 0 }
  for (; counts.requested < count; counts.requested += 1) {
    const scope = pick(draw, scopes)
    const { text, fits } = fuzzFilter(draw, draw() < 0.8 ? scope.rows : all, base)
    const version = pick(draw, ['1.5', '5.1', '5.1'])
    const wrong = draw() < 0.15
    const shape: Shape = {
      sort: pick(draw, SORTS),
      descending: draw() < 0.4,
      page: draw() < 0.7 ? 1 : 1 + Math.floor(draw() * 5),
      pageSize: pick(draw, [1, 5, 25, 25, 128]),
    }
    const parameters = new URLSearchParams({
      type: scope.type,
      format: 'idrecords',
      filter: wrong ? spoil(draw, text) : text,
      fields: 'name',
      page: String(shape.page),
      pageSize: String(shape.pageSize),
      ...(shape.sort !== '' && { [shape.descending ? 'sortDesc' : 'sortAsc']: shape.sort }),
    })
    const path = `/api/query?${parameters.toString()}`
    const where = `seed ${seed}, filter ${counts.requested}: ${scope.type} ${version} ${path}`
    const headers = { accept: `application/*+xml;version=${version}` }
    const { answer, ms } = await fastest(() => ask('GET', path, { token: scope.token, headers }))
    counts.slowestMs = Math.max(counts.slowestMs, ms)
    if (isTooLong(answer)) counts.tooLong += 1
    else if (wrong && answer.status === 400) counts.refused += 1
    else {
      assert.equal(answer.status, 200, `${where}\n${answer.text}`)
      const root = readXml(answer.text)
      requireOwn(root, scope, where)
      if (wrong) continue
      requireSame(root, scope, shape, (row) => fits(row, version !== '1.5'), where)
      counts.compared += 1
    }
  }
  return counts
}

const isTooLong = ({ status, text }: Answered): boolean =>
  status === 400 && text.includes('timed out after')

/**
 * The fastest of three identical requests; one that takes less than a second is not repeated. A query that is slow by itself is slow
 * each time, one that shared the processor is not.
 */
async function fastest(
  request: () => Promise<Answered>,
): Promise<{ answer: Answered; ms: number }> {
  const tries: { answer: Answered; ms: number }[] = []
  do {
    const began = performance.now()
    const answer = await request()
    tries.push({ answer, ms: performance.now() - began })
  } while (tries.length < 3 && tries.every(({ answer, ms }) => isTooLong(answer) || ms > 1000))
  return tries.reduce((best, each) =>
    isTooLong(best.answer) || (each.ms < best.ms && !isTooLong(each.answer)) ? each : best,
  )
}

const idsOf = (root: Element): string[] =>
  root.children.flatMap((each) =>
    typeof each === 'string' || localName(each.name) === 'Link'
      ? []
      : [attribute(each, 'id')?.split(':').at(-1) ?? ''],
  )

const owners = new WeakMap<readonly Known[], ReadonlySet<string>>()
function requireOwn(root: Element, { rows }: Scope, where: string): void {
  const own = owners.get(rows) ?? new Set(rows.map(({ id }) => id))
  owners.set(rows, own)
  const foreign = idsOf(root).filter((id) => !own.has(id))
  assert.deepEqual(foreign, [], where)
}

function requireSame(
  root: Element,
  { rows }: Scope,
  shape: Shape,
  fits: (row: Known) => boolean,
  where: string,
): void {
  const found = rows.filter(fits).toSorted(compareBy(shape))
  assert.equal(Number(attribute(root, 'total')), found.length, where)
  const from = (shape.page - 1) * shape.pageSize
  const page = found.slice(from, from + shape.pageSize).map(({ id }) => id)
  assert.deepEqual(idsOf(root), page, where)
}
