import { Failure } from './failure.ts'

export interface Reply<Body = unknown> {
  readonly status: number
  readonly body: Body
  readonly location: string | undefined
}

export interface Request {
  /** An object goes as JSON, a text as it is. */
  readonly body?: object | string
  /** Lets the daemon answer 202 with an operation to follow, where it can. */
  readonly async?: boolean
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** The daemon as its clients see it: every refusal is a Failure with the daemon's own words. */
export interface LocalClient {
  readonly url: string
  ask<Body = unknown>(method: Method, path: string, request?: Request): Promise<Reply<Body>>
  /** The answer's bytes as they come, for a stream that has no end. */
  follow(path: string, headers?: Readonly<Record<string, string>>): AsyncIterable<Uint8Array>
  /** The answer as bytes, for what is not JSON. */
  bytes(path: string): Promise<Uint8Array>
}

/** `path('vms', 'my vm', 'folders')` is /api/vms/my%20vm/folders. */
export const path = (...words: readonly string[]): string =>
  ['/api', ...words.map(encodeURIComponent)].join('/')

/** With a token every request carries it, for a daemon that was started with one. */
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
      // What the daemon answers is as its reference says; whoever asks names the shape.
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
  throw new Failure('usage', `--url must be such as http://127.0.0.1:8080, not ${url}`)
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

/** 408 and 504: the work may still be done, which a script wants to tell from a no. */
const timedOut: ReadonlySet<number> = new Set([408, 504])

function refusal(status: number, body: unknown): Failure {
  const { message, hint } = (typeof body === 'object' && body !== null ? body : {}) as {
    message?: unknown
    hint?: unknown
  }
  const reason = timedOut.has(status) ? 'timedOut' : 'refused'
  return new Failure(
    reason,
    typeof message === 'string' ? message : `vmd answered ${status} without a reason`,
    { body, hint: typeof hint === 'string' ? hint : undefined },
  )
}
