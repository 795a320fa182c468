import { Fault } from '@skerry/fault'
import type { Peer } from '@skerry/host-api'
import { readRequest } from '@skerry/service'

import { issueOverlay } from '../identity/network-issuers.ts'
import type { MachineContext } from './context.ts'

/** Issues the certificate with which the calling host reaches the network server of its zone. Revoked hosts were rejected before. */
export async function giveOverlayCertificate(context: MachineContext, peer: Peer, body: unknown) {
  const { csr } = (body ?? {}) as { csr?: unknown }
  if (typeof csr !== 'string') throw new Fault('invalid', 'invalid request for a certificate')
  if (!context.identity().issuers) {
    throw new Fault('unavailable', 'this cell may not issue certificates: use another cell')
  }
  const issuers = await context.networkIssuers?.()
  if (!issuers) {
    throw new Fault('not-found', 'this cloud has no network server', {
      hint: 'create one: skerry admin network-server create',
    })
  }
  const publicKey = await readRequest(csr)
  const certificate = await issueOverlay(issuers, peer.id, publicKey, context.issuing)
  return { certificate, issuers: issuers.network.cert }
}
