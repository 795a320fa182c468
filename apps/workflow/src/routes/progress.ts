import { setTimeout as sleep } from 'node:timers/promises'

import {
  definitionOf,
  drawWorkflow,
  outlineWorkflow,
  type DefinitionDocument,
} from '@skerry/serverless-workflow'
import { eventStream, streamHeaders, type Message } from '@skerry/service'

import { at, WorkflowHrefs } from '../documents/addresses.ts'
import { executionDocument } from '../documents/execution.ts'
import { withFormats, route, type WorkflowRoute } from '../http/route.ts'
import { renderJson } from '../http/send.ts'
import { findExecution, hasEnded, listSteps } from '../store/executions.ts'
import { listInteractions } from '../store/interactions.ts'
import { listLogs } from '../store/logs.ts'
import { readVersion } from '../store/workflows.ts'

const LOOK_AGAIN_MS = 500
const LINES = 200

export const progress: readonly WorkflowRoute[] = [
  withFormats(
    ['svg', 'json'],
    route({
      name: 'drawExecution',
      method: 'GET',
      path: at.progress,
      permission: 'workflow:read',
      answers: { 200: 'drawing' },
      doc: 'Returns a drawing of the running version, with done, running and failed steps marked; with Accept: application/json as data.',
      async handle(context, { principal, format, params: { execution } }) {
        const { org, workflow: id, digest } = execution
        const [{ document }, steps] = await context.as(principal, async (tx) => [
          await readVersion(tx, { org, id, digest }),
          await listSteps(tx, execution),
        ])
        const marks = new Map(steps.map(({ place, state }) => [place, state]))
        const definition = definitionOf(document as unknown as DefinitionDocument)
        if (format === 'json') {
          return { status: 200, body: renderJson(outlineWorkflow(definition, marks)) }
        }
        return { status: 200, body: drawWorkflow(definition, marks) }
      },
    }),
  ),
  withFormats(
    ['events'],
    route({
      name: 'followExecution',
      method: 'GET',
      path: at.events,
      permission: 'workflow:read',
      answers: { 200: 'events' },
      doc: 'Streams the progress of a run (server-sent events): the execution whenever it changes, its log, and in interaction the id of the open user interaction, or null. The stream ends with the run, and when the role, the account or the password of the reader changes. Last-Event-ID continues after that line of the log. At most 20 streams per user and 100 per organisation are open on a server; more get 429.',
      async handle(context, caller) {
        const { principal, params, lastEventId } = caller
        const { execution } = params
        const since = /^[0-9]{1,9}$/.test(lastEventId ?? '') ? Number(lastEventId) : 0
        const { org, workflow: id, digest } = execution
        const { form } = await context.as(principal, (tx) => readVersion(tx, { org, id, digest }))
        const hrefs = new WorkflowHrefs(context.base)
        const isSame = context.streams.watch(principal, () => caller.principalNow())
        const open = context.streams.open(principal)
        async function* source(signal: AbortSignal): AsyncIterable<Message> {
          using _ = open
          let seen = since
          let sent = ''
          let asks: string | null | undefined
          while (!signal.aborted) {
            const [now, [requested], lines] = await context.as(principal, async (tx) => [
              await findExecution(tx, execution.id),
              await listInteractions(tx, { execution: execution.id, open: true }, 1),
              await listLogs(tx, execution, {
                severity: undefined,
                since: undefined,
                after: seen,
                limit: LINES,
              }),
            ])
            if (!(await isSame())) return
            for (const { seq, at: when, severity, summary, detail, origin } of lines) {
              seen = seq
              const data = { at: when.toISOString(), severity, summary, detail, origin }
              yield { id: seq, event: 'log', data }
            }
            if (!now) return
            const { json } = executionDocument(now, form, hrefs)
            const text = `${JSON.stringify(json)}${now.number}`
            if (text !== sent) yield { id: seen, event: 'execution', data: json }
            sent = text
            const next = requested?.id ?? null
            if (next !== asks) yield { id: seen, event: 'interaction', data: { id: next } }
            asks = next
            if (lines.length === LINES) continue
            if (hasEnded(now)) return
            await sleep(LOOK_AGAIN_MS, undefined, { signal })
          }
        }
        return { status: 200, headers: streamHeaders, body: eventStream(source, { since }) }
      },
    }),
  ),
]
