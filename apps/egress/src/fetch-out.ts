// Sends one request to an external server: resolves the name once, sends to that address, follows no redirect, bounds everything.
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIPv6 } from 'node:net'

import { Fault } from '@skerry/fault'
import { readBytes } from '@skerry/service'

import { findTarget, chooseAddress, type EgressRule, type EgressTarget } from './allowed.ts'

export interface OutboundRequest {
  readonly method: string
  readonly uri: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Buffer
}
export interface OutboundResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

export interface OutboundOptions {
  /** Resolves all addresses of a name. Called once for each request. */
  readonly resolve: (host: string) => Promise<readonly string[]>
  readonly limits: OutLimits
  /** CA certificates to trust instead of the public ones; for tests. */
  readonly ca?: string
}
export interface OutLimits {
  readonly timeMs: number
  readonly bodyBytes: number
  readonly answerBytes: number
}
export const outLimits: OutLimits = {
  timeMs: 30_000,
  bodyBytes: 256 * 1024,
  answerBytes: 256 * 1024,
}

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
/** Headers that only the egress sets: destination, length and transport. */
const ours =
  /^(host|content-length|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|proxy-.*|http2-settings)$/i

export async function fetchOut(
  way: OutboundOptions,
  rules: readonly EgressRule[],
  outgoing: OutboundRequest,
  signal: AbortSignal,
): Promise<OutboundResponse> {
  const { method, headers, body } = outgoing
  if (!methods.has(method)) throw new Fault('invalid', `the method ${method} is not allowed`)
  const forbidden = Object.keys(headers).find((name) => ours.test(name))
  if (forbidden !== undefined) throw new Fault('invalid', `the header ${forbidden} must not be set`)
  if ((body?.length ?? 0) > way.limits.bodyBytes) {
    throw new Fault('invalid', `the request body is larger than ${way.limits.bodyBytes} bytes`)
  }
  const target = findTarget(rules, outgoing.uri)
  const over = AbortSignal.any([signal, AbortSignal.timeout(way.limits.timeMs)])
  try {
    const found =
      target.address === undefined ? await lookUp(way, target.host, over) : [target.address]
    return await send(way, target, chooseAddress(target, found), outgoing, over)
  } catch (error) {
    throw toFault(error, target, over)
  }
}

async function lookUp(
  way: OutboundOptions,
  host: string,
  over: AbortSignal,
): Promise<readonly string[]> {
  const aborted = Promise.withResolvers<never>()
  const abort = () => aborted.reject(over.reason)
  over.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([way.resolve(host), aborted.promise])
  } finally {
    over.removeEventListener('abort', abort)
  }
}

async function send(
  way: OutboundOptions,
  { url, host, port, address: literal }: EgressTarget,
  address: string,
  { method, headers, body }: OutboundRequest,
  signal: AbortSignal,
): Promise<OutboundResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const secure = url.protocol === 'https:'
  const request = (secure ? requestHttps : requestHttp)(
    {
      method,
      signal,
      agent: false,
      maxHeaderSize: 16 * 1024,
      // The name is not resolved again; it is sent in the host header only.
      host: address,
      port,
      path: `${url.pathname}${url.search}`,
      setHost: false,
      family: isIPv6(address) ? 6 : 4,
      headers: { 'accept-encoding': 'identity', ...headers, host: url.host },
      // SNI cannot carry an address; the certificate is then checked against `host`.
      ...(secure && { servername: literal === undefined ? host : '', rejectUnauthorized: true }),
      ...(secure && way.ca !== undefined && { ca: way.ca }),
    },
    resolve,
  )
  request.on('error', reject)
  // A response that takes over the connection is rejected.
  request.on('upgrade', (_, socket) => {
    socket.destroy()
    reject(new Fault('unavailable', `${host} tried to switch to another protocol`))
  })
  request.end(body)
  const response = await promise
  const { answerBytes } = way.limits
  const bytes = await readBytes(response, answerBytes, () => {
    request.destroy()
    return new Fault('no-room', `the response of ${host} is larger than ${answerBytes} bytes`)
  })
  return { status: response.statusCode ?? 0, headers: headersOf(response), body: bytes }
}

const headersOf = ({ headersDistinct }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headersDistinct).map(([name, values]) => [name, (values ?? []).join(', ')]),
  )

function toFault(error: unknown, { host }: EgressTarget, over: AbortSignal): unknown {
  if (error instanceof Fault) return error
  if (over.aborted) return new Fault('timed-out', `${host} timed out`, { cause: error })
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code.startsWith('ERR_INVALID') || code === 'ERR_UNESCAPED_CHARACTERS') {
    return new Fault('invalid', 'a header or the URL contains characters that cannot be sent')
  }
  return new Fault('unavailable', `cannot connect to ${host}${code === '' ? '' : `: ${code}`}`, {
    cause: error,
  })
}
