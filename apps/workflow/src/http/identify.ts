import type { Admit } from '@skerry/host-api'
import type { FastifyRequest } from 'fastify'

import type { WorkflowPrincipal } from '../identity/rights.ts'
import type { Authenticator } from './authenticator.ts'

/** Identifies the caller of a request; each listener has one way to do that. undefined: unknown. */
export type Identify = (
  request: Pick<FastifyRequest, 'headers' | 'ip' | 'raw'>,
  use: 'read' | 'change',
) => Promise<WorkflowPrincipal | undefined>

/** The header in which a cell passes on the session of the web UI. */
export const SESSION_HEADER = 'x-cloud-authorization'

/** The public listener: every request carries a password. A session in a header counts for nothing here. */
export const byPassword =
  (authenticator: Authenticator): Identify =>
  ({ headers, ip }, use) =>
    authenticator.verify(headers.authorization, ip, use)

/** The listener for cells: the certificate must be a cell's, and the cloud says whose session it is. */
export const bySession =
  (find: (token: string) => Promise<WorkflowPrincipal | undefined>, admit: Admit): Identify =>
  async ({ headers, raw }) => {
    await admit(raw.socket, ['cell'])
    const token = headers[SESSION_HEADER]
    return typeof token === 'string' && token !== '' ? find(token) : undefined
  }
