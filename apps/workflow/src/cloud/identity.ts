import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { Fault } from '@skerry/fault'
import { askToRenew, whoIsPeer, type Identity } from '@skerry/host-api'
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

import type { CellAddress } from './cells.ts'

const files = {
  control: 'control.pem',
  hosts: 'hosts.pem',
  /** What this server shows to cells. */
  workflow: 'workflow.pem',
  /** What it shows to its clients. */
  server: 'server.pem',
  seal: 'seal.key',
} as const

export interface WorkflowIdentity {
  readonly toCells: Identity
  readonly server: Shown
  readonly cloud: string
  /** 256 bits, by which what is secret is sealed before it is written down. */
  readonly sealKey: string
}

export interface KeptIdentity {
  /** As it is now: it is renewed while we run. */
  current(): WorkflowIdentity
  /** Renews it daily, until the signal says otherwise. */
  keep(signal: AbortSignal): Promise<void>
}

export interface KeepingIdentity extends Pick<Renewal, 'clock' | 'pause' | 'log'> {
  readonly config: { readonly identity: string; readonly renewFrom: readonly CellAddress[] }
  /** Told when clients must be shown another certificate. */
  renewed(): void
}

/** Who this workflow server is, for as long as it runs. */
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
          current: () => identity.toCells.cert,
          // What clients are shown may come from an issuer of the world: whoever renews that puts a file here.
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

async function readIdentity(directory: string): Promise<WorkflowIdentity> {
  const read = (file: string) => readFile(join(directory, file), 'utf8')
  try {
    const own = splitBundle(await read(files.workflow))
    const { role, cloud } = whoIsPeer(new X509Certificate(own.cert))
    if (role !== 'workflow') throw new Error(`${files.workflow} is for a ${role}`)
    return {
      toCells: { ...own, ca: await read(files.control) },
      server: splitBundle(await read(files.server)),
      ...{ cloud, sealKey: (await read(files.seal)).trim() },
    }
  } catch (cause) {
    throw new Fault('unavailable', `the certificates in ${directory} are not whole`, {
      cause,
      hint: 'skerry cloud workflow makes them, on the machine that has the issuers',
    })
  }
}

/**
 * A new key and certificate for machines; for clients too, once that is old enough and was issued by the cloud itself. What came from
 * another issuer is left to whoever brought it.
 */
async function renew(
  { toCells, server, cloud }: WorkflowIdentity,
  { identity: directory, renewFrom }: KeepingIdentity['config'],
  now: Date,
): Promise<void> {
  const write = (file: string, text: string) => writeDurably(join(directory, file), text)
  const isOurs = new X509Certificate(server.cert).issuer === `CN=Skerry site ${cloud}`
  const forClients = isOurs && isDue(server.cert, now, lifetimes.public.renewMs)
  const [key, siteKey] = [await makeKey(), await makeKey()]
  const issued = await askToRenew(
    ...[renewFrom, toCells, await makeRequest(key)],
    forClients ? await makeRequest(siteKey) : undefined,
  )
  await write(files.control, issued.issuers)
  await write(files.hosts, issued.hosts)
  await write(files.workflow, bundle({ key, cert: issued.certificate + issued.issuers }))
  if (issued.site !== undefined) {
    await write(files.server, bundle({ key: siteKey, cert: issued.site }))
  }
}
