// The way to identity servers that speak HTTP. The discovery document of one names addresses that a cell then asks: none of them leads
// into networks of ours.
import { lookup } from 'node:dns/promises'
import { request } from 'node:https'
import { isIPv6 } from 'node:net'

import { Fault } from '@skerry/fault'
import { isPublic, plainAddress } from '@skerry/service'

/** What an identity server may take and send. */
export const answerBounds = { ms: 5000, bytes: 256 * 1024 } as const

export interface Guard {
  /** The host of the issuer, which a system administrator has chosen: it may be inside our networks. */
  readonly trusted: string
  /** PEM certificates of issuers; undefined: those that Node.js trusts. */
  readonly ca?: string | undefined
  /** Default: the resolver of this machine. */
  readonly resolve?: (host: string) => Promise<readonly string[]>
}

interface Sent {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
}

/** One request by HTTPS. A name is resolved once, a redirection is returned and not followed, time and size are limited. */
export async function guardedFetch(guard: Guard, address: string, sent: Sent): Promise<Response> {
  const url = new URL(address)
  if (url.protocol !== 'https:' || url.username !== '' || url.password !== '') {
    throw unavailable(`${url.origin} is no plain HTTPS address`)
  }
  const signal = AbortSignal.timeout(answerBounds.ms)
  try {
    const { promise, reject } = Promise.withResolvers<never>()
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
    const [chosen, host] = await Promise.race([choose(guard, url), promise])
    return await send(guard, { url, host, address: chosen, signal }, sent)
  } catch (error) {
    if (error instanceof Fault) throw error
    const why = error instanceof Error ? error.message : String(error)
    throw unavailable(
      signal.aborted ? `${url.host} does not answer in time` : `${url.host}: ${why}`,
      error,
    )
  }
}

const unavailable = (message: string, cause?: unknown): Fault =>
  new Fault('unavailable', message, { cause, hint: 'try again later' })

const resolveHere = async (host: string): Promise<readonly string[]> =>
  (await lookup(host, { all: true })).map(({ address }) => address)

/** The address to ask. All addresses of a name must be allowed: one that has an internal one among others is likely an attack. */
async function choose(
  { trusted, resolve = resolveHere }: Guard,
  url: URL,
): Promise<readonly [address: string, host: string]> {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const literal = plainAddress(host)
  const found = literal === undefined ? await resolve(host) : [literal]
  const plain = found.map((each) => plainAddress(each))
  const wrong = plain.find((each) => each === undefined || (host !== trusted && !isPublic(each)))
  const [first] = plain
  if (first === undefined || wrong !== undefined) {
    throw unavailable(`${host} is neither the host of the issuer nor public`)
  }
  return [first, host]
}

interface Target {
  readonly url: URL
  readonly host: string
  readonly address: string
  readonly signal: AbortSignal
}

async function send(
  { ca }: Guard,
  { url, host, address, signal }: Target,
  { method, headers, body }: Sent,
): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>()
  const asked = request(
    {
      method,
      signal,
      agent: false,
      maxHeaderSize: 16 * 1024,
      // The name is not resolved again.
      host: address,
      port: url.port === '' ? 443 : Number(url.port),
      path: `${url.pathname}${url.search}`,
      setHost: false,
      family: isIPv6(address) ? 6 : 4,
      headers: { ...headers, 'accept-encoding': 'identity', host: url.host },
      minVersion: 'TLSv1.2',
      // SNI cannot carry an address; the certificate is then checked against `host`.
      servername: plainAddress(host) === undefined ? host : '',
      ...(ca !== undefined && { ca }),
    },
    (response) => {
      const pieces: Buffer[] = []
      let size = 0
      response.on('data', (piece: Buffer) => {
        size += piece.length
        pieces.push(piece)
        if (size > answerBounds.bytes) asked.destroy(new Error('the answer is too large'))
      })
      response.on('end', () => {
        const { statusCode: status = 502, headers: given } = response
        const type = given['content-type'] ?? ''
        const isEmpty = status === 204 || status === 304
        const answer = isEmpty ? null : Buffer.concat(pieces)
        resolve(new Response(answer, { status, headers: { 'content-type': type } }))
      })
      response.on('error', reject)
    },
  )
  asked.on('error', reject)
  asked.end(body)
  return promise
}
