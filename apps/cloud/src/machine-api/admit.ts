import { TLSSocket } from 'node:tls'

import { Fault } from '@skerry/fault'
import { whoIsPeer, whyNotPeer, type MachineRole, type Peer } from '@skerry/host-api'
import { isIssuedBy } from '@skerry/service'
import type { Kysely } from 'kysely'

import type { CloudTables } from '../database/tables.ts'
import type { CellIdentity } from '../identity/issuers.ts'
import { readCloud, refusedAmong } from '../identity/machines.ts'
import { issuerOf } from './roles.ts'

/** The peer according to its certificate, if one of our issuers signed it. */
export function peerOf(socket: unknown, trusted: CellIdentity['trusted']): Peer | undefined {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined
  const certificate = socket.getPeerX509Certificate()
  if (!certificate) return undefined
  const peer = whoIsPeer(certificate)
  if (isIssuedBy(certificate, trusted[issuerOf[peer.role]])) return peer
  throw new Fault('forbidden', `the issuer of this certificate may not issue for a ${peer.role}`)
}

/** Checked at every request: a host or a cell may be revoked while its connection is open. */
export async function requireAdmitted(
  db: Kysely<CloudTables>,
  peer: Peer | undefined,
  { cloud, roles }: { readonly cloud: string; readonly roles: readonly MachineRole[] },
): Promise<Peer> {
  if (!peer) throw new Fault('forbidden', 'a machine certificate of this cloud is required')
  const epoch = peer.role === 'host' ? 0 : (await readCloud(db)).epoch
  const why = whyNotPeer(peer, { cloud, roles, epoch })
  if (why !== undefined) throw new Fault('forbidden', why)
  if (peer.role === 'host' && (await refusedAmong(db, [peer.id])).size > 0) {
    throw new Fault('forbidden', `host ${peer.id} was revoked`)
  }
  return peer
}
