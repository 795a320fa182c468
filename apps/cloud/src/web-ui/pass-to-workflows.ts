import type { IncomingMessage } from 'node:http'

import { Fault } from '@skerry/fault'
import type { HostRequest } from '@skerry/host-api'
import { markAuthenticated } from '@skerry/service'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

import type { Sessions } from '../auth/sessions.ts'
import type { Dialect } from '../dialect/dialect.ts'
import { requireSecondFactor } from '../domain/authorize.ts'
import { pageTokenIn } from '../http/page-request.ts'
import type { WorkflowServers } from './workflow-servers.ts'

export interface PassedOn {
  readonly sessions: Pick<Sessions, 'find'>
  readonly dialect: Dialect
  readonly base: URL
  readonly workflows: WorkflowServers
}

const PREFIX = '/api/workflow'
/** The name of the route whose responses stay open. */
export const WORKFLOW_STREAM = 'followWorkflowRun'
/** For the body of a response that is no event stream. */
const BODY_MS = 28_000

/** Requests and responses keep only these headers: no cookie reaches the workflow server, and no browser asks for a password. */
const REQUEST_HEADERS = ['accept', 'content-type', 'idempotency-key', 'last-event-id']
const RESPONSE_HEADERS = ['content-type', 'cache-control', 'retry-after', 'vary']

/** Adds `/api/workflow/…`: the API of the workflow servers for the pages of this cloud, with the session of the page. */
export const passToWorkflows =
  (passed: PassedOn) =>
  (server: FastifyInstance): void => {
    const tokens = new WeakMap<FastifyRequest, string>()
    // Before the body is read.
    const onRequest = async (request: FastifyRequest): Promise<void> => {
      tokens.set(request, await requireSession(passed, request))
    }
    const handler = (request: FastifyRequest, reply: FastifyReply) =>
      passOn(passed, tokens.get(request) ?? '', request, reply)
    const add = (method: HostRequest['method'], url: string, name: string) =>
      server.route({
        method,
        url: `${PREFIX}/${url}`,
        config: { name },
        exposeHeadRoute: false,
        onRequest,
        handler,
      })
    for (const method of ['GET', 'POST', 'DELETE'] as const) add(method, '*', 'passToWorkflow')
    add('GET', 'workflows/:workflow/executions/:execution/events', WORKFLOW_STREAM)
  }

/** Only the cookie of a page counts here. Scripts use the workflow server itself. */
async function requireSession(
  { sessions, dialect: { pageCookie }, base }: PassedOn,
  request: FastifyRequest,
): Promise<string> {
  const token = pageCookie === undefined ? undefined : pageTokenIn(request, pageCookie, base)
  const principal = token === undefined ? undefined : await sessions.find(token)
  if (!principal || token === undefined) {
    throw new Fault(
      'unauthenticated',
      'these addresses are for pages of this cloud with a session',
      {
        hint: 'log in; a script sends its requests to the workflow server itself',
      },
    )
  }
  markAuthenticated(request.raw.socket)
  requireSecondFactor(principal)
  return token
}

async function passOn(
  { dialect, workflows }: PassedOn,
  token: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const gone = new AbortController()
  reply.raw.once('close', () => gone.abort())
  const body = request.body as string | undefined
  const asked = workflows.ask({
    method: request.method as HostRequest['method'],
    path: `/api${(request.raw.url ?? '').slice(PREFIX.length)}`,
    headers: { ...picked(request.headers, REQUEST_HEADERS), [dialect.tokenHeader]: token },
    ...(body !== undefined && { text: body }),
    signal: gone.signal,
  })
  const answer = await asked.catch((error: unknown) => {
    if (!gone.signal.aborted) throw error
    return undefined
  })
  // The browser has gone before the workflow server has answered: there is no one to answer, and nothing to log.
  if (!answer) return reply.hijack()
  limitBody(answer)
  // The response is read at the pace of its reader: a slow one makes the workflow server wait, and needs no memory here.
  return reply
    .code(answer.statusCode ?? 502)
    .headers(picked(answer.headers, RESPONSE_HEADERS))
    .send(answer)
}

function limitBody(answer: IncomingMessage): void {
  if (answer.headers['content-type']?.startsWith('text/event-stream')) return
  const timer = setTimeout(() => answer.destroy(), BODY_MS)
  answer.once('close', () => clearTimeout(timer))
}

const picked = (
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  names: readonly string[],
): Record<string, string> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = headers[name]
      return typeof value === 'string' ? [[name, value]] : []
    }),
  )
