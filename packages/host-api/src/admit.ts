import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'

import { refusedPeer } from './distrust.ts'
import { whoIsPeer, whyNotPeer, type MachineRole, type Peer } from './machine-name.ts'

/** The highest epoch that this machine has ever seen, stored so that it survives a restart. */
export interface Epochs {
  readonly highest: number
  /** When this resolves, the epoch survives a power cut. */
  raise(epoch: number): Promise<void>
}

/** Identifies the peer, or throws if that machine may not send this request. */
export type Admit = (socket: Duplex, roles: readonly MachineRole[]) => Promise<Peer>

/** Checks every request: a certificate may be revoked while its connection is open. */
export function admitPeers({ cloud, epochs }: { cloud: string; epochs: Epochs }): Admit {
  const known = new WeakMap<Duplex, Peer>()
  return async (socket, roles) => {
    const peer = known.get(socket) ?? readPeer(socket)
    known.set(socket, peer)
    const why = whyNotPeer(peer, { cloud, roles, epoch: epochs.highest })
    if (why !== undefined) throw refusedPeer(why)
    if (peer.epoch > epochs.highest) await epochs.raise(peer.epoch)
    return peer
  }
}

function readPeer(socket: Duplex): Peer {
  const certificate =
    socket instanceof TLSSocket && socket.authorized ? socket.getPeerX509Certificate() : undefined
  if (certificate) return whoIsPeer(certificate)
  throw refusedPeer('this listener needs a client certificate')
}
