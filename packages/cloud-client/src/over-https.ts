import { request as askPlain, type IncomingMessage } from 'node:http'
import { request as askSecurely } from 'node:https'
import { text as textOf } from 'node:stream/consumers'
import { rootCertificates } from 'node:tls'

import { Fault } from '@skerry/fault'

import type { Ask, CloudRequest } from './ask.ts'

/** Where a cloud answers, and by whose word it is the one that it says. */
export interface CloudAddress {
  /** Such as `https://cloud.example`. */
  readonly url: string
  /** Certificates, as PEM, that are trusted beside those that everybody trusts. */
  readonly ca?: string
}

/** There was nobody to refuse it: the cloud, or the way there, is away. */
export class NoAnswer extends Fault {}

const ANSWER_MS = 60_000
const LOOPBACK = /^(127\.|\[::1\]$|localhost$)/
export const TOKEN_HEADER = 'x-cloud-authorization'

/** A token goes in clear text nowhere but inside of this machine. */
export function cloudOrigin(address: string): URL {
  const url = URL.parse(address)
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url))
  if (url && isSafe && ['/', '/api', '/api/'].includes(url.pathname)) return new URL(url.origin)
  throw new Fault(
    'invalid',
    `the address of a cloud must be such as https://cloud.example, not ${address}`,
  )
}

const isLoopback = ({ hostname }: URL): boolean => LOOPBACK.test(hostname)

/** Asks over HTTPS; the headers say who. */
export function overHttps(at: CloudAddress, who: Readonly<Record<string, string>>): Ask {
  return async (asked) => {
    const response = await send(at, who, asked, ANSWER_MS)
    const { statusCode: status = 0, headers } = response
    return { status, headers, text: await whole(at, response) }
  }
}

/** An answer that has no end, as its bytes come. A refusal is thrown by whoever reads the status. */
export async function follow(
  at: CloudAddress,
  who: Readonly<Record<string, string>>,
  asked: CloudRequest,
): Promise<{ readonly status: number; readonly chunks: AsyncIterable<Uint8Array> }> {
  const response = await send(at, who, asked)
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
  who: Readonly<Record<string, string>>,
  { method, path, headers, body: text, bytes, signal }: CloudRequest,
  timeout?: number,
): Promise<IncomingMessage> {
  const origin = cloudOrigin(at.url)
  const body = text ?? bytes
  const ask = origin.protocol === 'https:' ? askSecurely : askPlain
  const answer = Promise.withResolvers<IncomingMessage>()
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const sent = ask(new URL(path, origin), {
    ...{ method, headers: { ...headers, ...who, ...length } },
    ...(at.ca !== undefined && { ca: [...rootCertificates, at.ca] }),
    ...(timeout !== undefined && { timeout }),
    ...(signal && { signal }),
  })
  sent.on('response', answer.resolve)
  sent.on('timeout', () => sent.destroy(new Error('it does not answer')))
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
