import { isIP } from 'node:net'

import { Fault } from '@skerry/fault'
import type { Peer } from '@skerry/host-api'
import { Type, type Static } from 'typebox'
import { Compile } from 'typebox/compile'

import { noteWorkflowLogin, readAccountStamp } from '../store/workflow-logins.ts'
import { forWorkflows } from './for-workflows.ts'
import type { MachineWorld } from './server.ts'

const Word = Type.String({ minLength: 1, maxLength: 1024, pattern: '^\\P{Cc}+$' })
const Shown = Type.Object(
  {
    ...{ user: Word, org: Word, password: Type.String({ maxLength: 4096 }) },
    /** Where whoever showed them asked from: so that a guess there does not lock others out. */
    address: Type.String({ maxLength: 100 }),
  },
  { additionalProperties: false },
)
const compiled = Compile(Shown)

/** Who shows these credentials to a workflow server: counted and told as a login here would be. */
export async function checkCredentials(world: MachineWorld, peer: Peer, body: unknown) {
  if (!compiled.Check(body) || isIP(body.address.split('%')[0] ?? '') === 0) {
    throw new Fault('invalid', 'these are no credentials, or not from any address')
  }
  const { address, ...credentials }: Static<typeof Shown> = body
  // Read first: what changes while they are looked at makes another stamp.
  const stamp = await readAccountStamp(world.db)
  const { id: account, org, role } = await forWorkflows(world).check(credentials, address)
  const { user, org: orgName } = credentials
  await noteWorkflowLogin(world.db, { server: peer.id, org, account, user, address })
  return { account, org, orgName, user, role, stamp }
}
