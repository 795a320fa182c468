import {
  NoAnswer,
  sendHttp,
  wholeBody,
  type HttpRequest,
  type HttpResponse,
} from '@skerry/cloud-client'

import { Failure } from '../terminal/failure.ts'
import { parseBody, refusal } from './refusal.ts'

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
  const { origin } = readUrl(url)
  const bearer = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const reach = async ({ headers, ...requested }: HttpRequest): Promise<HttpResponse> => {
    const sent = { ...requested, headers: { ...bearer, ...headers } }
    const response = await sendHttp({ name: 'vmd', url: origin }, sent).catch(unreachable(origin))
    if (response.status < 400) return response
    throw refusal('vmd', response.status, parseBody(await read(response)))
  }
  const read = (response: HttpResponse) => wholeBody(response).catch(unreachable(origin))
  return {
    url: origin,
    async ask(method: Method, where: string, { body, async }: Request = {}) {
      const response = await reach({
        method,
        path: where,
        headers: {
          accept: 'application/json',
          ...(typeof body === 'object' && { 'content-type': 'application/json' }),
          ...(typeof body === 'string' && { 'content-type': 'text/plain' }),
          ...(async === true && { prefer: 'respond-async' }),
        },
        body: typeof body === 'object' ? JSON.stringify(body) : body,
      })
      const location = response.headers['location']?.toString()
      // The API reference defines the body; the caller names its type.
      return { status: response.status, body: parseBody(await read(response)) as never, location }
    },
    async *follow(where, headers = {}) {
      const { chunks } = await reach({ method: 'GET', path: where, headers })
      try {
        yield* chunks
      } catch (cause) {
        unreachable(origin)(cause)
      }
    },
    async bytes(where) {
      return read(await reach({ method: 'GET', path: where }))
    },
  }
}

function readUrl(url: string): URL {
  const read = URL.parse(url)
  if (read?.protocol === 'http:') return read
  throw new Failure('usage', `--url must be like http://127.0.0.1:8080, not ${url}`)
}

const unreachable =
  (origin: string) =>
  (cause: unknown): never => {
    if (!(cause instanceof NoAnswer)) throw cause
    throw new Failure('unreachable', `vmd does not answer at ${origin}`, {
      cause,
      hint: 'start it in another terminal: sudo skerry vmd',
    })
  }
