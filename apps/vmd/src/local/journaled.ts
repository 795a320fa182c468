import type { LocalRoute } from './route.ts'
import { OperationBody, operationBody } from './words-of-operations.ts'

/**
 * Writes a route's change to the journal before the answer: a client that got the answer finds the
 * event, even if vmd dies right after it, or the client reverts the change at once.
 */
export function journaled(row: LocalRoute): LocalRoute {
  const { changes = [] } = row
  if (changes.length === 0) return row
  return {
    ...row,
    async handle(local, ask) {
      const answer = await row.handle(local, ask)
      // The change is done even if the journal fails; the journal logs its own failures.
      if (changes.includes('vms')) await local.changeRecorder.record().catch(() => undefined)
      for (const part of changes.filter((each) => each !== 'vms')) {
        const { id } = ask.params as { readonly id: string }
        await local.journal
          .append({ type: `vm.${part}`, vm: id, by: row.name })
          .catch(() => undefined)
      }
      return answer
    },
  }
}

/** A route that answers 202 and continues in the background, for callers that send `Prefer: respond-async`. */
export function asyncCapable(row: LocalRoute): LocalRoute {
  const { name, operation: describe } = row
  if (describe === undefined) return row
  return {
    ...row,
    answers: { ...row.answers, 202: OperationBody },
    doc: `${row.doc} With Prefer: respond-async it answers 202 at once, with an operation to follow.`,
    async handle(local, ask) {
      if (ask.respondAsync !== true) return row.handle(local, ask)
      const requested = { name, ...describe(ask.params, ask.body) }
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
