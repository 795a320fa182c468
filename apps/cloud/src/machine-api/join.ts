import { Fault } from '@skerry/fault'
import { Compile, type Static, Type } from '@skerry/schema'
import { readRequest } from '@skerry/service'

import { useInvitation } from '../identity/invitations.ts'
import { issueHost } from '../identity/issuers.ts'
import type { MachineContext } from './context.ts'

const Word = Type.String({ pattern: '^[A-Za-z0-9_.:-]{1,253}$' })
const Join = Type.Object(
  {
    token: Type.String({ minLength: 1, maxLength: 100 }),
    csr: Type.String({ maxLength: 8192 }),
    name: Word,
    address: Word,
    port: Type.Integer({ minimum: 1, maximum: 65_535 }),
    /** The host id that it already has, and wants to keep. */
    host: Type.Optional(Word),
  },
  { additionalProperties: false },
)
const compiled = Compile(Join)

/** Issues a certificate to a machine with an invitation. The cloud assigns the host id. */
export async function join(context: MachineContext, body: unknown) {
  if (!compiled.Check(body)) throw new Fault('invalid', 'invalid request to join')
  const { csr, ...arriving }: Static<typeof Join> = body
  const { name, trusted, issuers } = context.identity()
  if (!issuers)
    throw new Fault('unavailable', 'this cell may not issue certificates: use another cell')
  // Read first: an invalid request must not use up the invitation.
  const publicKey = await readRequest(csr)
  const host = await useInvitation(context.db, { ...arriving, publicKey })
  const { cloud } = name
  const certificate = await issueHost(issuers, { cloud, id: host }, publicKey, context.issuing)
  return { cloud, host, certificate, issuers: trusted.control }
}
