import { Fault } from '@skerry/fault'
import type { FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'

import type { Admission } from '../http/admission.ts'
import type { Permission } from '../identity/roles.ts'
import { isUuid } from '../ids.ts'
import type { Database } from '../store/database.ts'
import { whoOfGrant } from '../store/grants.ts'

/** By which a workflow server says for which run it asks. Counts at the machines' door only. */
export const GRANT_HEADER = 'skerry-grant'

/** What only a person does. A run that got hold of either would outlive its grant. */
const personal: readonly Permission[] = ['login', 'vm:console']

/** Whoever asks for a run asks in the name of who started it; what they may is looked up with every call. */
export const byGrant =
  (db: Kysely<Database>): Admission =>
  async ({ permission }, request: FastifyRequest) => {
    const id = request.headers[GRANT_HEADER]
    const who = typeof id === 'string' && isUuid(id) ? await whoOfGrant(db, id) : undefined
    if (!who) {
      throw new Fault('unauthenticated', 'this run may not act for anybody, or not any more')
    }
    if (personal.includes(permission)) {
      throw new Fault('forbidden', `a run of a workflow has no right ${permission}`)
    }
    return { who: { ...who, address: request.ip }, token: '' }
  }
