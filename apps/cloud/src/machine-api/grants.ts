import { Fault } from '@skerry/fault'
import type { Peer } from '@skerry/host-api'
import { Compile, Type } from '@skerry/schema'
import { UUID } from '@skerry/vm'

import { endGrant, giveGrant } from '../tenants/grants.ts'
import type { MachineContext } from './context.ts'

const Id = Type.String({ pattern: `^${UUID}$` })
const GrantRequest = Type.Object(
  {
    /** Chosen by the server, so that a repeated request makes no second grant. */
    id: Type.Optional(Id),
    org: Id,
    account: Id,
    kind: Type.Union([Type.Literal('run'), Type.Literal('schedule')]),
    parent: Type.Optional(Id),
  },
  { additionalProperties: false },
)
const compiled = Compile(GrantRequest)

/** Creates a grant for a run, or for a schedule, to act on behalf of a user. */
export async function addGrant({ db }: MachineContext, peer: Peer, body: unknown) {
  if (!compiled.Check(body)) throw new Fault('invalid', 'invalid request for a grant')
  const { id, org, account, kind, parent } = body
  return { id: await giveGrant(db, { id, org, account, kind, parent, server: peer.id }) }
}

/** Also succeeds for a grant that has ended or was never given: it is invalid afterwards, and is not given any more. */
export async function removeGrant({ db }: MachineContext, peer: Peer, id: string) {
  await endGrant(db, id, peer.id)
  return {}
}
