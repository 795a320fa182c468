import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { Fault } from '@skerry/fault'
import { askToRenew, sharing, whoIsPeer, type Identity } from '@skerry/host-api'
import {
  keepShown,
  shownFiles,
  splitBundle,
  type KeepingShown,
  type KeptIdentity,
  type ShownIdentity,
} from '@skerry/service'

import type { Config } from './config.ts'

/** What this console shows to hosts and cells. */
const OWN = 'console.pem'

interface ConsoleIdentity extends ShownIdentity {
  /** Shown to hosts. Read once for all links: a context for each would be most of what they cost. */
  readonly toHosts: Identity
  readonly toCells: Identity
}

export interface KeepingIdentity extends Pick<
  KeepingShown<ConsoleIdentity>,
  'clock' | 'pause' | 'log' | 'renewed'
> {
  readonly config: Pick<Config, 'identity' | 'renewFrom'>
}

export const openIdentity = ({
  config: { identity: directory, renewFrom },
  ...world
}: KeepingIdentity): Promise<KeptIdentity<ConsoleIdentity>> =>
  keepShown({
    ...{ ...world, directory, own: OWN },
    read: () => readIdentity(directory),
    ask: ({ toCells }, request, site) => askToRenew(renewFrom, toCells, request, site),
  })

async function readIdentity(directory: string): Promise<ConsoleIdentity> {
  const read = (file: string) => readFile(join(directory, file), 'utf8')
  try {
    const own = splitBundle(await read(OWN))
    const { role, cloud } = whoIsPeer(new X509Certificate(own.cert))
    if (role !== 'console') throw new Error(`${OWN} is for a ${role}`)
    return {
      toHosts: sharing({ ...own, ca: await read(shownFiles.hosts) }),
      toCells: { ...own, ca: await read(shownFiles.control) },
      ...{ server: splitBundle(await read(shownFiles.server)), cloud },
    }
  } catch (cause) {
    throw new Fault('unavailable', `the certificates in ${directory} are not whole`, {
      cause,
      hint: 'skerry cloud console makes them, on the machine that has the issuers',
    })
  }
}
