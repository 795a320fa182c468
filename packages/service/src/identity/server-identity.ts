import { X509Certificate } from 'node:crypto'
import { join } from 'node:path'

import { removeUnfinished, writeDurably } from '@skerry/durable-file'

import { bundle, type KeyAndCert } from './bundle.ts'
import { makeKey, makeRequest } from './issuer.ts'
import { isDue, keepRenewed, lifetimes, type Renewal } from './renewal.ts'

/** Files in the identity directory of a server with external clients, in addition to its own control certificate. */
export const identityFiles = {
  control: 'control.pem',
  hosts: 'hosts.pem',
  /** The certificate for clients. */
  server: 'server.pem',
} as const

/** The certificates of such a server: for cells, and for its clients. */
export interface ServerIdentity {
  readonly toCells: KeyAndCert
  readonly server: KeyAndCert
  readonly cloud: string
}

export interface RenewedIdentity<I> {
  /** The current identity; it is renewed at run time. */
  current(): I
  /** Renews it daily until the signal is aborted. */
  keep(signal: AbortSignal): Promise<void>
}

/** The certificates issued by a cell. All values are PEM. */
interface Issued {
  readonly certificate: string
  readonly issuers: string
  readonly hosts: string
  readonly site?: string
}

export interface ServerIdentityOptions<I> extends Pick<Renewal, 'clock' | 'pause' | 'log'> {
  readonly directory: string
  /** The file of its certificate for machines. */
  readonly own: string
  read(): Promise<I>
  /** Asks a cell to sign these requests, authenticated with the current certificate. */
  ask(identity: I, request: string, site?: string): Promise<Issued>
  /** Called when the certificate for clients has changed. */
  renewed(): void
}

/** Reads and renews the identity of a server while it runs. */
export async function keepServerIdentity<I extends ServerIdentity>(
  context: ServerIdentityOptions<I>,
): Promise<RenewedIdentity<I>> {
  const { clock, pause, log } = context
  let identity = await context.read()
  await removeUnfinished(context.directory)
  const readAgain = async (): Promise<void> => {
    const before = identity.server
    identity = await context.read()
    if (identity.server.cert !== before.cert) context.renewed()
  }
  return {
    current: () => identity,
    keep: (signal) =>
      keepRenewed(
        {
          clock,
          pause,
          log,
          afterMs: lifetimes.control.renewMs,
          current: () => identity.toCells.cert,
          // The certificate for clients may come from a public CA: the tool that renews it replaces the file.
          also: async () => {
            await readAgain()
            return false
          },
          async renew() {
            await renew(context, identity)
            await readAgain()
          },
        },
        signal,
      ),
  }
}

/**
 * Renews key and certificate for machines; for clients too, if that certificate is old enough and was issued by the cloud itself. The
 * operator renews a certificate of another issuer.
 */
async function renew<I extends ServerIdentity>(
  context: ServerIdentityOptions<I>,
  identity: I,
): Promise<void> {
  const { directory, own, clock } = context
  const { server, cloud } = identity
  const write = (file: string, text: string) => writeDurably(join(directory, file), text)
  const isOurs = new X509Certificate(server.cert).issuer === `CN=Skerry site ${cloud}`
  const forClients = isOurs && isDue(server.cert, clock.now(), lifetimes.public.renewMs)
  const [key, siteKey] = [await makeKey(), await makeKey()]
  const issued = await context.ask(
    identity,
    await makeRequest(key),
    forClients ? await makeRequest(siteKey) : undefined,
  )
  await write(identityFiles.control, issued.issuers)
  await write(identityFiles.hosts, issued.hosts)
  await write(own, bundle({ key, cert: issued.certificate + issued.issuers }))
  if (issued.site !== undefined) {
    await write(identityFiles.server, bundle({ key: siteKey, cert: issued.site }))
  }
}
