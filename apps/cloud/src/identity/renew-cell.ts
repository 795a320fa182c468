import { join } from 'node:path'

import { Fault } from '@skerry/fault'
import { MachineLink, readText, reviveFault } from '@skerry/host-api'
import { isDue, lifetimes, makeKey, makeRequest, writeDurably } from '@skerry/service'

import type { Config } from '../config.ts'
import {
  bundle,
  identityFiles,
  makeCell,
  makeServer,
  readIdentity,
  type CellIdentity,
  type Issuing,
} from './issuers.ts'

export interface Renewing {
  readonly config: Pick<Config, 'identity' | 'renewFrom' | 'base'>
  readonly issuing: Issuing
  /** The epoch that certificates of cells must have now. */
  readonly epoch: () => Promise<number>
}

/** A new key and certificate for this cell: by itself where it may issue, else by a cell that may. */
export async function renewCell({ config, issuing, epoch }: Renewing): Promise<CellIdentity> {
  const directory = config.identity
  const now = await readIdentity(directory)
  const { name, issuers, server } = now
  if (issuers) {
    const made = await makeCell(issuers, { ...name, epoch: await epoch() }, issuing)
    await writeDurably(join(directory, identityFiles.cell), made)
    if (isDue(server.cert, issuing.clock.now(), lifetimes.public.renewMs)) {
      const shown = await makeServer(issuers, [namedBy(config.base)], issuing)
      await writeDurably(join(directory, identityFiles.server), shown)
    }
  } else await askToRenew(now, config)
  return readIdentity(directory)
}

interface Issued {
  readonly certificate: string
  readonly issuers: string
  readonly hosts: string
}

async function askToRenew(
  { cell, trusted }: CellIdentity,
  { identity: directory, renewFrom = [] }: Renewing['config'],
): Promise<void> {
  const key = await makeKey()
  const body = { csr: await makeRequest(key) }
  let last: unknown = new Fault('unavailable', 'this cell may not issue and knows of none that may')
  for (const target of renewFrom) {
    try {
      using link = new MachineLink(target, { ...cell, ca: trusted.control }, { role: 'cell' })
      const answer = await link.ask({ method: 'POST', path: '/machine/v1/renew', body })
      const text = await readText(answer)
      if (answer.statusCode !== 200) throw reviveFault(text)
      const { certificate, issuers, hosts } = JSON.parse(text) as Issued
      await writeDurably(join(directory, identityFiles.control.cert), issuers)
      await writeDurably(join(directory, identityFiles.hosts.cert), hosts)
      const shown = bundle({ key, cert: certificate + issuers })
      await writeDurably(join(directory, identityFiles.cell), shown)
      return
    } catch (error) {
      last = error
    }
  }
  throw last
}

/** The name or address that users reach the cloud by. */
export const namedBy = (base: string): string => new URL(base).hostname.replace(/^\[|\]$/g, '')
