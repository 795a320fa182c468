import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'

import { Fault } from '@skerry/fault'

import { whoIsPeer, whyNotPeer, type MachineRole, type Peer } from './machine-name.ts'

/** The highest epoch that this machine was ever shown, kept where a restart does not lose it. */
export interface Epochs {
  readonly highest: number
  /** When this returns, a power cut no longer takes it back. */
  raise(epoch: number): Promise<void>
}

/** Says who is at the other end, or throws where that machine may not ask for this. */
export type Admit = (socket: Duplex, roles: readonly MachineRole[]) => Promise<Peer>

/** Judges every request anew: a certificate may be recalled while its connection is open. */
export function admitPeers({ cloud, epochs }: { cloud: string; epochs: Epochs }): Admit {
  const known = new WeakMap<Duplex, Peer>()
  return async (socket, roles) => {
    const peer = known.get(socket) ?? readPeer(socket)
    known.set(socket, peer)
    const why = whyNotPeer(peer, { cloud, roles, epoch: epochs.highest })
    if (why !== undefined) throw new Fault('forbidden', why)
    if (peer.epoch > epochs.highest) await epochs.raise(peer.epoch)
    return peer
  }
}

function readPeer(socket: Duplex): Peer {
  const certificate =
    socket instanceof TLSSocket && socket.authorized ? socket.getPeerX509Certificate() : undefined
  if (certificate) return whoIsPeer(certificate)
  throw new Fault('forbidden', 'this listener is for machines with a certificate')
}
