import type { IncomingMessage } from 'node:http'
import { request as askSecurely } from 'node:https'
import { text as textOf } from 'node:stream/consumers'
import { rootCertificates } from 'node:tls'

import { Fault } from '@skerry/fault'

import type { SendRequest, CloudRequest } from './ask.ts'

/** The URL of a cloud, and the certificates to trust for it. */
export interface CloudAddress {
  /** E.g. `https://cloud.example`. */
  readonly url: string
  /** PEM certificates that are trusted in addition to the public root certificates. */
  readonly ca?: string
}

/** No response: the cloud or the network is down. */
export class NoAnswer extends Fault {}

const ANSWER_MS = 60_000
const LOOPBACK = /^(127\.|\[::1\]$|localhost$)/
export const TOKEN_HEADER = 'x-cloud-authorization'

/** Requires HTTPS: a token is sent in clear text only to this machine. */
export function cloudOrigin(address: string): URL {
  const url = URL.parse(address)
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url))
  if (url && isSafe && ['/', '/api', '/api/'].includes(url.pathname)) return new URL(url.origin)
  throw new Fault(
    'invalid',
    `the address of a cloud must be like https://cloud.example, not ${address}`,
  )
}

const isLoopback = ({ hostname }: URL): boolean => LOOPBACK.test(hostname)

/** The HTTPS transport; `who` are the headers with the credentials. */
export function overHttps(
  at: CloudAddress,
  credentials: Readonly<Record<string, string>>,
): SendRequest {
  return async (requested) => {
    const response = await send(at, credentials, requested, ANSWER_MS)
    const { statusCode: status = 0, headers } = response
    return { status, headers, text: await whole(at, response) }
  }
}

/** An endless response in chunks. The caller checks the status. */
export async function follow(
  at: CloudAddress,
  credentials: Readonly<Record<string, string>>,
  requested: CloudRequest,
): Promise<{ readonly status: number; readonly chunks: AsyncIterable<Uint8Array> }> {
  const response = await send(at, credentials, requested)
  async function* chunks(): AsyncIterable<Uint8Array> {
    try {
      for await (const chunk of response) yield chunk as Uint8Array
    } catch (cause) {
      throw noAnswer(at, cause)
    }
  }
  return { status: response.statusCode ?? 0, chunks: chunks() }
}

async function send(
  at: CloudAddress,
  credentials: Readonly<Record<string, string>>,
  { method, path, headers, body: text, bytes, signal }: CloudRequest,
  timeout?: number,
): Promise<IncomingMessage> {
  const origin = cloudOrigin(at.url)
  const body = text ?? bytes
  // Loaded only if needed: node:http makes Node load its WebSocket client, which takes as long as our whole program.
  const ask = origin.protocol === 'https:' ? askSecurely : (await import('node:http')).request
  const answer = Promise.withResolvers<IncomingMessage>()
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const sent = ask(new URL(path, origin), {
    method,
    headers: { ...headers, ...credentials, ...length },
    ...(at.ca !== undefined && { ca: [...rootCertificates, at.ca] }),
    ...(timeout !== undefined && { timeout }),
    ...(signal && { signal }),
  })
  sent.on('response', answer.resolve)
  sent.on('timeout', () => sent.destroy(new Error('timed out')))
  sent.on('error', answer.reject)
  sent.end(body)
  return answer.promise.catch((cause: unknown) => {
    throw noAnswer(at, cause)
  })
}

const whole = (at: CloudAddress, response: IncomingMessage): Promise<string> =>
  textOf(response).catch((cause: unknown) => {
    throw noAnswer(at, cause)
  })

function noAnswer({ url }: CloudAddress, cause: unknown): NoAnswer {
  const said = cause instanceof Error ? cause.message || cause.name : String(cause)
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  const isTrust = /CERT|SELF_SIGNED|ALTNAME|UNABLE_TO_VERIFY/.test(code)
  const why = isTrust ? `its certificate is not trusted (${said})` : said || code
  return new NoAnswer('unavailable', `the cloud at ${url} cannot be reached: ${why}`, {
    cause,
    ...(isTrust && { detail: 'certificate' }),
  })
}
