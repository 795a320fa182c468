// Requests to a listener of a cell; every answer is held to its schema.
import { request } from 'node:http'

import type { Dialect } from '../src/dialect/dialect.ts'
import { holdToSchema } from './held-to-schema.ts'

export const XML = 'application/*+xml;version=5.1'

export interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

export interface Asked {
  readonly token?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** The address of the client. Default: 127.0.0.1. */
  readonly from?: string
}

export type Ask = (method: string, path: string, requested?: Asked) => Promise<Answered>

interface Listener {
  readonly port: number
  readonly dialect: Dialect
}

export const asking =
  (at: Listener): Ask =>
  (method, path, requested = {}) =>
    send(at, method, path, requested)

async function send(
  { port, dialect }: Listener,
  method: string,
  path: string,
  requested: Asked,
): Promise<Answered> {
  const { token, body, from } = requested
  const own = token === undefined ? {} : { [dialect.tokenHeader]: token }
  const headers = { accept: XML, ...own, ...requested.headers }
  const answer = Promise.withResolvers<Answered>()
  const to = { port, host: '127.0.0.1', method, path, headers }
  const sent = request({ ...to, ...(from !== undefined && { localAddress: from }) }, (response) => {
    let text = ''
    response.setEncoding('utf8')
    response.on('data', (chunk: string) => (text += chunk))
    response.on('end', () => {
      const { statusCode: status = 0, headers: got } = response
      try {
        const { accept } = headers
        holdToSchema({
          dialect,
          requested: `${method} ${path}`,
          accept,
          status,
          type: got['content-type'],
          text,
        })
        answer.resolve({ status, headers: got, text })
      } catch (error) {
        answer.reject(error)
      }
    })
    response.on('error', answer.reject)
  })
  sent.on('error', answer.reject)
  sent.end(body)
  return answer.promise
}
