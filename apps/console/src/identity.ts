import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { Fault } from '@skerry/fault'
import { askToRenew, sharing, whoIsPeer, type Identity } from '@skerry/host-api'
import {
  bundle,
  isDue,
  keepRenewed,
  lifetimes,
  makeKey,
  makeRequest,
  splitBundle,
  writeDurably,
  type Renewal,
  type Shown,
} from '@skerry/service'

import type { Config } from './config.ts'

const files = {
  control: 'control.pem',
  hosts: 'hosts.pem',
  /** What this console shows to hosts and cells. */
  console: 'console.pem',
  /** What it shows to browsers. */
  server: 'server.pem',
} as const

interface ConsoleIdentity {
  /** Shown to hosts. Read once for all links: a context for each would be most of what they cost. */
  readonly toHosts: Identity
  /** Shown to cells. */
  readonly toCells: Identity
  readonly server: Shown
  readonly cloud: string
}

export interface KeptIdentity {
  /** As it is now: it is renewed while we run. */
  current(): ConsoleIdentity
  /** Renews it daily, until the signal says otherwise. */
  keep(signal: AbortSignal): Promise<void>
}

export interface KeepingIdentity extends Pick<Renewal, 'clock' | 'pause' | 'log'> {
  readonly config: Pick<Config, 'identity' | 'renewFrom'>
  /** Told when browsers must be shown another certificate. */
  renewed(): void
}

/** Who this console is, for as long as it runs. */
export async function openIdentity(world: KeepingIdentity): Promise<KeptIdentity> {
  const { config, clock, pause, log } = world
  let identity = await readIdentity(config.identity)
  const readAgain = async (): Promise<void> => {
    const before = identity.server
    identity = await readIdentity(config.identity)
    if (identity.server.cert !== before.cert) world.renewed()
  }
  return {
    current: () => identity,
    keep: (signal) =>
      keepRenewed(
        {
          ...{ clock, pause, log, afterMs: lifetimes.control.renewMs },
          current: () => identity.toHosts.cert,
          // What browsers are shown may come from an issuer of the world: whoever renews that puts a file here.
          also: async () => {
            await readAgain()
            return false
          },
          async renew() {
            await renew(identity, config, clock.now())
            await readAgain()
          },
        },
        signal,
      ),
  }
}

async function readIdentity(directory: string): Promise<ConsoleIdentity> {
  const read = (file: string) => readFile(join(directory, file), 'utf8')
  try {
    const own = splitBundle(await read(files.console))
    const { role, cloud } = whoIsPeer(new X509Certificate(own.cert))
    if (role !== 'console') throw new Error(`${files.console} is for a ${role}`)
    return {
      toHosts: sharing({ ...own, ca: await read(files.hosts) }),
      toCells: { ...own, ca: await read(files.control) },
      ...{ server: splitBundle(await read(files.server)), cloud },
    }
  } catch (cause) {
    throw new Fault('unavailable', `the certificates in ${directory} are not whole`, {
      cause,
      hint: 'skerry cloud console makes them, on the machine that has the issuers',
    })
  }
}

/**
 * A new key and certificate for machines; for browsers too, once that is old enough and was issued by the cloud itself. What came from
 * another issuer is left to whoever brought it.
 */
async function renew(
  { toCells, server, cloud }: ConsoleIdentity,
  { identity: directory, renewFrom }: KeepingIdentity['config'],
  now: Date,
): Promise<void> {
  const write = (file: string, text: string) => writeDurably(join(directory, file), text)
  const isOurs = new X509Certificate(server.cert).issuer === `CN=Skerry site ${cloud}`
  const forBrowsers = isOurs && isDue(server.cert, now, lifetimes.public.renewMs)
  const [key, siteKey] = [await makeKey(), await makeKey()]
  const issued = await askToRenew(
    ...[renewFrom, toCells, await makeRequest(key)],
    forBrowsers ? await makeRequest(siteKey) : undefined,
  )
  await write(files.control, issued.issuers)
  await write(files.hosts, issued.hosts)
  await write(files.console, bundle({ key, cert: issued.certificate + issued.issuers }))
  if (issued.site !== undefined) {
    await write(files.server, bundle({ key: siteKey, cert: issued.site }))
  }
}
