// One request to somebody else's server: looked up once, sent to that very address, never further, bounded in every way.
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIPv6 } from 'node:net'

import { Fault } from '@skerry/fault'

import { allow, chooseAddress, type Rule, type Target } from './allowed.ts'

export interface Outgoing {
  readonly method: string
  readonly uri: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Buffer
}
export interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

export interface Way {
  /** All addresses of a name. Asked once for each request. */
  readonly resolve: (host: string) => Promise<readonly string[]>
  readonly limits: OutLimits
  /** Other issuers of certificates than the public ones; for a test. */
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
/** Said by us and nobody else: whom it is for, how long it is, and how it travels. */
const ours =
  /^(host|content-length|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|proxy-.*|http2-settings)$/i

export async function fetchOut(
  way: Way,
  rules: readonly Rule[],
  outgoing: Outgoing,
  signal: AbortSignal,
): Promise<Answered> {
  const { method, headers, body } = outgoing
  if (!methods.has(method)) throw new Fault('invalid', `${method} is no method that is sent`)
  const forbidden = Object.keys(headers).find((name) => ours.test(name))
  if (forbidden !== undefined)
    throw new Fault('invalid', `the header ${forbidden} is not to be set`)
  if ((body?.length ?? 0) > way.limits.bodyBytes) {
    throw new Fault('invalid', `a body may have ${way.limits.bodyBytes} bytes`)
  }
  const target = allow(rules, outgoing.uri)
  const over = AbortSignal.any([signal, AbortSignal.timeout(way.limits.timeMs)])
  try {
    const found =
      target.address === undefined ? await lookUp(way, target.host, over) : [target.address]
    return await send(way, target, chooseAddress(target, found), outgoing, over)
  } catch (error) {
    throw toFault(error, target, over)
  }
}

async function lookUp(way: Way, host: string, over: AbortSignal): Promise<readonly string[]> {
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
  way: Way,
  { url, host, port, address: literal }: Target,
  address: string,
  { method, headers, body }: Outgoing,
  signal: AbortSignal,
): Promise<Answered> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const secure = url.protocol === 'https:'
  const request = (secure ? requestHttps : requestHttp)(
    {
      ...{ method, signal, agent: false, maxHeaderSize: 16 * 1024 },
      // The name is not looked up again: it is only said.
      ...{ host: address, port, path: `${url.pathname}${url.search}`, setHost: false },
      family: isIPv6(address) ? 6 : 4,
      headers: { 'accept-encoding': 'identity', ...headers, host: url.host },
      // TLS has no way to ask for an address; what is shown is then judged by `host`.
      ...(secure && { servername: literal === undefined ? host : '', rejectUnauthorized: true }),
      ...(secure && way.ca !== undefined && { ca: way.ca }),
    },
    resolve,
  )
  request.on('error', reject)
  // An answer that takes over the connection is none.
  request.on('upgrade', (_, socket) => {
    socket.destroy()
    reject(new Fault('unavailable', `${host} wants to speak something else than HTTP`))
  })
  request.end(body)
  const response = await promise
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of response as AsyncIterable<Buffer>) {
    size += piece.length
    if (size > way.limits.answerBytes) {
      request.destroy()
      throw new Fault(
        'no-room',
        `the answer of ${host} is larger than ${way.limits.answerBytes} bytes`,
      )
    }
    pieces.push(piece)
  }
  return {
    status: response.statusCode ?? 0,
    headers: headersOf(response),
    body: Buffer.concat(pieces),
  }
}

const headersOf = ({ headersDistinct }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headersDistinct).map(([name, values]) => [name, (values ?? []).join(', ')]),
  )

function toFault(error: unknown, { host }: Target, over: AbortSignal): unknown {
  if (error instanceof Fault) return error
  if (over.aborted)
    return new Fault('timed-out', `${host} did not answer in time`, { cause: error })
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code.startsWith('ERR_INVALID') || code === 'ERR_UNESCAPED_CHARACTERS') {
    return new Fault('invalid', 'a header or the address has letters in it that cannot be sent')
  }
  return new Fault(
    'unavailable',
    `${host} could not be spoken to${code === '' ? '' : `: ${code}`}`,
    {
      cause: error,
    },
  )
}
