import { Fault } from '@skerry/fault'
import { Type } from '@skerry/schema'
import type { Body } from '@skerry/service'
import { UUID } from '@skerry/vm'

import type { WorkflowRequestContext } from '../context.ts'
import { at, WorkflowHrefs } from '../documents/addresses.ts'
import { executionDocument, executionsDocument, stateDocument } from '../documents/execution.ts'
import type { WorkflowCaller } from '../http/caller.ts'
import { route } from '../http/route.ts'
import { authorizeOwn } from '../identity/rights.ts'
import { startExecution } from '../runs/start-execution.ts'
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

export const executionContext: Body<Context> = {
  media: 'application/xml or application/json',
  shape: 'execution-context',
  read: readContext,
}

const PAGE_MAX = 1000

const formOf = (
  context: WorkflowRequestContext,
  { principal }: WorkflowCaller,
  { org, workflow, digest }: ExecutionRow,
) =>
  context.as(principal, async (tx) => (await readVersion(tx, { org, id: workflow, digest })).form)

/** Marks our own row first, so that the cancellation is repeated if Temporal is unavailable or this process dies now. */
export async function cancelExecution(
  context: WorkflowRequestContext,
  { principal }: WorkflowCaller,
  execution: ExecutionRow,
): Promise<void> {
  authorizeOwn(principal, execution.account)
  if (hasEnded(execution)) {
    throw new Fault('conflict', `this run has already ended: ${execution.state}`, {
      state: execution.state,
    })
  }
  await context.as(principal, (tx) => markCanceled(tx, execution))
  await context.runs.cancel(execution.id)
}

export const executions = [
  route({
    name: 'startExecution',
    method: 'POST',
    path: at.executions,
    permission: 'workflow:run',
    takes: executionContext,
    answers: { 202: 'workflow-execution' },
    doc: 'Runs the current version of the workflow with these parameters; an empty context uses the defaults. Location contains the URL of the execution. Requests with the same Idempotency-Key return the same execution. Returns 503 while Temporal is unavailable.',
    async handle(context, caller) {
      const { workflow } = caller.params
      const { execution, form } = await startExecution(context, caller, workflow, caller.body)
      const hrefs = new WorkflowHrefs(context.base)
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
      before: Type.Optional(Type.String({ pattern: `^${UUID}$` })),
    }),
    answers: { 200: 'workflow-executions' },
    doc: 'Lists the runs of a workflow, newest first, at most 1000; before=ID continues after that run.',
    async handle(context, { params: { workflow }, query, principal }) {
      const limit = Math.min(Number(query.maxResult ?? PAGE_MAX), PAGE_MAX)
      const [rows, total] = await context.as(principal, async (tx) => [
        await listExecutions(tx, workflow, { before: query.before, limit }),
        await countExecutions(tx, workflow),
      ])
      const hrefs = new WorkflowHrefs(context.base)
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
    doc: 'Returns a run: state, inputs, outputs, current step, and the error if it failed.',
    async handle(context, caller) {
      const { execution } = caller.params
      const form = await formOf(context, caller, execution)
      return {
        status: 200,
        body: executionDocument(execution, form, new WorkflowHrefs(context.base)),
      }
    },
  }),
  route({
    name: 'readExecutionState',
    method: 'GET',
    path: at.state,
    permission: 'workflow:read',
    answers: { 200: 'execution-state' },
    doc: 'Returns the state of a run: initializing, running, waiting, waiting-signal, suspended, completed, failed or canceled.',
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
    doc: 'Cancels one of your runs; an administrator can cancel any run. The run ends as canceled once its current cloud task has ended.',
    async handle(context, caller) {
      await cancelExecution(context, caller, caller.params.execution)
      return { status: 204 }
    },
  }),
  route({
    name: 'deleteExecution',
    method: 'DELETE',
    path: at.execution,
    permission: 'workflow:run',
    answers: { 204: 'nothing' },
    doc: 'Cancels a run that is in progress; deletes the record of a run that has ended.',
    async handle(context, caller) {
      const { execution } = caller.params
      authorizeOwn(caller.principal, execution.account)
      if (hasEnded(execution)) {
        // Without the record, `tend-runs.ts` would not know of the grant.
        if (!execution.grant_ended) await context.grants.end(execution.grant_id ?? execution.id)
        await context.as(caller.principal, (tx) => deleteExecution(tx, execution))
      } else await cancelExecution(context, caller, execution)
      return { status: 204 }
    },
  }),
]
