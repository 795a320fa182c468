import { Readable } from 'node:stream'

import type { WorkflowRequestContext } from '../context.ts'
import { at, WorkflowHrefs } from '../documents/addresses.ts'
import { inventoryJson, inventoryXml } from '../documents/inventory.ts'
import type { WorkflowCaller } from '../http/caller.ts'
import { route, type WorkflowRoute } from '../http/route.ts'
import { typeOf } from '../http/send.ts'
import { ListParameters, parseListQuery, type ListQuery } from '../query/workflow-list.ts'
import {
  countWorkflows,
  listWorkflows,
  PART,
  type ListedWorkflow,
} from '../store/list-workflows.ts'

interface FirstPart {
  readonly rows: readonly ListedWorkflow[]
  readonly total: number | undefined
}

/** Reads the first part in one transaction, which is enough for most lists. */
const readFirst = (
  context: WorkflowRequestContext,
  { principal }: Pick<WorkflowCaller, 'principal'>,
  query: ListQuery,
) =>
  context.as(principal, async (tx): Promise<FirstPart> => {
    const limit = Math.min(query.maxResult ?? PART, PART)
    const rows = await listWorkflows(tx, query, { limit, offset: query.startIndex })
    const whole = query.startIndex === 0 && rows.length < limit
    const counted = whole ? rows.length : undefined
    return {
      rows,
      total: query.counts ? (counted ?? (await countWorkflows(tx, query))) : undefined,
    }
  })

/** Reads the remaining parts one by one, each after the previous one was consumed. */
async function* partsOf(
  context: WorkflowRequestContext,
  { principal }: Pick<WorkflowCaller, 'principal'>,
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
    rows = await context.as(principal, (tx) => listWorkflows(tx, query, { after, limit }))
    left -= rows.length
    yield rows
  }
}

const list = (name: string, path: string, doc: string): WorkflowRoute =>
  route({
    name,
    method: 'GET',
    path,
    permission: 'workflow:read',
    query: ListParameters,
    answers: { 200: 'inventory-items' },
    doc,
    async handle(context, caller) {
      const query = parseListQuery(caller.query)
      const { rows, total } = await readFirst(context, caller, query)
      const start = query.maxResult === undefined ? undefined : query.startIndex
      const hrefs = new WorkflowHrefs(context.base)
      const listing = { principal: caller.principal, hrefs, total, start, keys: query.keys }
      const parts = partsOf(context, caller, query, rows)
      const write = caller.format === 'json' ? inventoryJson : inventoryXml
      const body = Readable.from(write(parts, listing), { objectMode: false })
      return { status: 200, headers: { 'content-type': typeOf(caller.format) }, body }
    },
  })

export const lists: readonly WorkflowRoute[] = [
  list(
    'listWorkflows',
    at.workflows,
    'Lists all workflows that the caller can see; maxResult limits the page. conditions=name=X means equal, name~X means contains; separate several with commas, all must match; categoryName, version, description and id work the same way. tags=A,B requires both tags. startIndex skips, sortOrders=+name,-version sorts, keys=id,name returns only these attributes, queryCount=false skips the count. The total is the count at the start of the response.',
  ),
  list('listCatalog', at.catalog, `Same as GET ${at.workflows}.`),
  list('listInventory', at.inventory, `Same as GET ${at.workflows}.`),
]
