import { X509Certificate } from 'node:crypto'
import { join } from 'node:path'

import { bundle, type Shown } from './bundle.ts'
import { writeDurably } from './durable-file.ts'
import { makeKey, makeRequest } from './issuer.ts'
import { isDue, keepRenewed, lifetimes, type Renewal } from './renewal.ts'

/** Where they lie in the directory of a server that has clients outside of the cloud: beside the file of its own name. */
export const shownFiles = {
  control: 'control.pem',
  hosts: 'hosts.pem',
  /** What clients are shown. */
  server: 'server.pem',
} as const

/** What such a server shows of itself: to the cells, and to its clients. */
export interface ShownIdentity {
  readonly toCells: Shown
  readonly server: Shown
  readonly cloud: string
}

export interface KeptIdentity<I> {
  /** As it is now: it is renewed while we run. */
  current(): I
  /** Renews it daily, until the signal says otherwise. */
  keep(signal: AbortSignal): Promise<void>
}

/** What a cell has issued. PEM, all of it. */
interface Issued {
  readonly certificate: string
  readonly issuers: string
  readonly hosts: string
  readonly site?: string
}

export interface KeepingShown<I> extends Pick<Renewal, 'clock' | 'pause' | 'log'> {
  readonly directory: string
  /** The file of what it shows to machines. */
  readonly own: string
  read(): Promise<I>
  /** Asks a cell to sign these requests, over what is shown until now. */
  ask(identity: I, request: string, site?: string): Promise<Issued>
  /** Told when clients must be shown another certificate. */
  renewed(): void
}

/** Who a server is, for as long as it runs. */
export async function keepShown<I extends ShownIdentity>(
  world: KeepingShown<I>,
): Promise<KeptIdentity<I>> {
  const { clock, pause, log } = world
  let identity = await world.read()
  const readAgain = async (): Promise<void> => {
    const before = identity.server
    identity = await world.read()
    if (identity.server.cert !== before.cert) world.renewed()
  }
  return {
    current: () => identity,
    keep: (signal) =>
      keepRenewed(
        {
          ...{ clock, pause, log, afterMs: lifetimes.control.renewMs },
          current: () => identity.toCells.cert,
          // What clients are shown may come from an issuer of the world: whoever renews that puts a file here.
          also: async () => {
            await readAgain()
            return false
          },
          async renew() {
            await renew(world, identity)
            await readAgain()
          },
        },
        signal,
      ),
  }
}

/**
 * A new key and certificate for machines; for clients too, once that is old enough and was issued by the cloud itself. What came from
 * another issuer is left to whoever brought it.
 */
async function renew<I extends ShownIdentity>(world: KeepingShown<I>, identity: I): Promise<void> {
  const { directory, own, clock } = world
  const { server, cloud } = identity
  const write = (file: string, text: string) => writeDurably(join(directory, file), text)
  const isOurs = new X509Certificate(server.cert).issuer === `CN=Skerry site ${cloud}`
  const forClients = isOurs && isDue(server.cert, clock.now(), lifetimes.public.renewMs)
  const [key, siteKey] = [await makeKey(), await makeKey()]
  const issued = await world.ask(
    identity,
    await makeRequest(key),
    forClients ? await makeRequest(siteKey) : undefined,
  )
  await write(shownFiles.control, issued.issuers)
  await write(shownFiles.hosts, issued.hosts)
  await write(own, bundle({ key, cert: issued.certificate + issued.issuers }))
  if (issued.site !== undefined) {
    await write(shownFiles.server, bundle({ key: siteKey, cert: issued.site }))
  }
}
