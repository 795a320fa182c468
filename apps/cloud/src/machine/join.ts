import { Fault } from '@skerry/fault'
import { readRequest } from '@skerry/service'
import { Type, type Static } from 'typebox'
import { Compile } from 'typebox/compile'

import { issueHost } from '../identity/issuers.ts'
import { useInvitation } from '../store/invitations.ts'
import type { MachineWorld } from './server.ts'

const Word = Type.String({ pattern: '^[A-Za-z0-9_.:-]{1,253}$' })
const Join = Type.Object(
  {
    token: Type.String({ minLength: 1, maxLength: 100 }),
    csr: Type.String({ maxLength: 8192 }),
    name: Word,
    address: Word,
    port: Type.Integer({ minimum: 1, maximum: 65_535 }),
    /** Which host it is already, and wants to remain. */
    host: Type.Optional(Word),
  },
  { additionalProperties: false },
)
const compiled = Compile(Join)

/** A certificate for a machine that brings an invitation. The cloud says which host it is. */
export async function join(world: MachineWorld, body: unknown) {
  if (!compiled.Check(body)) throw new Fault('invalid', 'this is no request to join')
  const { csr, ...arriving }: Static<typeof Join> = body
  const { name, trusted, issuers } = world.identity()
  if (!issuers) throw new Fault('unavailable', 'this cell may not issue: ask another')
  // Read first: an invitation must not be spent by what is no request.
  const publicKey = await readRequest(csr)
  const host = await useInvitation(world.db, { ...arriving, publicKey })
  const { cloud } = name
  const certificate = await issueHost(issuers, { cloud, id: host }, publicKey, world.issuing)
  return { cloud, host, certificate, issuers: trusted.control }
}
