// Logins of programs without a browser, as RFC 8628 describes them, and what the page for their codes asks.
import { Fault } from '@skerry/fault'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

import { deviceBounds, shownCode, type DeviceLogins } from '../auth/device-logins.ts'
import { requireSecondFactor, type Principal } from '../domain/authorize.ts'
import { Hrefs } from '../http/links.ts'
import { jsonIn, principalOf, sendJson as send, type PageRequests } from './page-requests.ts'

export interface DevicePages extends PageRequests {
  readonly devices: DeviceLogins
  readonly isShared: (address: string) => boolean
}

const GRANT = 'urn:ietf:params:oauth:grant-type:device_code'

export const serveDevices =
  (pages: DevicePages) =>
  (server: FastifyInstance): void => {
    const to = (path: string): string => new URL(path, pages.base).href
    const metadata = {
      issuer: pages.base.origin,
      device_authorization_endpoint: to('/api/oauth/device'),
      token_endpoint: to('/api/oauth/token'),
      token_endpoint_auth_methods_supported: ['none'],
      grant_types_supported: [GRANT],
      response_types_supported: [],
    }
    const name = (of: string) => ({ config: { name: of } })
    server.get(
      '/.well-known/oauth-authorization-server',
      name('readOauthMetadata'),
      async (_request, reply) => send(pages, reply, 200, metadata),
    )
    server.post('/api/oauth/device', name('beginDeviceLogin'), async (request, reply) => {
      const { ip } = request
      const wanted = formIn(request).get('client_name') ?? ''
      const { device, code } = await pages.devices.begin(wanted, ip, pages.isShared(ip))
      const page = to('/ui/device')
      return send(pages, reply, 200, {
        device_code: device,
        user_code: shownCode(code),
        verification_uri: page,
        verification_uri_complete: `${page}?code=${shownCode(code)}`,
        expires_in: deviceBounds.seconds,
        interval: deviceBounds.intervalSeconds,
      })
    })
    server.post('/api/oauth/token', name('takeDeviceToken'), (request, reply) =>
      giveToken(pages, request, reply),
    )
    server.get('/login/device', name('readDeviceLogin'), async (request, reply) => {
      const code = new URLSearchParams((request.raw.url ?? '').split('?')[1]).get('code') ?? ''
      const principal = await personOf(pages, request)
      return send(pages, reply, 200, await pages.devices.find(principal, code))
    })
    server.post('/login/device', name('answerDeviceLogin'), async (request, reply) => {
      const principal = await personOf(pages, request)
      const { code, isAllowed } = answerIn(request)
      await pages.devices.answer(principal, code, isAllowed)
      return send(pages, reply, 200, {})
    })
  }

const formIn = ({ body }: FastifyRequest): URLSearchParams =>
  new URLSearchParams(typeof body === 'string' ? body : '')

async function giveToken(
  pages: DevicePages,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const form = formIn(request)
  if (form.get('grant_type') !== GRANT) {
    return send(pages, reply, 400, { error: 'unsupported_grant_type' })
  }
  const given = await pages.devices.take(form.get('device_code') ?? '')
  if (typeof given === 'string') return send(pages, reply, 400, { error: given })
  const href = new Hrefs(pages.base).accessToken(given.id)
  return send(pages, reply, 200, { access_token: given.token, token_type: 'Bearer', href })
}

/** No other site and no script can let a program in. */
async function personOf(pages: DevicePages, request: FastifyRequest): Promise<Principal> {
  const principal = await principalOf(pages, request)
  requireSecondFactor(principal)
  return principal
}

function answerIn(request: FastifyRequest): {
  readonly code: string
  readonly isAllowed: boolean
} {
  const { code, isAllowed } = (jsonIn(request) ?? {}) as Readonly<Record<string, unknown>>
  if (typeof code === 'string' && typeof isAllowed === 'boolean') return { code, isAllowed }
  throw new Fault('invalid', 'the body must be JSON with code and isAllowed')
}
