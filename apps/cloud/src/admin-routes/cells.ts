import { at } from '../dialect/addresses.ts'
import { cells } from '../documents/admin/cells.ts'
import { listCells } from '../hosts/cells.ts'
import { Hrefs } from '../http/links.ts'
import { route } from '../http/route.ts'

export const adminCells = [
  route({
    name: 'listCells',
    method: 'GET',
    path: at.adminCells,
    permission: 'cloud:read',
    answers: { 200: 'admin.cells' },
    doc: 'Lists the cells: whether each is alive and fit, how many hosts it follows, and its health conditions, as of its last heartbeat. A cell that stopped properly is not listed.',
    async handle(context, caller) {
      const rows = await context.as(caller.principal, listCells)
      return { status: 200, body: cells(rows, caller, new Hrefs(context.base)) }
    },
  }),
]
