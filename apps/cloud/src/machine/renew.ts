import { Fault } from '@skerry/fault'
import type { Peer } from '@skerry/host-api'
import { readRequest } from '@skerry/service'

import { issueControl, issueHost } from '../identity/issuers.ts'
import { readCloud, recordKey } from '../store/machines.ts'
import type { MachineWorld } from './server.ts'

/** The same name for a new key, over the old certificate. Whoever was revoked did not get so far. */
export async function renew(world: MachineWorld, peer: Peer, body: unknown) {
  const { csr } = (body ?? {}) as { csr?: unknown }
  if (typeof csr !== 'string') throw new Fault('invalid', 'this is no request for a certificate')
  const { trusted, issuers } = world.identity()
  if (!issuers) throw new Fault('unavailable', 'this cell may not issue: ask another')
  const publicKey = await readRequest(csr)
  if (peer.role !== 'host') {
    const { epoch } = await readCloud(world.db)
    const certificate = await issueControl(issuers, { ...peer, epoch }, publicKey, world.issuing)
    return { certificate, issuers: trusted.control, hosts: trusted.hosts }
  }
  if (!(await recordKey(world.db, peer.id, publicKey))) {
    throw new Fault('forbidden', `host ${peer.id} was revoked`)
  }
  const certificate = await issueHost(issuers, peer, publicKey, world.issuing)
  return { certificate, issuers: trusted.control }
}
