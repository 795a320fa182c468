import { Fault } from '@skerry/fault'
import type { FastifyRequest } from 'fastify'

import type { Who } from '../identity/authorize.ts'
import type { Sessions } from '../identity/sessions.ts'
import type { CloudRoute } from '../route.ts'
import { readBasic } from './basic.ts'
import type { Dialect } from './dialect.ts'

/** Who asks, as a door finds out; a door has one way to. Not asked where anybody may. */
export type Admission = (
  row: Pick<CloudRoute, 'permission'>,
  request: FastifyRequest,
) => Promise<{ readonly who: Who; readonly token: string }>

/** The tenants' way in: a password once, from then on the token that it brought. */
export const byToken =
  (sessions: Sessions, { tokenHeader }: Dialect): Admission =>
  async ({ permission }, { headers, ip }) => {
    if (permission === 'login') return sessions.logIn(readBasic(headers.authorization), ip)
    const token = saidIn(headers[tokenHeader])
    const who = token === undefined ? undefined : await sessions.find(token)
    if (who && token !== undefined) return { who: { ...who, address: ip }, token }
    throw new Fault('unauthenticated', `send a valid token in the header ${tokenHeader}`, {
      hint: 'log in: POST /api/sessions with the credentials of user@organisation',
    })
  }

/** There are clients that send the header twice; whoever says two different things says nothing. */
function saidIn(header: string | readonly string[] | undefined): string | undefined {
  const [token, ...others] = new Set([header ?? []].flat().flatMap((each) => each.split(', ')))
  return others.length === 0 ? token : undefined
}
