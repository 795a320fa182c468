import { Fault } from '@skerry/fault'
import { type Static, Type } from '@skerry/schema'

import type { Caller } from '../auth/caller.ts'
import { at } from '../dialect/addresses.ts'
import { route, type CloudRoute } from '../http/route.ts'
import { bulkOperations } from '../operations/vapp-operations.ts'
import { parseQuery, typeNamed } from '../query/query.ts'
import { countRecords, matching } from '../query/records.ts'
import { accepted } from '../responses/accepted-task.ts'
import { BULK_VMS_MAX, submitBulk } from '../tasks/submit-bulk.ts'
import { submit } from '../tasks/submit.ts'

const word = Type.Optional(Type.String())
const BulkParameters = Type.Object({
  type: word,
  filter: word,
  filterEncoded: word,
  expect: word,
})

function readExpected(expect: string | undefined): number {
  if (expect !== undefined && /^\d{1,9}$/.test(expect)) return Number(expect)
  throw new Fault('invalid', `expect must be a number, not ${expect ?? 'nothing'}`, {
    hint: 'send the total that GET /api/query returned for the same filter',
  })
}

/** The query whose VMs are meant. */
function queryIn({ type, filter, filterEncoded }: Static<typeof BulkParameters>, caller: Caller) {
  const vm = typeNamed('vm')
  if (type !== vm.name) throw new Fault('invalid', `type must be vm, not ${type ?? 'nothing'}`)
  const requested = {
    ...(filter !== undefined && { filter }),
    ...(filterEncoded !== undefined && { filterEncoded }),
  }
  return parseQuery(vm, requested, caller)
}

/** POST /api/query/action/powerOn and similar: one route for each operation that can be requested for many VMs. */
export const bulk: readonly CloudRoute[] = [...bulkOperations.values()].map((action) =>
  route({
    name: `${action.name}Matching`,
    method: 'POST',
    path: `${at.queryAction}/${action.name}`,
    permission: action.permission,
    query: BulkParameters,
    answers: { 202: 'task' },
    doc: `${action.name} for every VM of a query. expect is the total that GET ${at.query} returned; if another number of VMs matches, the response is 409 and nothing is changed. Only the number is compared: to act on certain VMs and no others, filter by id==ID,id==ID. At most ${BULK_VMS_MAX} VMs. One task with a child for each VM, in no order: GET ${at.query}?type=task&filter=parent==ID lists the results. A VM for which it is not possible has a failed child with the reason.`,
    async handle(context, caller) {
      const { principal, query } = caller
      const expect = readExpected(query.expect)
      const vms = queryIn(query, caller)
      const task = await submit(context, caller, (tx, id) =>
        submitBulk(tx, action, {
          id,
          expect,
          org: principal.org,
          owner: principal.user,
          matching: matching(vms),
          count: (within, limit) => countRecords(within, vms, { org: principal.org, limit }),
        }),
      )
      return accepted(context, caller, task)
    },
  }),
)
