// Logins with OpenID Connect, beside the web UI: a browser is sent to an identity server, comes back, and has a session.
import { Fault } from '@skerry/fault'
import { pageHeaders } from '@skerry/service'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

import type { OpenIdLogins } from '../auth/openid-logins.ts'
import type { Dialect } from '../dialect/dialect.ts'
import { Unproved } from '../directories/ask-openid.ts'
import { setCookie } from '../http/page-request.ts'
import { attemptCookie, browserIn } from './page-requests.ts'

export interface LoginPages {
  readonly logins: OpenIdLogins
  readonly dialect: Dialect
  readonly base: URL
  readonly secret: () => string
  /** Whether many clients have this address. */
  readonly isShared: (address: string) => boolean
  readonly moreHeaders?: () => Readonly<Record<string, string>>
}

type ProviderRequest = FastifyRequest<{ Params: { provider: string } }>

const ATTEMPT_SECONDS = 600
const QUERY_MAX = 8192
const TOKEN_MAX = 16_384

/** A page of the web UI, and nothing else: the address comes from outside. */
export function returnTo(text: string | null, base: URL): string {
  const to = /^\/[\x21-\x5b\x5d-\x7e]*$/.test(text ?? '') ? URL.parse(text ?? '', base) : null
  const isPage = to?.origin === base.origin && to.pathname.startsWith('/ui/')
  return isPage ? to.pathname + to.search + to.hash : '/ui/'
}

/** Browsers set this header themselves. Another site must not begin a login: its user would not notice as whom. */
const isBegunHere = ({ headers }: FastifyRequest): boolean =>
  headers['sec-fetch-site'] === 'same-origin' || headers['sec-fetch-site'] === 'none'

const queryIn = ({ raw }: FastifyRequest): URLSearchParams => {
  const query = (raw.url ?? '').split('?')[1] ?? ''
  if (query.length > QUERY_MAX) throw new Fault('invalid', 'the query is too long')
  return new URLSearchParams(query)
}

/** Adds the addresses of logins in the browser to the listener that serves the web UI. */
export const serveLogins =
  (pages: LoginPages) =>
  (server: FastifyInstance): void => {
    server.get(
      '/login/servers',
      { config: { name: 'listLoginServers' } },
      async (request, reply) => {
        const servers = await pages.logins.list(queryIn(request).get('org') ?? '')
        return headed(pages, reply).type('application/json').send(JSON.stringify(servers))
      },
    )
    server.get('/login/:provider', { config: { name: 'beginLogin' } }, (request, reply) =>
      begin(pages, request as ProviderRequest, reply),
    )
    server.get('/login/:provider/back', { config: { name: 'completeLogin' } }, (request, reply) =>
      complete(pages, request as ProviderRequest, reply),
    )
    server.post('/login/:provider/logout', { config: { name: 'hearLogout' } }, (request, reply) =>
      hearLogout(pages, request as ProviderRequest, reply),
    )
  }

const headed = ({ moreHeaders }: LoginPages, reply: FastifyReply): FastifyReply =>
  reply.headers({ ...pageHeaders(), ...moreHeaders?.(), 'cache-control': 'no-store' })

/** The browser keeps its secret while it is at several identity servers at once. */
async function begin(
  pages: LoginPages,
  request: ProviderRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { logins, dialect, base, secret, isShared } = pages
  if (!isBegunHere(request)) return headed(pages, reply).redirect('/ui/login', 303)
  const { provider } = request.params
  const browser = browserIn(request, dialect) ?? secret()
  const { ip: address } = request
  const to = returnTo(queryIn(request).get('to'), base)
  try {
    const asking = { provider, browser, address, isShared: isShared(address) }
    const away = await logins.begin({ ...asking, returnTo: to })
    const cookie = attemptCookie(dialect, browser, ATTEMPT_SECONDS)
    return await headed(pages, reply).header('set-cookie', cookie).redirect(away.href, 303)
  } catch (error) {
    if (error instanceof Unproved) return back(pages, reply, 'unproved')
    if (error instanceof Fault && error.kind === 'unavailable') {
      return back(pages, reply, 'unavailable')
    }
    throw error
  }
}

async function complete(
  pages: LoginPages,
  request: ProviderRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { logins, dialect } = pages
  const browser = browserIn(request, dialect) ?? ''
  const asking = { provider: request.params.provider, browser, address: request.ip }
  const done = await logins.complete(asking, queryIn(request)).catch((error: unknown) => {
    if (error instanceof Fault && error.kind === 'unavailable') return 'unavailable' as const
    throw error
  })
  if (typeof done === 'string') return back(pages, reply, done)
  const cookies = [setCookie(dialect.pageCookie ?? '', done.token)]
  return headed(pages, reply).header('set-cookie', cookies).redirect(done.returnTo, 303)
}

/** Sent by the identity server itself. It is done also if there was no such session. */
async function hearLogout(
  pages: LoginPages,
  request: ProviderRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const form = new URLSearchParams(typeof request.body === 'string' ? request.body : '')
  const token = form.get('logout_token') ?? ''
  try {
    if (token.length > TOKEN_MAX) throw new Unproved('it is too long')
    await pages.logins.logOut(request.params.provider, token)
    return await headed(pages, reply).code(200).send()
  } catch (error) {
    if (!(error instanceof Unproved)) throw error
    const why = { error: 'invalid_request', error_description: error.message }
    return headed(pages, reply).code(400).type('application/json').send(JSON.stringify(why))
  }
}

/** The login page has a text for the problem: none comes from the address. */
const back = (pages: LoginPages, reply: FastifyReply, problem: string): FastifyReply =>
  headed(pages, reply).redirect(`/ui/login?problem=${problem}`, 303)
