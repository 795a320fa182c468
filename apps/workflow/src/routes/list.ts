import { Readable } from 'node:stream'

import { at, Hrefs } from '../addresses.ts'
import { inventoryJson, inventoryXml } from '../documents/inventory.ts'
import type { Asker } from '../http/asker.ts'
import { typeOf } from '../http/send.ts'
import { ListParameters, parseListQuery, type ListQuery } from '../query/workflow-list.ts'
import { route, type WorkflowRoute } from '../route.ts'
import {
  countWorkflows,
  listWorkflows,
  PART,
  type ListedWorkflow,
} from '../store/list-workflows.ts'
import type { RequestWorld } from '../world.ts'

interface FirstPart {
  readonly rows: readonly ListedWorkflow[]
  readonly total: number | undefined
}

/** One way to the database for what most lists are: short. */
const readFirst = (world: RequestWorld, { who }: Pick<Asker, 'who'>, query: ListQuery) =>
  world.as(who, async (tx): Promise<FirstPart> => {
    const limit = Math.min(query.maxResult ?? PART, PART)
    const rows = await listWorkflows(tx, query, { limit, offset: query.startIndex })
    const whole = query.startIndex === 0 && rows.length < limit
    const counted = whole ? rows.length : undefined
    return {
      rows,
      total: query.counts ? (counted ?? (await countWorkflows(tx, query))) : undefined,
    }
  })

/** The rest follows part by part, each read when the one before was taken. */
async function* partsOf(
  world: RequestWorld,
  { who }: Pick<Asker, 'who'>,
  query: ListQuery,
  first: readonly ListedWorkflow[],
): AsyncGenerator<readonly ListedWorkflow[], void> {
  let rows = first
  let left = (query.maxResult ?? Infinity) - rows.length
  yield rows
  while (left > 0 && rows.length >= PART) {
    const after = rows.at(-1)
    if (!after) return
    const limit = Math.min(left, PART)
    rows = await world.as(who, (tx) => listWorkflows(tx, query, { after, limit }))
    left -= rows.length
    yield rows
  }
}

const list = (name: string, path: string, doc: string): WorkflowRoute =>
  route({
    ...{ name, method: 'GET', path, permission: 'workflow:read', query: ListParameters },
    answers: { 200: 'inventory-items' },
    doc,
    async handle(world, asker) {
      const query = parseListQuery(asker.query)
      const { rows, total } = await readFirst(world, asker, query)
      const start = query.maxResult === undefined ? undefined : query.startIndex
      const hrefs = new Hrefs(world.base)
      const listing = { who: asker.who, hrefs, total, start, keys: query.keys }
      const parts = partsOf(world, asker, query, rows)
      const write = asker.format === 'json' ? inventoryJson : inventoryXml
      const body = Readable.from(write(parts, listing), { objectMode: false })
      return { status: 200, headers: { 'content-type': typeOf(asker.format) }, body }
    },
  })

export const lists: readonly WorkflowRoute[] = [
  list(
    'listWorkflows',
    at.workflows,
    'Every workflow that the asker may see, unless maxResult asks for pages. conditions=name=X is equal, name~X contains; several are separated by commas, and all hold; categoryName, version, description and id likewise. tags=A,B has both. startIndex skips, sortOrders=+name,-version sorts, keys=id,name tells only these, queryCount=false does not count. The total is what there was when the answer began.',
  ),
  list('listCatalog', at.catalog, `As GET ${at.workflows}.`),
  list('listInventory', at.inventory, `As GET ${at.workflows}.`),
]
