import { Type } from 'typebox'

import { at, Hrefs } from '../addresses.ts'
import { interactionDocument, interactionsDocument } from '../documents/interaction.ts'
import type { Json } from '../durable/verbs.ts'
import { route } from '../route.ts'
import { checkGiven } from '../start-execution.ts'
import { closeInteraction, listInteractions, openInteraction } from '../store/interactions.ts'
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
    doc: 'What runs ask of people, oldest first; status=0: only what still waits for an answer.',
    async handle(world, { query, who }) {
      const open = query.status === '0'
      const rows = await world.as(who, (tx) => listInteractions(tx, { open }, MOST))
      return { status: 200, body: interactionsDocument(rows, new Hrefs(world.base)) }
    },
  }),
  route({
    name: 'listInteractionsOfWorkflow',
    method: 'GET',
    path: at.interactions,
    permission: 'workflow:read',
    answers: { 200: 'user-interactions' },
    doc: 'What runs of this workflow wait for.',
    async handle(world, { params: { workflow }, who }) {
      const asked = { workflow: workflow.id, open: true }
      const rows = await world.as(who, (tx) => listInteractions(tx, asked, MOST))
      const own = rows.filter(({ org }) => org === workflow.org)
      return { status: 200, body: interactionsDocument(own, new Hrefs(world.base)) }
    },
  }),
  route({
    name: 'readInteraction',
    method: 'GET',
    path: at.interaction,
    permission: 'workflow:read',
    answers: { 200: 'user-interaction' },
    doc: 'What a run waits for, and what an answer must say; 409 when it waits for nobody.',
    async handle(world, { params: { execution }, who }) {
      const row = await world.as(who, (tx) => openInteraction(tx, execution))
      return { status: 200, body: interactionDocument(row, new Hrefs(world.base)) }
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
    doc: 'Answers what a run waits for: the oldest, or id=ID. Once; of two answers the second is told 409.',
    async handle(world, { params: { execution }, query, body, who }) {
      await world.as(who, async (tx) => {
        const asked = await openInteraction(tx, execution, query.id)
        const answer = checkGiven(asked.form, body)
        await closeInteraction(tx, who, asked)
        // Inside of the transaction: an answer that did not reach the run was none.
        await world.runs.answer(execution.id, asked.id, who.user, answer as Json)
      })
      return { status: 204 }
    },
  }),
]
