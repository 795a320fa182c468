import { setTimeout as sleep } from 'node:timers/promises'

import { eventStream, streamHeaders, type Message } from '@skerry/service'

import { at, Hrefs } from '../addresses.ts'
import type { Document } from '../definition/definition.ts'
import { definitionOf } from '../definition/parse.ts'
import { executionDocument } from '../documents/execution.ts'
import { drawWorkflow } from '../drawing/draw.ts'
import { offering, route, type WorkflowRoute } from '../route.ts'
import { findExecution, hasEnded, listSteps } from '../store/executions.ts'
import { listInteractions } from '../store/interactions.ts'
import { listLogs } from '../store/logs.ts'
import { readVersion } from '../store/workflows.ts'

const LOOK_AGAIN_MS = 500
const LINES = 200

export const progress: readonly WorkflowRoute[] = [
  offering(
    ['svg'],
    route({
      name: 'drawExecution',
      method: 'GET',
      path: at.progress,
      permission: 'workflow:read',
      answers: { 200: 'image/svg+xml' },
      doc: 'The version that is run as a drawing, with the steps that are done, running and failed marked.',
      async handle(world, { who, params: { execution } }) {
        const { org, workflow: id, digest } = execution
        const [{ document }, steps] = await world.as(who, async (tx) => [
          await readVersion(tx, { org, id, digest }),
          await listSteps(tx, execution),
        ])
        const marks = new Map(steps.map(({ place, state }) => [place, state]))
        const definition = definitionOf(document as unknown as Document)
        return { status: 200, body: drawWorkflow(definition, marks) }
      },
    }),
  ),
  offering(
    ['events'],
    route({
      name: 'followExecution',
      method: 'GET',
      path: at.events,
      permission: 'workflow:read',
      answers: { 200: 'events' },
      doc: 'How a run goes on, as it does (server-sent events): its execution whenever that changes, its log, and in interaction the id of what it asks of people, or null. It ends with the run. Last-Event-ID goes on after that line of the log.',
      async handle(world, { who, params: { execution }, lastEventId }) {
        const since = /^[0-9]{1,9}$/.test(lastEventId ?? '') ? Number(lastEventId) : 0
        const { org, workflow: id, digest } = execution
        const { form } = await world.as(who, (tx) => readVersion(tx, { org, id, digest }))
        const hrefs = new Hrefs(world.base)
        async function* source(signal: AbortSignal): AsyncIterable<Message> {
          let seen = since
          let told = ''
          let asks: string | null | undefined
          while (!signal.aborted) {
            const [now, [asked], lines] = await world.as(who, async (tx) => [
              await findExecution(tx, execution.id),
              await listInteractions(tx, { execution: execution.id, open: true }, 1),
              await listLogs(tx, execution, {
                ...{ severity: undefined, since: undefined, after: seen, limit: LINES },
              }),
            ])
            for (const { seq, at: when, severity, summary, detail, origin } of lines) {
              seen = seq
              const data = { at: when.toISOString(), severity, summary, detail, origin }
              yield { id: seq, event: 'log', data }
            }
            if (!now) return
            const { json } = executionDocument(now, form, hrefs)
            const text = `${JSON.stringify(json)}${now.number}`
            if (text !== told) yield { id: seen, event: 'execution', data: json }
            told = text
            const next = asked?.id ?? null
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
