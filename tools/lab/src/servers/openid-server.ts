// A real OpenID Connect server for a test, on loopback and in this process: oidc-provider, which is certified. Its login page lets in
// a user who gives a name; what it says of people, and its keys, can be changed.
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { text } from 'node:stream/consumers'

import type { Provider } from 'oidc-provider'

import { startIssuer } from '../network/certificates.ts'
import { freePorts } from '../network/ports.ts'

export interface OpenIdServer extends AsyncDisposable {
  readonly issuer: string
  /** The certificate of its issuer, in PEM. */
  readonly ca: string
  readonly client: string
  readonly secret: string
  /** The groups of each person. A person who is missing is in none. */
  readonly groups: Map<string, readonly string[]>
  /** Persons who were renamed, by the name that they log in with. */
  readonly names: Map<string, string>
  /** Signs with another key from now on. */
  rotateKeys(): void
  /** Where logouts are reported from now on. It forgets who is logged in. */
  logoutAt(url: string): void
}

export interface OpenIdServerOptions {
  /** How its host is written: two names are two sites. Default: 127.0.0.1. */
  readonly host?: 'localhost' | '127.0.0.1'
  /** Of the client; read when the server is asked, so that they may be added. */
  readonly redirects: string[]
  /** Sends the form of a logout. */
  readonly deliver?: (url: string, body: string) => Promise<number>
}

const CLIENT = 'skerry'
const SECRET = 'a secret of the client'
/** Before the name that a person logs in with, which may change. */
const SUBJECT = 'subject of '

export async function startOpenIdServer({
  host = '127.0.0.1',
  redirects,
  deliver,
}: OpenIdServerOptions): Promise<OpenIdServer> {
  await using stack = new AsyncDisposableStack()
  const issuing = stack.use(await startIssuer('openid'))
  const tls = await issuing.issue(host === 'localhost' ? 'DNS:localhost' : 'IP:127.0.0.1')
  const port = await freePorts(1)
  const issuer = `https://${host}:${port}`
  const groups = new Map<string, readonly string[]>()
  const names = new Map<string, string>()
  let count = 0
  let logout: string | undefined
  // Only where it is used: most tests of the lab need none.
  const { Provider: Kind } = await import('oidc-provider')
  const make = (): Provider => {
    count += 1
    return makeProvider(Kind, issuer, {
      groups,
      names,
      redirects,
      deliver,
      kid: `key-${count}`,
      logout,
    })
  }
  let provider = make()
  const server = createServer({ key: tls.key, cert: tls.cert }, (request, response) => {
    answer(provider, request, response).catch((error: unknown) => {
      response.writeHead(500).end(String(error))
    })
  }).listen(port, '127.0.0.1')
  await once(server, 'listening')
  stack.defer(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  const all = stack.move()
  return {
    issuer,
    ca: issuing.cert,
    client: CLIENT,
    secret: SECRET,
    groups,
    names,
    rotateKeys() {
      provider = make()
    },
    logoutAt(url) {
      logout = url
      provider = make()
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

interface Parts {
  readonly groups: OpenIdServer['groups']
  readonly names: OpenIdServer['names']
  readonly redirects: readonly string[]
  readonly deliver: OpenIdServerOptions['deliver']
  readonly kid: string
  readonly logout: string | undefined
}

function makeProvider(
  Kind: typeof Provider,
  issuer: string,
  { groups, names, redirects, deliver, kid, logout }: Parts,
): Provider {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const key = { ...privateKey.export({ format: 'jwk' }), kid, use: 'sig', alg: 'RS256' }
  const client = {
    client_id: CLIENT,
    client_secret: SECRET,
    redirect_uris: redirects,
    grant_types: ['authorization_code'],
    response_types: ['code'],
    ...(logout !== undefined && {
      backchannel_logout_uri: logout,
      backchannel_logout_session_required: true,
    }),
  }
  const provider: Provider = new Kind(issuer, {
    clients: [client],
    jwks: { keys: [key] },
    claims: { openid: ['sub'], profile: ['preferred_username'], groups: ['groups'] },
    features: {
      devInteractions: { enabled: false },
      rpInitiatedLogout: { enabled: true },
      backchannelLogout: { enabled: logout !== undefined },
    },
    // It calls no private addresses by itself.
    async fetch(url: string | URL, { body }: { readonly body: URLSearchParams }) {
      const status = await deliver?.(String(url), String(body))
      return new Response(null, { status: status ?? 404 })
    },
    interactions: { url: (_: unknown, { uid }: { readonly uid: string }) => `/person/${uid}` },
    pkce: { required: () => true },
    ttl: { Interaction: 600, Grant: 3600, Session: 3600, AccessToken: 300, IdToken: 300 },
    cookies: { keys: ['lab'] },
    findAccount: (_: unknown, id: string) => ({
      accountId: id,
      claims() {
        const name = id.slice(SUBJECT.length)
        return {
          sub: id,
          preferred_username: names.get(name) ?? name,
          groups: groups.get(name) ?? [],
        }
      },
    }),
    // A user who logs in agrees to everything.
    async loadExistingGrant(context: {
      readonly oidc: { readonly session: { readonly accountId: string } }
    }) {
      const { accountId } = context.oidc.session
      const grant = new provider.Grant({ accountId, clientId: CLIENT })
      grant.addOIDCScope('openid profile groups')
      await grant.save()
      return grant
    },
  })
  return provider
}

const PERSON = /^\/person\/[\w-]+$/

/** The page of a person asks for a name. The test's own pages are answered here, the rest by oidc-provider. */
async function answer(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname } = new URL(request.url ?? '/', 'https://any')
  if (!PERSON.test(pathname)) return provider.callback()(request, response)
  if (request.method === 'POST') {
    const accountId = SUBJECT + (new URLSearchParams(await text(request)).get('name') ?? '')
    return provider.interactionFinished(request, response, { login: { accountId } })
  }
  response.setHeader('content-type', 'text/html')
  response.end(
    '<!doctype html><title>Identity</title><form method="post"><input name="name" aria-label="Name"><button>Go on</button></form>',
  )
}
