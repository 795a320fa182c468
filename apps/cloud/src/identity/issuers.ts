import { X509Certificate } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { writeDurably } from '@skerry/durable-file'
import { Fault } from '@skerry/fault'
import { epochUri, machineUri, whoIsPeer, type MachineName } from '@skerry/host-api'
import {
  bundle,
  issueCertificate,
  lifetimes,
  makeIssuer,
  makeKey,
  publicKeyOf,
  spanFrom,
  splitBundle,
  type Clock,
  type Issuer,
  type KeyAndCert,
} from '@skerry/service'

/** Unpredictable serial numbers, and the time. */
export interface IssueContext {
  readonly clock: Clock
  readonly serial: () => string
}

/** Issuers: `control` for cells, consoles and workflow servers, `hosts` for hosts, `site` for the sites that browsers open. */
export const issuerKinds = ['control', 'hosts', 'site'] as const
export type IssuerKind = (typeof issuerKinds)[number]
export type Issuers = Readonly<Record<IssuerKind, Issuer>>

/** Files in the identity directory. Keys of issuers exist only where certificates may be issued. */
export const identityFiles = {
  control: { cert: 'control.pem', key: 'control.key' },
  hosts: { cert: 'hosts.pem', key: 'hosts.key' },
  /** Clients of the public address trust this certificate. */
  site: { cert: 'ca.pem', key: 'ca.key' },
  /** Shown to other machines: the certificate, its issuer and the key in one file, replaced atomically. */
  cell: 'cell.pem',
  /** Shown to users, likewise. */
  server: 'server.pem',
  /** Encrypts secrets before they are stored: the same key on all cells, and in no database. */
  seal: 'seal.key',
} as const

export interface CellIdentity {
  readonly name: MachineName
  readonly epoch: number
  readonly cell: KeyAndCert
  readonly server: KeyAndCert
  /** Certificates only. */
  readonly trusted: Readonly<Record<IssuerKind, string>>
  /** undefined on a cell that may not issue certificates. */
  readonly issuers: Issuers | undefined
  /** undefined on a cell that was created before there was a seal key. */
  readonly sealKey: string | undefined
}

export async function readIdentity(directory: string): Promise<CellIdentity> {
  const read = (file: string) => readFile(join(directory, file), 'utf8')
  const certOf = (kind: IssuerKind) => read(identityFiles[kind].cert)
  try {
    const [control, hosts, site] = await Promise.all(issuerKinds.map(certOf))
    const cell = splitBundle(await read(identityFiles.cell))
    const { epoch, ...name } = whoIsPeer(new X509Certificate(cell.cert))
    return {
      name,
      epoch,
      cell,
      server: splitBundle(await read(identityFiles.server)),
      trusted: { control: control ?? '', hosts: hosts ?? '', site: site ?? '' },
      issuers: await readIssuers(directory),
      sealKey: (await readIfThere(join(directory, identityFiles.seal)))?.trim(),
    }
  } catch (cause) {
    throw new Fault('unavailable', `the certificates in ${directory} are incomplete or invalid`, {
      cause,
      hint: 'create them with skerry admin init, or with skerry admin cell create on a machine that has the issuers',
    })
  }
}

/** undefined if any issuer is missing: this machine may not issue certificates. */
export async function readIssuers(directory: string): Promise<Issuers | undefined> {
  const found: Partial<Record<IssuerKind, Issuer>> = {}
  for (const kind of issuerKinds) {
    const issuer = await readIssuer(directory, identityFiles[kind])
    if (issuer === undefined) return undefined
    found[kind] = issuer
  }
  return found as Issuers
}

/** The files of an issuer in an identity directory. */
export interface IssuerFiles {
  readonly cert: string
  readonly key: string
}

/** undefined if its certificate or its key is missing. */
export async function readIssuer(
  directory: string,
  files: IssuerFiles,
): Promise<Issuer | undefined> {
  const cert = await readIfThere(join(directory, files.cert))
  const key = await readIfThere(join(directory, files.key))
  return cert === undefined || key === undefined ? undefined : { cert, key }
}

/** Creates missing issuers; existing ones stay as they are. */
export async function ensureIssuers(
  directory: string,
  cloud: string,
  issuing: IssueContext,
): Promise<Issuers> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const found: Partial<Record<IssuerKind, Issuer>> = {}
  for (const kind of issuerKinds) {
    found[kind] = await ensureIssuer(directory, identityFiles[kind], {
      ...issuing,
      subject: `Skerry ${kind} ${cloud}`,
    })
  }
  return found as Issuers
}

/** Creates one issuer; an existing one stays as it is. */
export async function ensureIssuer(
  directory: string,
  files: IssuerFiles,
  { clock, serial, subject }: IssueContext & { readonly subject: string },
): Promise<Issuer> {
  // The certificate is written last: if it exists, its key does too.
  const cert = await readIfThere(join(directory, files.cert))
  if (cert !== undefined) return { cert, key: await readFile(join(directory, files.key), 'utf8') }
  const made = await makeIssuer({
    key: await makeKey(),
    subject,
    serial: serial(),
    ...spanFrom(clock.now(), lifetimes.issuer.holdMs),
  })
  await writeDurably(join(directory, files.key), made.key)
  await writeDurably(join(directory, files.cert), made.cert)
  return made
}

/** A certificate for a cell, console or workflow server. */
export async function issueControl(
  { control }: Pick<Issuers, 'control'>,
  name: MachineName & { readonly epoch: number },
  publicKey: string,
  { clock, serial }: IssueContext,
): Promise<string> {
  return issueCertificate(control, {
    publicKey,
    serial: serial(),
    subject: `${name.role} ${name.id}`,
    uris: [machineUri(name), epochUri(name.cloud, name.epoch)],
    ...spanFrom(clock.now(), lifetimes.control.holdMs),
  })
}

export async function issueHost(
  { hosts }: Pick<Issuers, 'hosts'>,
  name: Pick<MachineName, 'cloud' | 'id'>,
  publicKey: string,
  { clock, serial }: IssueContext,
): Promise<string> {
  return issueCertificate(hosts, {
    publicKey,
    serial: serial(),
    subject: `host ${name.id}`,
    uris: [machineUri({ ...name, role: 'host' })],
    ...spanFrom(clock.now(), lifetimes.host.holdMs),
  })
}

/** A certificate for a site that users open, for these DNS names and addresses. */
export async function issueSite(
  { site }: Pick<Issuers, 'site'>,
  hosts: readonly string[],
  publicKey: string,
  { clock, serial }: IssueContext,
): Promise<string> {
  return issueCertificate(site, {
    publicKey,
    serial: serial(),
    subject: hosts[0] ?? 'Skerry',
    hosts,
    ...spanFrom(clock.now(), lifetimes.public.holdMs),
  })
}

/** The name of a Temporal server in its certificate, for cells and workflow servers, wherever it runs. */
const TEMPORAL_NAME = 'temporal.skerry'

/**
 * The certificate of a Temporal server for its clients and between its services, with a new key. It names none of our machines, so
 * that none of our listeners admits its holder. It is valid as long as its issuer: no process on that machine could renew it.
 */
export async function makeTemporal(
  { control }: Pick<Issuers, 'control'>,
  { clock, serial }: IssueContext,
): Promise<KeyAndCert> {
  const key = await makeKey()
  const cert = await issueCertificate(control, {
    publicKey: publicKeyOf(key),
    serial: serial(),
    subject: 'Skerry temporal',
    hosts: [TEMPORAL_NAME],
    notBefore: spanFrom(clock.now(), 0).notBefore,
    notAfter: new X509Certificate(control.cert).validToDate,
  })
  return { key, cert }
}

/** The certificate that a cell or a console shows to machines, with a new key. */
export async function makeControl(
  issuers: Issuers,
  name: MachineName & { readonly epoch: number },
  issuing: IssueContext,
): Promise<string> {
  const key = await makeKey()
  const cert = await issueControl(issuers, name, publicKeyOf(key), issuing)
  return bundle({ key, cert: cert + issuers.control.cert })
}

export const makeCell = (
  issuers: Issuers,
  name: { readonly cloud: string; readonly id: string; readonly epoch: number },
  issuing: IssueContext,
): Promise<string> => makeControl(issuers, { ...name, role: 'cell' }, issuing)

/** The certificate that a cell or a console shows to users at these DNS names and addresses, with a new key. */
export async function makeServer(
  issuers: Issuers,
  hosts: readonly string[],
  issuing: IssueContext,
): Promise<string> {
  const key = await makeKey()
  return bundle({ key, cert: await issueSite(issuers, hosts, publicKeyOf(key), issuing) })
}

/** `secret`: 256 bits as text. */
export const newSealKey = (secret: () => string): string =>
  `${Buffer.from(secret(), 'base64url').toString('base64')}\n`

async function readIfThere(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
}
