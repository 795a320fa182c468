import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { Type } from '@skerry/schema'
import type { Json } from '@skerry/serverless-workflow'
import type { Body } from '@skerry/service'

import { withFormats, route, type WorkflowRoute } from '../http/route.ts'
import { readFilled } from '../pages/form.ts'
import { pageHeaders, SCRIPT, STYLE } from '../pages/html.ts'
import { listPage, runPath } from '../pages/list-page.ts'
import { runPage } from '../pages/run-page.ts'
import { workflowPage } from '../pages/workflow-page.ts'
import { parseListQuery } from '../query/workflow-list.ts'
import { checkRunInput, startExecution } from '../runs/start-execution.ts'
import { listExecutions, recentExecutions } from '../store/executions.ts'
import {
  closeInteraction,
  listInteractions,
  openInteraction,
  requireApprover,
} from '../store/interactions.ts'
import { countWorkflows, listWorkflows } from '../store/list-workflows.ts'
import { listLogs } from '../store/logs.ts'
import { readVersion } from '../store/workflows.ts'
import { cancelExecution } from './executions.ts'

const SHOWN = 100
const RUNS_SHOWN = 25
const LINES_SHOWN = 1000

const filled: Body<string> = {
  media: 'application/x-www-form-urlencoded',
  shape: 'a filled-in form',
  read: (raw) => raw,
}

const page = (row: Parameters<typeof withFormats>[1]): WorkflowRoute => withFormats(['html'], row)
const htmlResponse = (body: string) => ({ status: 200, headers: pageHeaders, body })
const goTo = (location: string) => ({ status: 303, headers: { location, ...pageHeaders } })

const file = (name: string, path: string, type: string, content: string): WorkflowRoute =>
  page(
    route({
      name,
      method: 'GET',
      path,
      permission: 'anyone',
      answers: { 200: type },
      doc: 'A static file of the web pages.',
      async handle() {
        const headers = { 'content-type': `${type}; charset=utf-8`, 'cache-control': 'max-age=300' }
        return { status: 200, headers, body: content }
      },
    }),
  )

const readPageFile = (name: string): string =>
  readFileSync(join(import.meta.dirname, '../pages', name), 'utf8')

export const pages: readonly WorkflowRoute[] = [
  file('pageStyle', STYLE, 'text/css', readPageFile('style.css')),
  file('pageScript', SCRIPT, 'text/javascript', readPageFile('live.js')),
  page(
    route({
      name: 'showWorkflows',
      method: 'GET',
      path: '/',
      permission: 'workflow:read',
      query: Type.Object({
        q: Type.Optional(Type.String({ maxLength: 200 })),
        page: Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,5}$' })),
      }),
      answers: { 200: 'text/html' },
      doc: 'Web page: workflows, open user interactions, and the latest runs.',
      async handle(context, { principal, query: { q: search = '', page: number = '1' } }) {
        const query = parseListQuery({})
        const requested = search === '' ? query : { ...query, conditions: [contains(search)] }
        const at = Number(number)
        return context.as(principal, async (tx) => {
          const offset = (at - 1) * SHOWN
          const found = await listWorkflows(tx, requested, { limit: SHOWN + 1, offset })
          return htmlResponse(
            listPage({
              user: `${principal.user}@${principal.orgName}`,
              search,
              page: at,
              more: found.length > SHOWN,
              workflows: found.slice(0, SHOWN),
              total: await countWorkflows(tx, requested),
              runs: await recentExecutions(tx, RUNS_SHOWN),
              waiting: await listInteractions(tx, { open: true }, RUNS_SHOWN),
            }),
          )
        })
      },
    }),
  ),
  page(
    route({
      name: 'showWorkflow',
      method: 'GET',
      path: '/workflows/:workflow',
      permission: 'workflow:read',
      answers: { 200: 'text/html' },
      doc: 'Web page: a workflow, a form to start it, and its runs.',
      async handle(context, { principal, params: { workflow } }) {
        return context.as(principal, async (tx) => {
          const version = await readVersion(tx, workflow)
          const runs = await listExecutions(tx, workflow, { before: undefined, limit: RUNS_SHOWN })
          return htmlResponse(workflowPage({ principal, workflow, version, runs }))
        })
      },
    }),
  ),
  page(
    route({
      name: 'startFromPage',
      method: 'POST',
      path: '/workflows/:workflow/runs',
      permission: 'workflow:run',
      takes: filled,
      answers: { 303: 'nothing' },
      doc: 'Starts a run with the submitted form and redirects to its page.',
      async handle(context, caller) {
        const { principal, params, body } = caller
        const { form } = await context.as(principal, (tx) => readVersion(tx, params.workflow))
        const input = readFilled(form, body)
        const { execution } = await startExecution(context, caller, params.workflow, { input })
        return goTo(runPath(execution))
      },
    }),
  ),
  page(
    route({
      name: 'showRun',
      method: 'GET',
      path: '/workflows/:workflow/runs/:execution',
      permission: 'workflow:read',
      answers: { 200: 'text/html' },
      doc: 'Web page: a run with live progress and marked steps; can cancel and answer it.',
      async handle(context, { principal, params: { execution: run } }) {
        return context.as(principal, async (tx) => {
          const all = { severity: undefined, since: undefined, after: undefined }
          const logs = await listLogs(tx, run, { ...all, limit: LINES_SHOWN })
          const [requested] = await listInteractions(tx, { execution: run.id, open: true }, 1)
          return htmlResponse(runPage({ principal, run, logs, requested }))
        })
      },
    }),
  ),
  page(
    route({
      name: 'cancelFromPage',
      method: 'POST',
      path: '/workflows/:workflow/runs/:execution/cancel',
      permission: 'workflow:run',
      takes: filled,
      answers: { 303: 'nothing' },
      doc: 'Cancels a run and redirects to its page.',
      async handle(context, caller) {
        await cancelExecution(context, caller, caller.params.execution)
        return goTo(runPath(caller.params.execution))
      },
    }),
  ),
  page(
    route({
      name: 'answerFromPage',
      method: 'POST',
      path: '/workflows/:workflow/runs/:execution/answer',
      permission: 'workflow:run',
      query: Type.Object({ id: Type.Optional(Type.String({ maxLength: 255 })) }),
      takes: filled,
      answers: { 303: 'nothing' },
      doc: 'Answers the open user interaction of a run and redirects to its page.',
      async handle(context, { principal, params: { execution }, query, body }) {
        await context.as(principal, async (tx) => {
          const requested = await openInteraction(tx, execution, query.id)
          requireApprover(principal, requested, execution)
          const input = readFilled(requested.form, body)
          const answer = await checkRunInput(context, requested.form, { input })
          await closeInteraction(tx, principal, requested)
          await context.runs.answer(execution.id, requested.id, principal.user, answer as Json)
        })
        return goTo(runPath(execution))
      },
    }),
  ),
]

const contains = (value: string) => {
  const clean = value.replaceAll('\0', '')
  return { attribute: 'name', is: 'contains', value: clean } as const
}
