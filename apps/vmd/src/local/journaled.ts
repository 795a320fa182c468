import { powerRules, type PowerCommand } from '@skerry/vm'

import { changedParts, type ChangedPart } from '../journal/journal-state.ts'
import type { NewOperation } from '../journal/operations.ts'
import type { LocalRoute } from './route.ts'
import { OperationBody, operationBody } from './words-of-operations.ts'

/** The routes that create or delete a VM, or change its power state or name. */
const moving: ReadonlySet<string> = new Set([
  'createVm',
  'deleteVm',
  'configureVm',
  'changePower',
  'resetVm',
  'revertSnapshot',
])

/**
 * Writes a route's change to the journal before the answer: a client that got the answer finds the
 * event, even if vmd dies right after it, or the client reverts the change at once.
 */
export function journaled(row: LocalRoute): LocalRoute {
  const part = changedBy(row)
  const moves = moving.has(row.name)
  if (part === undefined && !moves) return row
  return {
    ...row,
    async handle(local, ask) {
      const answer = await row.handle(local, ask)
      // The change is done even if the journal fails; the journal logs its own failures.
      if (moves) await local.changeRecorder.record().catch(() => undefined)
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

/** `/api/vms/:id/folders/:guestPath` changes folders; a PATCH of the VM itself changes its settings. */
function changedBy({ method, path }: LocalRoute): ChangedPart | undefined {
  if (method === 'GET') return undefined
  if (method === 'PATCH' && path === '/api/vms/:id') return 'settings'
  const noun = /^\/api\/vms\/:id\/([a-z]+)/.exec(path)?.[1]
  return changedParts.find((part) => part === noun)
}

/** The routes that may take long, and what an operation must remember of each. */
const lasting: Readonly<Record<string, (params: unknown, body: unknown) => NewOperation>> = {
  createVm: (_params, body) => ({ name: 'createVm', vm: (body as { id: string }).id }),
  changePower: (params, body) => ({
    name: 'changePower',
    vm: (params as { id: string }).id,
    goal: powerRules[body as PowerCommand].to,
  }),
  importTemplate: () => ({ name: 'importTemplate' }),
}

/** A route that answers 202 and continues in the background, for callers that send `Prefer: respond-async`. */
export function asyncCapable(row: LocalRoute): LocalRoute {
  const describe = lasting[row.name]
  if (describe === undefined) return row
  return {
    ...row,
    answers: { ...row.answers, 202: OperationBody },
    doc: `${row.doc} With Prefer: respond-async it answers 202 at once, with an operation to follow.`,
    async handle(local, ask) {
      if (ask.respondAsync !== true) return row.handle(local, ask)
      const requested = describe(ask.params, ask.body)
      const operation = await local.operations.start(requested, (progress) =>
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
