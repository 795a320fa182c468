// The door for workers alone: a socket in a directory that only they can enter. One request in, one request out.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'

import { Fault, httpStatus, type FaultBody } from '@skerry/fault'
import { Type, type Static } from 'typebox'
import { Compile } from 'typebox/compile'

import type { Lists } from './allowed.ts'
import { fetchOut, type Way } from './fetch-out.ts'

const Asked = Type.Object(
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
const asked = Compile(Asked)
/** base64 and its wrapping are larger than what they hold. */
const MOST_BYTES = 1024 * 1024

export interface EgressWorld extends Way {
  /** Read at every request, so that a list can change under a process that goes on. */
  readonly lists: () => Lists
  readonly say: (what: string, cause: unknown) => void
}

export function makeServer(world: EgressWorld): Server {
  const server = createServer((request, response) => {
    void answer(world, request, response)
  })
  server.requestTimeout = 60_000
  server.headersTimeout = 10_000
  return server
}

async function answer(
  world: EgressWorld,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const gone = new AbortController()
  response.on('close', () => gone.abort())
  try {
    const { org, method, uri, headers, body } = await read(request)
    const rules = world.lists()[org] ?? []
    const outgoing = {
      method,
      uri,
      headers,
      ...(body !== undefined && { body: Buffer.from(body, 'base64') }),
    }
    const got = await fetchOut(world, rules, outgoing, gone.signal)
    send(response, 200, { ...got, body: got.body.toString('base64') })
  } catch (error) {
    if (!(error instanceof Fault)) world.say('a request failed', error)
    const fault =
      error instanceof Fault ? error : new Fault('unavailable', 'something went wrong inside')
    const body: FaultBody = { error: fault.kind, message: fault.message }
    send(response, httpStatus[fault.kind], body)
  }
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

async function read(request: IncomingMessage): Promise<Static<typeof Asked>> {
  if (request.method !== 'POST' || request.url !== '/v1/fetch') {
    throw new Fault('not-found', 'there is POST /v1/fetch and nothing else')
  }
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of request as AsyncIterable<Buffer>) {
    size += piece.length
    if (size > MOST_BYTES) throw new Fault('invalid', `a request may have ${MOST_BYTES} bytes`)
    pieces.push(piece)
  }
  const body = parsed(Buffer.concat(pieces).toString())
  if (asked.Check(body)) return body
  throw new Fault('invalid', 'the request is not of the shape that is expected')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
