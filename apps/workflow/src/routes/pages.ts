import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import type { Body } from '@skerry/service'
import { Type } from 'typebox'

import type { Json } from '../durable/verbs.ts'
import { readFilled } from '../pages/form.ts'
import { pageHeaders, SCRIPT, STYLE } from '../pages/html.ts'
import { listPage, runPath } from '../pages/list-page.ts'
import { runPage } from '../pages/run-page.ts'
import { workflowPage } from '../pages/workflow-page.ts'
import { parseListQuery } from '../query/workflow-list.ts'
import { offering, route, type WorkflowRoute } from '../route.ts'
import { checkGiven, startExecution } from '../start-execution.ts'
import { listExecutions, recentExecutions } from '../store/executions.ts'
import { closeInteraction, listInteractions, openInteraction } from '../store/interactions.ts'
import { countWorkflows, listWorkflows } from '../store/list-workflows.ts'
import { listLogs } from '../store/logs.ts'
import { readVersion } from '../store/workflows.ts'
import { cancelExecution } from './executions.ts'

const SHOWN = 100
const RUNS_SHOWN = 25
const LINES_SHOWN = 1000

const filled: Body<string> = {
  ...{ media: 'application/x-www-form-urlencoded', shape: 'a form that was filled in' },
  read: (raw) => raw,
}

const page = (row: Parameters<typeof offering>[1]): WorkflowRoute => offering(['html'], row)
const shown = (body: string) => ({ status: 200, headers: pageHeaders, body })
const goTo = (location: string) => ({ status: 303, headers: { location, ...pageHeaders } })

const file = (name: string, path: string, type: string, content: string): WorkflowRoute =>
  page(
    route({
      ...{ name, method: 'GET', path, permission: 'anyone', answers: { 200: type } },
      doc: 'A file that the pages need.',
      async handle() {
        const headers = { 'content-type': `${type}; charset=utf-8`, 'cache-control': 'max-age=300' }
        return { status: 200, headers, body: content }
      },
    }),
  )

const read = (name: string): string =>
  readFileSync(join(import.meta.dirname, '../pages', name), 'utf8')

export const pages: readonly WorkflowRoute[] = [
  file('pageStyle', STYLE, 'text/css', read('style.css')),
  file('pageScript', SCRIPT, 'text/javascript', read('live.js')),
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
      doc: 'A page for people: workflows, what waits for an answer, and the latest runs.',
      async handle(world, { who, query: { q: search = '', page: number = '1' } }) {
        const query = parseListQuery({})
        const asked = search === '' ? query : { ...query, conditions: [contains(search)] }
        const at = Number(number)
        return world.as(who, async (tx) => {
          const offset = (at - 1) * SHOWN
          const found = await listWorkflows(tx, asked, { limit: SHOWN + 1, offset })
          return shown(
            listPage({
              ...{ user: `${who.user}@${who.orgName}`, search, page: at },
              ...{ more: found.length > SHOWN, workflows: found.slice(0, SHOWN) },
              total: await countWorkflows(tx, asked),
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
      doc: 'A page for people: what a workflow does, a form to start it, and its runs.',
      async handle(world, { who, params: { workflow } }) {
        return world.as(who, async (tx) => {
          const version = await readVersion(tx, workflow)
          const runs = await listExecutions(tx, workflow, { before: undefined, limit: RUNS_SHOWN })
          return shown(workflowPage({ who, workflow, version, runs }))
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
      doc: 'Starts a run with what was filled in, and leads to its page.',
      async handle(world, asker) {
        const { who, params, body } = asker
        const { form } = await world.as(who, (tx) => readVersion(tx, params.workflow))
        const input = readFilled(form, body)
        const { execution } = await startExecution(world, asker, params.workflow, { input })
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
      doc: 'A page for people: how a run goes, live, with its steps marked; to cancel it, and to answer it.',
      async handle(world, { who, params: { execution: run } }) {
        return world.as(who, async (tx) => {
          const all = { severity: undefined, since: undefined, after: undefined }
          const logs = await listLogs(tx, run, { ...all, limit: LINES_SHOWN })
          const [asked] = await listInteractions(tx, { execution: run.id, open: true }, 1)
          return shown(runPage({ who, run, logs, asked }))
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
      doc: 'Cancels a run, and leads back to its page.',
      async handle(world, asker) {
        await cancelExecution(world, asker, asker.params.execution)
        return goTo(runPath(asker.params.execution))
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
      doc: 'Answers what a run waits for, and leads back to its page.',
      async handle(world, { who, params: { execution }, query, body }) {
        await world.as(who, async (tx) => {
          const asked = await openInteraction(tx, execution, query.id)
          const answer = checkGiven(asked.form, { input: readFilled(asked.form, body) })
          await closeInteraction(tx, who, asked)
          await world.runs.answer(execution.id, asked.id, who.user, answer as Json)
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
