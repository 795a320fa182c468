// Certificates of networks across hosts. OVN's database asks for an issuer and never for a name, so network servers and hosts have an
// issuer each that signs nothing else; they are created with the first network server.
import { X509Certificate } from 'node:crypto'
import { mkdir } from 'node:fs/promises'

import {
  issueCertificate,
  lifetimes,
  makeKey,
  publicKeyOf,
  spanFrom,
  type Issuer,
  type KeyAndCert,
} from '@skerry/service'

import { ensureIssuer, readIssuer, type IssueContext } from './issuers.ts'

/** `network` for network servers, `overlay` for the second certificate of hosts, which they present to network servers. */
export interface NetworkIssuers {
  readonly network: Issuer
  readonly overlay: Issuer
}

/** In the identity directory of a cell that issues certificates. */
const files = {
  network: { cert: 'network.pem', key: 'network.key' },
  overlay: { cert: 'overlay.pem', key: 'overlay.key' },
} as const

/** undefined if this cloud has no network server, or this cell may not issue certificates. */
export async function readNetworkIssuers(directory: string): Promise<NetworkIssuers | undefined> {
  const network = await readIssuer(directory, files.network)
  const overlay = await readIssuer(directory, files.overlay)
  return network && overlay && { network, overlay }
}

/** Creates them if they are missing. */
export async function ensureNetworkIssuers(
  directory: string,
  cloud: string,
  issuing: IssueContext,
): Promise<NetworkIssuers> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const ensure = (kind: keyof typeof files) =>
    ensureIssuer(directory, files[kind], { ...issuing, subject: `Skerry ${kind} ${cloud}` })
  return { network: await ensure('network'), overlay: await ensure('overlay') }
}

/**
 * The certificate of a network server for hosts, with a new key. It is valid as long as its issuer: the server has no certificate for
 * cells with which it could renew this one.
 */
export async function makeNetworkServer(
  { network }: NetworkIssuers,
  { name, host }: { readonly name: string; readonly host: string },
  { clock, serial }: IssueContext,
): Promise<KeyAndCert> {
  const key = await makeKey()
  const cert = await issueCertificate(network, {
    publicKey: publicKeyOf(key),
    serial: serial(),
    subject: `network ${name}`,
    hosts: [host],
    notBefore: spanFrom(clock.now(), 0).notBefore,
    notAfter: new X509Certificate(network.cert).validToDate,
  })
  return { key, cert }
}

/** No listener of ours admits this name: the certificate is for OVN's database only. */
const HOST_NAME = 'overlay.skerry'

/** The certificate of a host for OVN's database. Its subject is the id of the host: the database lets it change rows of that host only. */
export async function issueOverlay(
  { overlay }: NetworkIssuers,
  host: string,
  publicKey: string,
  { clock, serial }: IssueContext,
): Promise<string> {
  return issueCertificate(overlay, {
    publicKey,
    serial: serial(),
    subject: host,
    hosts: [HOST_NAME],
    ...spanFrom(clock.now(), lifetimes.overlay.holdMs),
  })
}
