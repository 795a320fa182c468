import { powerRules, type PowerCommand } from '@skerry/vm'

import { changedParts, type ChangedPart } from '../known.ts'
import type { NewOperation } from '../operations.ts'
import type { LocalRoute } from './route.ts'
import { OperationBody, operationBody } from './words-of-operations.ts'

/** The rows after which a VM is there or not, or has another power or name. */
const moving: ReadonlySet<string> = new Set([
  ...['createVm', 'deleteVm', 'configureVm'],
  ...['changePower', 'resetVm', 'revertSnapshot'],
])

/**
 * What a row has changed is in the journal before it is answered: whoever was told that it is done
 * finds its event, also when vmd dies with the answer, and when he undoes it the moment after.
 */
export function told(row: LocalRoute): LocalRoute {
  const part = changedBy(row)
  const moves = moving.has(row.name)
  if (part === undefined && !moves) return row
  return {
    ...row,
    async handle(local, ask) {
      const answer = await row.handle(local, ask)
      // It is done, whether or not the journal can say so; the journal notes its own failures.
      if (moves) await local.teller.tell().catch(() => undefined)
      if (part !== undefined) {
        const { id } = ask.params as { readonly id: string }
        await local.journal
          .append({ type: `vm.${part}`, vm: id, by: row.name })
          .catch(() => undefined)
      }
      return answer
    },
  }
}

/** `/api/vms/:id/folders/:guestPath` is about folders; a PATCH of the VM itself is about its settings. */
function changedBy({ method, path }: LocalRoute): ChangedPart | undefined {
  if (method === 'GET') return undefined
  if (method === 'PATCH' && path === '/api/vms/:id') return 'settings'
  const noun = /^\/api\/vms\/:id\/([a-z]+)/.exec(path)?.[1]
  return changedParts.find((part) => part === noun)
}

/** The rows that may take long, and what an operation must remember of each. */
const lasting: Readonly<Record<string, (params: unknown, body: unknown) => NewOperation>> = {
  createVm: (_params, body) => ({ name: 'createVm', vm: (body as { id: string }).id }),
  changePower: (params, body) => ({
    name: 'changePower',
    vm: (params as { id: string }).id,
    goal: powerRules[body as PowerCommand].to,
  }),
  importTemplate: () => ({ name: 'importTemplate' }),
}

/** A row whose work goes on after a 202, for whoever sends `Prefer: respond-async`. */
export function followable(row: LocalRoute): LocalRoute {
  const describe = lasting[row.name]
  if (describe === undefined) return row
  return {
    ...row,
    answers: { ...row.answers, 202: OperationBody },
    doc: `${row.doc} With Prefer: respond-async it answers 202 at once, with an operation to follow.`,
    async handle(local, ask) {
      if (ask.respondAsync !== true) return row.handle(local, ask)
      const asked = describe(ask.params, ask.body)
      const operation = await local.operations.start(asked, (progress) =>
        row.handle(local, { ...ask, progress }),
      )
      return {
        status: 202,
        headers: {
          location: `/api/operations/${operation.id}`,
          'preference-applied': 'respond-async',
        },
        body: operationBody(operation),
      }
    },
  }
}
