import { Fault } from '@skerry/fault'
import type { Body } from '@skerry/service'
import { Type } from 'typebox'

import { at, Hrefs } from '../addresses.ts'
import { executionDocument, executionsDocument, stateDocument } from '../documents/execution.ts'
import type { Asker } from '../http/asker.ts'
import { authorizeOwn } from '../identity/rights.ts'
import { route } from '../route.ts'
import { startExecution } from '../start-execution.ts'
import {
  countExecutions,
  deleteExecution,
  hasEnded,
  listExecutions,
  markCanceled,
  type ExecutionRow,
} from '../store/executions.ts'
import { readVersion } from '../store/workflows.ts'
import { readContext, type Context } from '../values/read.ts'
import type { RequestWorld } from '../world.ts'

export const executionContext: Body<Context> = {
  media: 'application/xml or application/json',
  shape: 'execution-context',
  read: readContext,
}

const PAGE_MAX = 1000

const formOf = (world: RequestWorld, { who }: Asker, { org, workflow, digest }: ExecutionRow) =>
  world.as(who, async (tx) => (await readVersion(tx, { org, id: workflow, digest })).form)

/** Told first to our own rows, so that it is told to Temporal again should that be away or we die now. */
export async function cancelExecution(
  world: RequestWorld,
  { who }: Asker,
  execution: ExecutionRow,
): Promise<void> {
  authorizeOwn(who, execution.account)
  if (hasEnded(execution)) {
    throw new Fault('conflict', `this run has ended: it is ${execution.state}`, {
      state: execution.state,
    })
  }
  await world.as(who, (tx) => markCanceled(tx, execution))
  await world.runs.cancel(execution.id)
}

export const executions = [
  route({
    name: 'startExecution',
    method: 'POST',
    path: at.executions,
    permission: 'workflow:run',
    takes: executionContext,
    answers: { 202: 'workflow-execution' },
    doc: 'Runs the workflow as it is now, with these parameters; an empty context runs with defaults. The address of the execution is in Location. With Idempotency-Key the same request is the same execution. 503 while the engine that runs workflows is away.',
    async handle(world, asker) {
      const { workflow } = asker.params
      const { execution, form } = await startExecution(world, asker, workflow, asker.body)
      const hrefs = new Hrefs(world.base)
      return {
        status: 202,
        headers: { location: hrefs.execution(workflow.id, execution.id) },
        body: executionDocument(execution, form, hrefs),
      }
    },
  }),
  route({
    name: 'listExecutions',
    method: 'GET',
    path: at.executions,
    permission: 'workflow:read',
    query: Type.Object({
      maxResult: Type.Optional(Type.String({ pattern: '^[0-9]{1,4}$' })),
      before: Type.Optional(
        Type.String({ pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' }),
      ),
    }),
    answers: { 200: 'workflow-executions' },
    doc: 'The runs of a workflow, newest first; at most 1000, and before=ID goes on after that one.',
    async handle(world, { params: { workflow }, query, who }) {
      const limit = Math.min(Number(query.maxResult ?? PAGE_MAX), PAGE_MAX)
      const [rows, total] = await world.as(who, async (tx) => [
        await listExecutions(tx, workflow, { before: query.before, limit }),
        await countExecutions(tx, workflow),
      ])
      const hrefs = new Hrefs(world.base)
      const href = hrefs.below(workflow.id, 'executions')
      return { status: 200, body: executionsDocument({ rows, total, hrefs }, href) }
    },
  }),
  route({
    name: 'readExecution',
    method: 'GET',
    path: at.execution,
    permission: 'workflow:read',
    answers: { 200: 'workflow-execution' },
    doc: 'How a run stands: state, inputs and outputs, where it is, and why it failed.',
    async handle(world, asker) {
      const { execution } = asker.params
      const form = await formOf(world, asker, execution)
      return { status: 200, body: executionDocument(execution, form, new Hrefs(world.base)) }
    },
  }),
  route({
    name: 'readExecutionState',
    method: 'GET',
    path: at.state,
    permission: 'workflow:read',
    answers: { 200: 'execution-state' },
    doc: 'One word: initializing, running, waiting, waiting-signal, suspended, completed, failed or canceled.',
    async handle(_world, { params: { execution } }) {
      return { status: 200, body: stateDocument(execution) }
    },
  }),
  route({
    name: 'cancelExecution',
    method: 'DELETE',
    path: at.state,
    permission: 'workflow:run',
    answers: { 204: 'nothing' },
    doc: 'Cancels a run of one’s own, or of anybody’s for an administrator. It ends as canceled once what it does in the cloud has ended.',
    async handle(world, asker) {
      await cancelExecution(world, asker, asker.params.execution)
      return { status: 204 }
    },
  }),
  route({
    name: 'deleteExecution',
    method: 'DELETE',
    path: at.execution,
    permission: 'workflow:run',
    answers: { 204: 'nothing' },
    doc: 'Cancels a run that goes on; deletes what is known of one that has ended.',
    async handle(world, asker) {
      const { execution } = asker.params
      authorizeOwn(asker.who, execution.account)
      if (hasEnded(execution)) await world.as(asker.who, (tx) => deleteExecution(tx, execution))
      else await cancelExecution(world, asker, execution)
      return { status: 204 }
    },
  }),
]
