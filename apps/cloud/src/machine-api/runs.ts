import type { IncomingMessage } from 'node:http'

import { Fault } from '@skerry/fault'
import { isUuid } from '@skerry/vm'
import type { FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'

import type { CloudTables } from '../database/tables.ts'
import type { Permission } from '../domain/roles.ts'
import type { Admission } from '../http/admission.ts'
import { whoOfGrant } from '../tenants/grants.ts'

/** The header in which a workflow server names the grant of a run. Only the machine API reads it. */
export const GRANT_HEADER = 'skerry-grant'

/** The workflow server that sent a request, according to its certificate. */
const senders = new WeakMap<IncomingMessage, string>()
export const noteSender = (request: IncomingMessage, server: string): void =>
  void senders.set(request, server)

/** Rights for people only. A run that obtained a session or a screen would outlive its grant. */
const personal: readonly Permission[] = ['login', 'vm:console']

/** A run acts on behalf of the user who started it; the rights of that user are read at every call. */
export const byGrant =
  (db: Kysely<CloudTables>): Admission =>
  async ({ permission }, request: FastifyRequest) => {
    const id = request.headers[GRANT_HEADER]
    const server = senders.get(request.raw)
    const principal =
      typeof id === 'string' && isUuid(id) && server !== undefined
        ? await whoOfGrant(db, id, server)
        : undefined
    if (!principal) {
      throw new Fault('unauthenticated', 'the grant of this run is missing or has ended')
    }
    if (personal.includes(permission)) {
      throw new Fault('forbidden', `a workflow run never has the right ${permission}`)
    }
    return { principal: { ...principal, address: request.ip }, token: '' }
  }
