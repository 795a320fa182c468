import { Type } from '@skerry/schema'
import type { Json } from '@skerry/serverless-workflow'

import { at, WorkflowHrefs } from '../documents/addresses.ts'
import { interactionDocument, interactionsDocument } from '../documents/interaction.ts'
import { route } from '../http/route.ts'
import { checkRunInput } from '../runs/start-execution.ts'
import {
  closeInteraction,
  listInteractions,
  openInteraction,
  requireApprover,
} from '../store/interactions.ts'
import { executionContext } from './executions.ts'

const MOST = 1000

export const interactions = [
  route({
    name: 'listInteractions',
    method: 'GET',
    path: at.catalogInteractions,
    permission: 'workflow:read',
    query: Type.Object({ status: Type.Optional(Type.String({ pattern: '^[0-9]$' })) }),
    answers: { 200: 'user-interactions' },
    doc: 'Lists user interactions of runs, oldest first; status=0: only open ones.',
    async handle(context, { query, principal }) {
      const open = query.status === '0'
      const rows = await context.as(principal, (tx) => listInteractions(tx, { open }, MOST))
      return { status: 200, body: interactionsDocument(rows, new WorkflowHrefs(context.base)) }
    },
  }),
  route({
    name: 'listInteractionsOfWorkflow',
    method: 'GET',
    path: at.interactions,
    permission: 'workflow:read',
    answers: { 200: 'user-interactions' },
    doc: 'Lists the open user interactions of this workflow.',
    async handle(context, { params: { workflow }, principal }) {
      const requested = { workflow: workflow.id, open: true }
      const rows = await context.as(principal, (tx) => listInteractions(tx, requested, MOST))
      const own = rows.filter(({ org }) => org === workflow.org)
      return { status: 200, body: interactionsDocument(own, new WorkflowHrefs(context.base)) }
    },
  }),
  route({
    name: 'readInteraction',
    method: 'GET',
    path: at.interaction,
    permission: 'workflow:read',
    answers: { 200: 'user-interaction' },
    doc: 'Returns the open user interaction of a run, with the form of its answer; 409 if there is none.',
    async handle(context, { params: { execution }, principal }) {
      const row = await context.as(principal, (tx) => openInteraction(tx, execution))
      return { status: 200, body: interactionDocument(row, new WorkflowHrefs(context.base)) }
    },
  }),
  route({
    name: 'answerInteraction',
    method: 'POST',
    path: at.interaction,
    permission: 'workflow:run',
    query: Type.Object({ id: Type.Optional(Type.String({ maxLength: 255 })) }),
    takes: executionContext,
    answers: { 204: 'nothing' },
    doc: 'Answers the open user interaction of a run: the oldest, or id=ID. It accepts one answer; a second one gets 409. With approver: other in the definition, the user who started the run or owns its schedule gets 403.',
    async handle(context, { params: { execution }, query, body, principal }) {
      await context.as(principal, async (tx) => {
        const requested = await openInteraction(tx, execution, query.id)
        requireApprover(principal, requested, execution)
        const answer = await checkRunInput(context, requested.form, body)
        await closeInteraction(tx, principal, requested)
        // Inside the transaction: an answer that did not reach the run is rolled back.
        await context.runs.answer(execution.id, requested.id, principal.user, answer as Json)
      })
      return { status: 204 }
    },
  }),
]
