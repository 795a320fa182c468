// `call http`, through the egress: this process never connects to external servers.
import type { FaultBody } from '@skerry/fault'
import {
  ERROR_TYPES,
  type HttpAnswer,
  type HttpCall,
  type Json,
  type Problem,
} from '@skerry/serverless-workflow'
import { askEgress, isRefusal, type EgressAnswer } from '@skerry/service'

export interface Egress {
  /** The path of its socket. */
  readonly socket: string
  /** The organisation that owns the definition; its list of allowed servers applies. */
  readonly org: string
}

/** An error that a definition may catch. */
export class CallProblem extends Error {
  override readonly name = 'CallProblem'
  readonly problem: Problem

  constructor(problem: Problem) {
    super(problem.detail ?? problem.type)
    this.problem = problem
  }
}

/** A Fault `unavailable` means that the egress is unreachable: retry. Anything from the external server is a response or a Problem. */
export async function callHttp(
  egress: Egress,
  call: HttpCall,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  const { method, uri, body } = call
  const sent = {
    org: egress.org,
    method,
    uri,
    headers: headersOf(call),
    ...(body !== undefined && { body: Buffer.from(textOf(body)).toString('base64') }),
  }
  const answer = await askEgress(egress.socket, sent, signal)
  if (isRefusal(answer)) throw new CallProblem(problemOf(answer))
  return { status: answer.status, headers: answer.headers, content: contentOf(call, answer) }
}

const textOf = (body: Json): string => (typeof body === 'string' ? body : JSON.stringify(body))

/** Sends the same key for every attempt, so that the called server can detect repetitions. */
function headersOf({ headers, body, authentication, key }: HttpCall): Record<string, string> {
  const all: Record<string, string> = { 'idempotency-key': key }
  if (body !== undefined && typeof body !== 'string') all['content-type'] = 'application/json'
  for (const [name, value] of Object.entries(headers)) {
    if (value !== null) all[name.toLowerCase()] = textOf(value)
  }
  if (authentication === undefined) return all
  if ('bearer' in authentication) {
    all['authorization'] = `Bearer ${textOf(authentication.bearer.token)}`
  } else {
    const { username, password } = authentication.basic
    const pair = Buffer.from(`${textOf(username)}:${textOf(password)}`).toString('base64')
    all['authorization'] = `Basic ${pair}`
  }
  return all
}

function contentOf({ output }: HttpCall, answer: EgressAnswer): Json {
  if (output === 'raw') return answer.body
  const content = Buffer.from(answer.body, 'base64').toString()
  const type = answer.headers['content-type'] ?? ''
  if (content === '' || !/^application\/([a-z0-9.-]+\+)?json\b/i.test(type)) return content
  try {
    return JSON.parse(content) as Json
  } catch {
    return content
  }
}

const kinds: Readonly<Record<string, readonly [type: string, status: number]>> = {
  forbidden: ['authorization', 403],
  'timed-out': ['timeout', 408],
  invalid: ['configuration', 400],
  unavailable: ['communication', 503],
}
function problemOf({ error, message }: FaultBody): Problem {
  const [type = 'communication', status = 500] = kinds[error] ?? []
  return { type: ERROR_TYPES + type, status, detail: message }
}
