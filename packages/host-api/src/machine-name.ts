import type { X509Certificate } from 'node:crypto'

import { Fault } from '@skerry/fault'

/** The role of a machine in a cloud. */
export const machineRoles = ['cell', 'console', 'workflow', 'host'] as const
export type MachineRole = (typeof machineRoles)[number]

/** The identity of a machine: the only name in a certificate that counts. */
export interface MachineName {
  readonly cloud: string
  readonly role: MachineRole
  readonly id: string
}

export interface Peer extends MachineName {
  /** Raised to revoke older certificates; 0 if the certificate has none. */
  readonly epoch: number
}

const WORD = '[A-Za-z0-9][A-Za-z0-9_.-]{0,62}'
const NAME = new RegExp(`^skerry://(${WORD})/(${machineRoles.join('|')})/(${WORD})$`)
const EPOCH = new RegExp(`^skerry://(${WORD})/epoch/(0|[1-9][0-9]{0,8})$`)

/** `skerry://CLOUD/ROLE/ID`, a subject alternative name of a certificate. */
export const machineUri = ({ cloud, role, id }: MachineName): string =>
  `skerry://${cloud}/${role}/${id}`

/** `skerry://CLOUD/epoch/N`, beside the name in certificates of cells, consoles and workflow servers. */
export const epochUri = (cloud: string, epoch: number): string => `skerry://${cloud}/epoch/${epoch}`

export function readMachineUri(uri: string): MachineName | undefined {
  const [, cloud, role, id] = NAME.exec(uri) ?? []
  if (cloud === undefined || id === undefined) return undefined
  return { cloud, role: role as MachineRole, id }
}

/**
 * The identity in a certificate whose issuer was already verified. It must contain exactly one name of
 * ours; DNS names and addresses are ignored.
 */
export function whoIsPeer(certificate: Pick<X509Certificate, 'subjectAltName'>): Peer {
  const text = certificate.subjectAltName ?? ''
  // Node quotes a name that could be mistaken for several; our names never need quotes.
  if (text.includes('"')) throw unnamed()
  const uris = text
    .split(', ')
    .filter((name) => name.startsWith('URI:skerry:'))
    .map((name) => name.slice('URI:'.length))
  const names = uris.flatMap((uri) => readMachineUri(uri) ?? [])
  const epochs = uris.map((uri) => EPOCH.exec(uri)).filter((found) => found !== null)
  const [name] = names
  const [, cloud = name?.cloud, epoch = '0'] = epochs[0] ?? []
  const isWhole =
    names.length === 1 && epochs.length <= 1 && names.length + epochs.length === uris.length
  if (!name || !isWhole || cloud !== name.cloud) throw unnamed()
  return { ...name, epoch: Number(epoch) }
}

const unnamed = (): Fault =>
  new Fault('forbidden', 'the certificate does not name a machine of a cloud')

/** The requirements of a listener for its peers. */
export interface PeerRules {
  readonly cloud: string
  readonly roles: readonly MachineRole[]
  /** The highest epoch ever seen; a lower one is rejected. */
  readonly epoch: number
}

/** Why this peer is rejected; undefined if it is accepted. */
export function whyNotPeer(peer: Peer, { cloud, roles, epoch }: PeerRules): string | undefined {
  if (peer.cloud !== cloud)
    return `this machine belongs to cloud ${cloud}, the certificate to cloud ${peer.cloud}`
  if (!roles.includes(peer.role)) return `a ${peer.role} may not send this request`
  if (peer.epoch < epoch) return 'this certificate was revoked: it must be issued again'
  return undefined
}
