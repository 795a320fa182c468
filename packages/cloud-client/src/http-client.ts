// The one HTTP client of the programs that users run. Links between machines of a cloud use mutual TLS: packages/host-api.
import type { IncomingMessage } from 'node:http'
import { request as requestHttps } from 'node:https'
import { rootCertificates } from 'node:tls'

import { Fault } from '@skerry/fault'

export interface HttpServer {
  /** For error messages, e.g. `the cloud`. */
  readonly name: string
  readonly url: string
  /** PEM certificates that are trusted in addition to the public root certificates. */
  readonly ca?: string | undefined
}

export interface HttpRequest {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | undefined
  readonly signal?: AbortSignal | undefined
  /** How long the server may be silent. Default: without limit, for event streams and long operations. */
  readonly silenceMs?: number
}

export interface HttpResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** The body. Leaving the loop ends the connection. */
  readonly chunks: AsyncIterable<Uint8Array>
}

/** No response: the server or the network is down. The detail `certificate` means that the certificate is not trusted. */
export class NoAnswer extends Fault {}

/** The limit for servers that answer at once, or with a task. */
export const ANSWER_MS = 60_000
/** Exactly: a name such as 127.example.com is another machine's. */
const LOOPBACK = /^(127\.\d+\.\d+\.\d+|\[::1\]|localhost)$/

/** Whether passwords and tokens may be sent there: with TLS, or in clear text to this machine only. */
export const isSafe = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname))

export const basicHeader = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`

/** Returns when the head of the response has arrived. The caller checks the status. */
export async function sendHttp(server: HttpServer, requested: HttpRequest): Promise<HttpResponse> {
  const { method, path, headers, body, signal, silenceMs } = requested
  const url = new URL(path, server.url)
  // Not imported: an import of node:http makes Node load its WebSocket client, which takes as long as our whole program.
  const { request } =
    url.protocol === 'https:' ? { request: requestHttps } : process.getBuiltinModule('node:http')
  const answer = Promise.withResolvers<IncomingMessage>()
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const sent = request(url, {
    method,
    headers: { ...headers, ...length },
    ...(server.ca !== undefined && { ca: [...rootCertificates, server.ca] }),
    // To this machine each request has a connection of its own: a server may close an idle one just when it is used again.
    ...(url.protocol === 'http:' && { agent: false }),
    ...(silenceMs !== undefined && { timeout: silenceMs }),
    ...(signal && { signal }),
  })
  sent.on('response', answer.resolve)
  // Only then: sockets of Node's own agent report 5 s of silence, which is normal for a long operation.
  if (silenceMs !== undefined) sent.on('timeout', () => sent.destroy(new Error('timed out')))
  sent.on('error', answer.reject)
  sent.end(body)
  const response = await answer.promise.catch((cause: unknown) => {
    throw noAnswer(server, cause)
  })
  const { statusCode: status = 0, headers: received } = response
  return { status, headers: received, chunks: chunksOf(server, response) }
}

async function* chunksOf(
  server: HttpServer,
  response: IncomingMessage,
): AsyncGenerator<Uint8Array, void> {
  try {
    for await (const chunk of response) yield chunk as Uint8Array
  } catch (cause) {
    throw noAnswer(server, cause)
  }
}

export const wholeBody = async ({ chunks }: Pick<HttpResponse, 'chunks'>): Promise<Buffer> =>
  Buffer.concat(await Array.fromAsync(chunks))

function noAnswer({ name, url }: HttpServer, cause: unknown): NoAnswer {
  const said = cause instanceof Error ? cause.message || cause.name : String(cause)
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  const isTrust = /CERT|SELF_SIGNED|ALTNAME|UNABLE_TO_VERIFY/.test(code)
  const why = isTrust ? `its certificate is not trusted (${said})` : said || code
  return new NoAnswer('unavailable', `${name} at ${url} cannot be reached: ${why}`, {
    cause,
    ...(isTrust && { detail: 'certificate' }),
  })
}
