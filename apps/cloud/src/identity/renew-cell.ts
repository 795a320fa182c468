import { join } from 'node:path'

import { writeDurably } from '@skerry/durable-file'
import { askToRenew } from '@skerry/host-api'
import { bundle, isDue, lifetimes, makeKey, makeRequest } from '@skerry/service'

import { basesOf, type CloudConfig } from '../config.ts'
import {
  identityFiles,
  makeCell,
  makeServer,
  readIdentity,
  type CellIdentity,
  type IssueContext,
} from './issuers.ts'

export interface RenewContext {
  readonly config: Pick<CloudConfig, 'identity' | 'renewFrom' | 'base' | 'original'>
  readonly issuing: IssueContext
  /** The epoch that certificates of cells must have now. */
  readonly epoch: () => Promise<number>
}

/** Makes a new key and certificate for this cell: by itself if it may issue certificates, otherwise by a cell that may. */
export async function renewCell({ config, issuing, epoch }: RenewContext): Promise<CellIdentity> {
  const directory = config.identity
  const now = await readIdentity(directory)
  const { name, issuers, server } = now
  if (issuers) {
    const made = await makeCell(issuers, { ...name, epoch: await epoch() }, issuing)
    await writeDurably(join(directory, identityFiles.cell), made)
    if (isDue(server.cert, issuing.clock.now(), lifetimes.public.renewMs)) {
      const shown = await makeServer(issuers, namesOf(config), issuing)
      await writeDurably(join(directory, identityFiles.server), shown)
    }
  } else await renewElsewhere(now, config)
  return readIdentity(directory)
}

/** Renews the certificate at a cell that may issue certificates. */
async function renewElsewhere(
  { cell, trusted }: CellIdentity,
  { identity: directory, renewFrom = [] }: RenewContext['config'],
): Promise<void> {
  const key = await makeKey()
  const shown = { ...cell, ca: trusted.control }
  const { certificate, issuers, hosts } = await askToRenew(renewFrom, shown, await makeRequest(key))
  await writeDurably(join(directory, identityFiles.control.cert), issuers)
  await writeDurably(join(directory, identityFiles.hosts.cert), hosts)
  const made = bundle({ key, cert: certificate + issuers })
  await writeDurably(join(directory, identityFiles.cell), made)
}

/** The name or address that users reach the cloud by. */
export const namedBy = (base: string): string => new URL(base).hostname.replace(/^\[|\]$/g, '')

/** All names and addresses in the certificate shown to users. */
export const namesOf = (config: Parameters<typeof basesOf>[0]): readonly string[] => [
  ...new Set(basesOf(config).map(namedBy)),
]
