// The listener for workers only: a socket in a directory that only they can enter. One incoming request makes one outgoing request.
import type { IncomingMessage, Server, ServerResponse } from 'node:http'

import { Fault } from '@skerry/fault'
import { Compile, type Static, Type } from '@skerry/schema'
import {
  createListener,
  internalFault,
  listenerBounds,
  readJson,
  sendJson,
  serveJson,
} from '@skerry/service'

import type { EgressRules } from './allowed.ts'
import { fetchOut, type OutboundOptions } from './fetch-out.ts'

const EgressRequest = Type.Object(
  {
    org: Type.String({ maxLength: 100 }),
    method: Type.String({ maxLength: 10 }),
    uri: Type.String({ maxLength: 8_192 }),
    headers: Type.Record(Type.String({ maxLength: 200 }), Type.String({ maxLength: 8_192 })),
    /** base64 */
    body: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
)
const requested = Compile(EgressRequest)
/** base64 and the JSON around it are larger than the body itself. */
const MOST_BYTES = 1024 * 1024

export interface EgressContext extends OutboundOptions {
  /** Read for every request, so that the lists can change while the process runs. */
  readonly lists: () => EgressRules
  readonly log: (message: string, cause: unknown) => void
  /** Counts an answered request. */
  readonly answered?: (status: number, seconds: number) => void
}

export function makeServer(context: EgressContext): Server {
  const server = createListener({ bounds: listenerBounds.egress })
  serveJson(
    server,
    (request, response) => handleRequest(context, request, response),
    internalFault('internal error in the egress', context.log),
  )
  return server
}

async function handleRequest(
  context: EgressContext,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const began = performance.now()
  response.once('finish', () =>
    context.answered?.(response.statusCode, (performance.now() - began) / 1000),
  )
  const gone = new AbortController()
  response.on('close', () => gone.abort())
  const { org, method, uri, headers, body } = await readEgressRequest(request)
  const rules = context.lists()[org] ?? []
  const outgoing = {
    method,
    uri,
    headers,
    ...(body !== undefined && { body: Buffer.from(body, 'base64') }),
  }
  const got = await fetchOut(context, rules, outgoing, gone.signal)
  sendJson(response, 200, { ...got, body: got.body.toString('base64') })
}

async function readEgressRequest(request: IncomingMessage): Promise<Static<typeof EgressRequest>> {
  if (request.method !== 'POST' || request.url !== '/v1/fetch') {
    throw new Fault('not-found', 'not found: the only route is POST /v1/fetch')
  }
  const body = await readJson(request, MOST_BYTES)
  if (requested.Check(body)) return body
  throw new Fault('invalid', 'the request does not match the expected schema')
}
