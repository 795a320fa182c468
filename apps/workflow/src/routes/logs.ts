import { Fault } from '@skerry/fault'
import { Type } from '@skerry/schema'
import type { Body } from '@skerry/service'
import { attribute, children, localName, readXml, text } from '@skerry/xml'

import { at } from '../documents/addresses.ts'
import { logsDocument } from '../documents/execution.ts'
import type { PathWorkflows } from '../http/path-workflows.ts'
import { route } from '../http/route.ts'
import { severities } from '../store/database.ts'
import { listLogs, type LogsQuery } from '../store/logs.ts'

const LINES_MAX = 10_000

interface LogsParameters {
  readonly severity?: string | undefined
  readonly since?: string | undefined
  readonly after?: string | undefined
  readonly limit?: string | undefined
}

function readLogsQuery({ severity, since, after, limit }: LogsParameters): LogsQuery {
  const word = severity?.toLowerCase()
  const known = severities.find((each) => each === word)
  if (word !== undefined && word !== '' && known === undefined) {
    throw new Fault('invalid', `severity must be one of ${severities.join(', ')}`)
  }
  return {
    severity: known,
    since: readTime(since),
    after: after === undefined ? undefined : Number(after),
    limit: Math.min(Number(limit ?? LINES_MAX), LINES_MAX),
  }
}

/** Milliseconds since 1970, or an ISO 8601 time. */
function readTime(given: string | undefined): Date | undefined {
  if (given === undefined || given === '') return undefined
  const at = new Date(/^\d+$/.test(given) ? Number(given) : given)
  if (!Number.isNaN(at.getTime())) return at
  throw new Fault(
    'invalid',
    'older-than must be a time such as 2026-01-31T12:00:00Z, or milliseconds since 1970',
  )
}

/** `older-than` means newer than: clients of this API rely on it. */
const logRequest: Body<LogsParameters> = {
  media: 'application/xml or application/json',
  shape: 'log-request',
  read(raw) {
    const body = raw.trim()
    if (body === '') return {}
    const found = body.startsWith('<') ? fromXml(body) : fromJson(body)
    return { severity: found['severity'], since: found['older-than'] }
  },
}

function fromXml(body: string): Record<string, string | undefined> {
  const root = readXml(body)
  const inside = children(root).map((each) => [localName(each.name), text(each)])
  return {
    severity: attribute(root, 'severity'),
    'older-than': attribute(root, 'older-than'),
    ...Object.fromEntries(inside),
  }
}

function fromJson(body: string): Record<string, string | undefined> {
  try {
    const given = JSON.parse(body) as Readonly<Record<string, unknown>> | null
    return Object.fromEntries(
      Object.entries(given ?? {}).map(([name, value]) => [name, textOf(value)]),
    )
  } catch (cause) {
    throw new Fault('invalid', 'the body must be a log-request in XML or JSON', { cause })
  }
}

const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : ''

const query = Type.Object({
  severity: Type.Optional(Type.String()),
  'older-than': Type.Optional(Type.String()),
  after: Type.Optional(Type.String({ pattern: '^[0-9]{1,9}$' })),
  maxResult: Type.Optional(Type.String({ pattern: '^[0-9]{1,9}$' })),
})

const reading = (name: string, path: typeof at.logs | typeof at.syslogs, doc: string) =>
  route({
    name,
    method: 'GET',
    path,
    permission: 'workflow:read',
    query,
    answers: { 200: 'logs' },
    doc,
    async handle(context, { params, query: requested, principal }) {
      const { execution } = params as Pick<PathWorkflows, 'execution'>
      const { severity, after, maxResult: limit } = requested
      const how = readLogsQuery({ severity, after, limit, since: requested['older-than'] })
      const rows = await context.as(principal, (tx) => listLogs(tx, execution, how))
      return { status: 200, body: logsDocument(rows, execution) }
    },
  })

export const logs = [
  reading(
    'listLogs',
    at.logs,
    'Returns the log of a run, oldest first: every step that began, ended, failed or was retried. after=NUMBER continues after that line.',
  ),
  reading('listSyslogs', at.syslogs, `Same as GET ${at.logs}.`),
  route({
    name: 'askSyslogs',
    method: 'POST',
    path: at.syslogs,
    permission: 'workflow:read',
    takes: logRequest,
    answers: { 200: 'logs' },
    doc: 'Same as GET, for clients of earlier releases: a log-request with severity and older-than, which means newer than.',
    async handle(context, { params: { execution }, body, principal }) {
      const rows = await context.as(principal, (tx) => listLogs(tx, execution, readLogsQuery(body)))
      return { status: 200, body: logsDocument(rows, execution) }
    },
  }),
]
