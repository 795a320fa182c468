import { Failure } from '../terminal/failure.ts'

export interface Reply<Body = unknown> {
  readonly status: number
  readonly body: Body
  readonly location: string | undefined
}

export interface Request {
  /** An object is sent as JSON, a string as it is. */
  readonly body?: object | string
  /** Accepts a 202 response with an operation to poll. */
  readonly async?: boolean
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Client of vmd: every error response is a Failure with vmd's own message. */
export interface LocalClient {
  readonly url: string
  ask<Body = unknown>(method: Method, path: string, request?: Request): Promise<Reply<Body>>
  /** The response body in chunks, for an endless stream. */
  follow(path: string, headers?: Readonly<Record<string, string>>): AsyncIterable<Uint8Array>
  /** The response body as bytes, for content that is not JSON. */
  bytes(path: string): Promise<Uint8Array>
}

/** `path('vms', 'my vm', 'folders')` is /api/vms/my%20vm/folders. */
export const path = (...words: readonly string[]): string =>
  ['/api', ...words.map(encodeURIComponent)].join('/')

/** `token` is sent with every request, for a vmd started with --token-file. */
export function localClient(url: string, token?: string): LocalClient {
  const at = readUrl(url)
  const bearer = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const send = async (method: Method, where: string, { body, async }: Request = {}) =>
    reach(at, where, {
      method,
      headers: {
        ...bearer,
        accept: 'application/json',
        ...(typeof body === 'object' && { 'content-type': 'application/json' }),
        ...(typeof body === 'string' && { 'content-type': 'text/plain' }),
        ...(async === true && { prefer: 'respond-async' }),
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
  return {
    url: at.origin,
    async ask(method: Method, where: string, request?: Request) {
      const response = await send(method, where, request)
      // The API reference defines the body; the caller names its type.
      const body = (await readBody(response)) as never
      if (!response.ok) throw refusal(response.status, body)
      const location = response.headers.get('location') ?? undefined
      return { status: response.status, body, location }
    },
    async *follow(where, headers = {}) {
      const response = await reach(at, where, { headers: { ...bearer, ...headers } })
      if (!response.ok) throw refusal(response.status, await readBody(response))
      try {
        for await (const chunk of response.body ?? []) yield chunk
      } catch (cause) {
        throw unreachable(at, cause)
      }
    },
    async bytes(where) {
      const response = await reach(at, where, { headers: bearer })
      if (!response.ok) throw refusal(response.status, await readBody(response))
      return new Uint8Array(await response.arrayBuffer())
    },
  }
}

function readUrl(url: string): URL {
  const read = URL.parse(url)
  if (read?.protocol === 'http:') return read
  throw new Failure('usage', `--url must be like http://127.0.0.1:8080, not ${url}`)
}

async function reach(at: URL, where: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(new URL(where, at), init)
  } catch (cause) {
    throw unreachable(at, cause)
  }
}

const unreachable = (at: URL, cause: unknown): Failure =>
  new Failure('unreachable', `vmd does not answer at ${at.origin}`, {
    cause,
    hint: 'start it in another terminal: sudo skerry vmd',
  })

async function readBody(response: Response): Promise<unknown> {
  const text = await response.text()
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** 408 and 504: the operation may still complete, which differs from a rejection for a script. */
const timedOut: ReadonlySet<number> = new Set([408, 504])

function refusal(status: number, body: unknown): Failure {
  const { message, hint } = (typeof body === 'object' && body !== null ? body : {}) as {
    message?: unknown
    hint?: unknown
  }
  const reason = timedOut.has(status) ? 'timedOut' : 'refused'
  return new Failure(
    reason,
    typeof message === 'string' ? message : `vmd returned ${status} without a message`,
    { body, hint: typeof hint === 'string' ? hint : undefined },
  )
}
