import type { X509Certificate } from 'node:crypto'

import { Fault } from '@skerry/fault'

/** What a machine may be to another. */
export const machineRoles = ['cell', 'console', 'workflow', 'host'] as const
export type MachineRole = (typeof machineRoles)[number]

/** Who a machine is: the only name in a certificate that counts. */
export interface MachineName {
  readonly cloud: string
  readonly role: MachineRole
  readonly id: string
}

export interface Peer extends MachineName {
  /** Raised when certificates are to count no longer; 0 where none is written. */
  readonly epoch: number
}

const WORD = '[A-Za-z0-9][A-Za-z0-9_.-]{0,62}'
const NAME = new RegExp(`^skerry://(${WORD})/(${machineRoles.join('|')})/(${WORD})$`)
const EPOCH = new RegExp(`^skerry://(${WORD})/epoch/(0|[1-9][0-9]{0,8})$`)

/** `skerry://CLOUD/ROLE/ID`, as it stands among the alternative names of a certificate. */
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
 * Who shows this certificate, whose issuer was found to be trusted before. Exactly one name of
 * ours must be in it; names of hosts and addresses count for nothing.
 */
export function whoIsPeer(certificate: Pick<X509Certificate, 'subjectAltName'>): Peer {
  const text = certificate.subjectAltName ?? ''
  // Node puts in quotes what could be mistaken for more than one name; ours never needs them.
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
  new Fault('forbidden', 'the certificate does not say which machine of which cloud it is for')

/** What a listener asks of its peers. */
export interface PeerRules {
  readonly cloud: string
  readonly roles: readonly MachineRole[]
  /** The highest epoch that was ever shown; a lower one counts no longer. */
  readonly epoch: number
}

/** Why this peer is not let in; undefined where it is. */
export function whyNotPeer(peer: Peer, { cloud, roles, epoch }: PeerRules): string | undefined {
  if (peer.cloud !== cloud) return `this is a machine of the cloud ${cloud}, not of ${peer.cloud}`
  if (!roles.includes(peer.role)) return `a ${peer.role} may not ask for this`
  if (peer.epoch < epoch) return 'this certificate was recalled: it must be issued again'
  return undefined
}
