// What a cell serves beside its API: the web UI, logins with OpenID Connect, and the workflow servers for the UI.
import { randomBytes } from 'node:crypto'

import type { FastifyInstance } from 'fastify'

import { DeviceLogins } from '../src/auth/device-logins.ts'
import { OpenIdLogins } from '../src/auth/openid-logins.ts'
import { Passkeys, type PasskeyContext } from '../src/auth/passkeys.ts'
import { OpenIdServers } from '../src/directories/ask-openid.ts'
import { serveDevices } from '../src/web-ui/device-pages.ts'
import { serveLogins } from '../src/web-ui/login-pages.ts'
import { passToWorkflows } from '../src/web-ui/pass-to-workflows.ts'
import { servePasskeys } from '../src/web-ui/passkey-pages.ts'
import { servePages, type WebUi } from '../src/web-ui/serve-pages.ts'
import type { WorkflowServers } from '../src/web-ui/workflow-servers.ts'
import { seal } from './cloud-database.ts'

export const secret = (): string => randomBytes(32).toString('base64url')

export function makeLogins({
  base,
  ...given
}: Pick<PasskeyContext, 'db' | 'sessions' | 'requireProof'> & { readonly base: string }) {
  const now = () => performance.now()
  const servers = new OpenIdServers({ now })
  const logins = new OpenIdLogins({ ...given, servers, seal, secret, base: new URL(base) })
  const devices = new DeviceLogins(given.db, secret, now)
  const passkeys = new Passkeys({ ...given, now, secret, base: new URL(base) })
  return { logins, devices, passkeys, openIdServers: servers }
}

export interface Logins {
  readonly logins: OpenIdLogins
  readonly devices: DeviceLogins
  readonly passkeys: Passkeys
}

export const pagesOf =
  (
    ui: Omit<WebUi, 'version'>,
    workflows?: WorkflowServers,
    { logins, devices, passkeys }: Partial<Logins> = {},
  ) =>
  (server: FastifyInstance): void => {
    servePages({ ...ui, version: '0.1.0', hasWorkflows: workflows !== undefined })(server)
    if (workflows) passToWorkflows({ ...ui, workflows })(server)
    const isShared = () => false
    if (logins) serveLogins({ ...ui, logins, secret, isShared })(server)
    if (devices) serveDevices({ ...ui, devices, isShared })(server)
    if (passkeys) servePasskeys({ ...ui, passkeys, secret, isShared })(server)
  }
