// An OpenID Connect server that says whatever a test wants, signed with keys of its own or with unknown ones.
import { createHmac, generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:https'

import { freePorts, startIssuer } from '@skerry/lab'

type Claims = Readonly<Record<string, unknown>>
type Answer = (response: ServerResponse) => void

const make = () => generateKeyPairSync('rsa', { modulusLength: 2048 })
const coded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const { publicKey, privateKey } = make()
const stranger = make().privateKey

/** A JSON Web Token. `how`: the algorithm, and whether the key is one that the server publishes. */
export function forge(
  claims: Claims,
  how: 'RS256' | 'none' | 'HS256' | 'stranger' = 'RS256',
  header: Claims = {},
): string {
  const alg = how === 'stranger' ? 'RS256' : how
  const body = `${coded({ alg, kid: 'own', typ: 'JWT', ...header })}.${coded(claims)}`
  return `${body}.${signatureOf(how, body)}`
}

function signatureOf(how: string, body: string): string {
  if (how === 'none') return ''
  if (how === 'HS256') {
    // The old trick: the public key as the secret.
    const known = publicKey.export({ type: 'spki', format: 'pem' })
    return createHmac('sha256', known).update(body).digest('base64url')
  }
  const key: KeyObject = how === 'stranger' ? stranger : privateKey
  return sign('sha256', Buffer.from(body), key).toString('base64url')
}

export const json =
  (value: unknown, status = 200): Answer =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
  }

export interface ForgingServer extends AsyncDisposable {
  readonly issuer: string
  readonly ca: string
  /** By path; what is missing is 404. */
  readonly answers: Map<string, Answer>
  /** How often each path was asked. */
  readonly asked: Map<string, number>
  /** A discovery document with these changes. */
  discovery(changes?: Claims): Answer
}

export async function startForgingServer(): Promise<ForgingServer> {
  await using stack = new AsyncDisposableStack()
  const issuing = stack.use(await startIssuer('forging'))
  const tls = await issuing.issue('IP:127.0.0.1')
  const port = await freePorts(1)
  const issuer = `https://127.0.0.1:${port}`
  const answers = new Map<string, Answer>()
  const asked = new Map<string, number>()
  const server = createServer({ key: tls.key, cert: tls.cert }, (request, response) => {
    const { pathname } = new URL(request.url ?? '/', issuer)
    asked.set(pathname, (asked.get(pathname) ?? 0) + 1)
    request.resume()
    const answer = answers.get(pathname) ?? json({ error: 'not_found' }, 404)
    answer(response)
  }).listen(port, '127.0.0.1')
  await once(server, 'listening')
  stack.defer(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  const discovery = (changes: Claims = {}): Answer =>
    json({
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
      response_types_supported: ['code'],
      id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
      ...changes,
    })
  answers.set('/.well-known/openid-configuration', discovery())
  const key = { ...publicKey.export({ format: 'jwk' }), kid: 'own', use: 'sig', alg: 'RS256' }
  answers.set('/jwks', json({ keys: [key] }))
  const all = stack.move()
  return {
    issuer,
    ca: issuing.cert,
    answers,
    asked,
    discovery,
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}
