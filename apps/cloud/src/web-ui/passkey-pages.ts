// Passkeys for pages of the web UI: scripts have API tokens.
import { Fault } from '@skerry/fault'
import { isFromPage } from '@skerry/service'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

import type { Passkeys } from '../auth/passkeys.ts'
import { codeIn, setCookie } from '../http/page-request.ts'
import { checkName } from '../params/named.ts'
import {
  attemptCookie,
  browserIn,
  jsonIn,
  principalOf,
  sendJson,
  type PageRequests,
} from './page-requests.ts'

export interface PasskeyPages extends PageRequests {
  readonly passkeys: Passkeys
  readonly secret: () => string
  /** Whether many clients have this address. */
  readonly isShared: (address: string) => boolean
}

/** As long as a person may take at an identity server: the cookie is the same. */
const BROWSER_SECONDS = 600

/** Adds the addresses of passkeys to the listener that serves the web UI. */
export const servePasskeys =
  (pages: PasskeyPages) =>
  (server: FastifyInstance): void => {
    const { passkeys, dialect } = pages
    const name = (of: string) => ({ config: { name: of } })
    server.post('/login/passkey/challenge', name('beginPasskey'), async (request, reply) => {
      requirePage(pages, request)
      const browser = browserOf(pages, request, reply)
      return sendJson(pages, reply, 200, await passkeys.ask(cameFrom(pages, request, browser)))
    })
    server.post('/login/passkey', name('logInWithPasskey'), async (request, reply) => {
      requirePage(pages, request)
      const token = await passkeys.logIn(jsonIn(request), knownBrowser(pages, request))
      reply.header('set-cookie', setCookie(dialect.pageCookie ?? '', token))
      return sendJson(pages, reply, 200, {})
    })
    server.post('/login/passkey/proof', name('provePasskey'), async (request, reply) => {
      const principal = await principalOf(pages, request)
      const came = knownBrowser(pages, request)
      return sendJson(pages, reply, 200, {
        code: await passkeys.prove(principal, jsonIn(request), came),
      })
    })
    server.post('/login/passkeys/challenge', name('beginNewPasskey'), async (request, reply) => {
      const principal = await principalOf(pages, request)
      const asking = cameFrom(pages, request, browserOf(pages, request, reply))
      const code = codeIn(request, dialect)
      return sendJson(pages, reply, 200, await passkeys.askForNew(principal, code, asking))
    })
    server.post('/login/passkeys', name('addPasskey'), async (request, reply) => {
      const principal = await principalOf(pages, request)
      const came = knownBrowser(pages, request)
      const code = await passkeys.add(principal, newPasskeyIn(request), came)
      return sendJson(pages, reply, 201, { code })
    })
  }

/** Another site must not log its visitor in: no one would notice as whom. */
function requirePage({ base }: PasskeyPages, request: FastifyRequest): void {
  if (isFromPage(request, base.origin)) return
  throw new Fault('forbidden', 'this address is for pages of this cloud', {
    hint: 'a script logs in with an API token',
  })
}

/** The browser keeps its secret while it is at identity servers at the same time. */
function browserOf(
  { dialect, secret }: PasskeyPages,
  request: FastifyRequest,
  reply: FastifyReply,
): string {
  const browser = browserIn(request, dialect) ?? secret()
  reply.header('set-cookie', attemptCookie(dialect, browser, BROWSER_SECONDS))
  return browser
}

const cameFrom = (
  { isShared }: PasskeyPages,
  { ip: address }: FastifyRequest,
  browser: string,
) => ({
  browser,
  address,
  isShared: isShared(address),
})

/** A browser without the cookie was given no challenge. */
const knownBrowser = ({ dialect }: PasskeyPages, request: FastifyRequest) => ({
  browser: browserIn(request, dialect) ?? '',
  address: request.ip,
})

function newPasskeyIn(request: FastifyRequest): {
  readonly name: string
  readonly answer: unknown
} {
  const { name, passkey: answer } = (jsonIn(request) ?? {}) as Readonly<Record<string, unknown>>
  return { name: checkName(typeof name === 'string' ? name : ''), answer }
}
