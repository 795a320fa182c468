import { Fault } from '@skerry/fault'
import type { Peer } from '@skerry/host-api'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'

import { endGrant, giveGrant } from '../store/grants.ts'
import type { MachineWorld } from './server.ts'

const Id = Type.String({ pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' })
const Asked = Type.Object(
  {
    ...{ org: Id, account: Id },
    kind: Type.Union([Type.Literal('run'), Type.Literal('schedule')]),
    parent: Type.Optional(Id),
  },
  { additionalProperties: false },
)
const compiled = Compile(Asked)

/** Leave for a run, or for a schedule, to act in somebody's name. */
export async function addGrant({ db }: MachineWorld, peer: Peer, body: unknown) {
  if (!compiled.Check(body)) throw new Fault('invalid', 'this is no request for a grant')
  const { org, account, kind, parent } = body
  return { id: await giveGrant(db, { org, account, kind, parent, server: peer.id }) }
}

/** Also of one that is over, or never was: nothing may be done by it afterwards. */
export async function removeGrant({ db }: MachineWorld, peer: Peer, id: string) {
  await endGrant(db, id, peer.id)
  return {}
}
