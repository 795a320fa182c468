import { at } from '../dialect/addresses.ts'
import { consoles } from '../documents/admin/consoles.ts'
import { Hrefs } from '../http/links.ts'
import { route } from '../http/route.ts'
import { endConsole, listConsoles } from '../inventory/consoles.ts'

export const adminConsoles = [
  route({
    name: 'listConsoles',
    method: 'GET',
    path: at.adminConsoles,
    permission: 'cloud:read',
    answers: { 200: 'admin.consoles' },
    doc: 'Lists the open screens of all organisations, oldest first: the user, the VM, the address of the client, and the console server.',
    async handle(context, caller) {
      const rows = await context.as(caller.principal, listConsoles)
      return { status: 200, body: consoles(rows, caller, new Hrefs(context.base)) }
    },
  }),
  route({
    name: 'closeConsole',
    method: 'DELETE',
    path: at.adminConsole,
    permission: 'cloud:admin',
    answers: { 204: 'nothing' },
    doc: 'Closes an open screen, within 2 s. The user keeps the right to open it again: disable the user, or change the role, to prevent that.',
    async handle(context, { principal, params }) {
      await context.as(principal, (tx) => endConsole(tx, principal, params.console))
      return { status: 204 }
    },
  }),
]
