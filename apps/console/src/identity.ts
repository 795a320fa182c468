import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { Fault } from '@skerry/fault'
import { askToRenew, sharing, whoIsPeer, type MachineIdentity } from '@skerry/host-api'
import {
  keepServerIdentity,
  identityFiles,
  splitBundle,
  type ServerIdentityOptions,
  type RenewedIdentity,
  type ServerIdentity,
} from '@skerry/service'

import type { ConsoleConfig } from './config.ts'

/** The certificate of this console for hosts and cells. */
const OWN = 'console.pem'

interface ConsoleIdentity extends ServerIdentity {
  /** Presented to hosts. Loaded once for all connections: a TLS context for each would be most of their cost. */
  readonly toHosts: MachineIdentity
  readonly toCells: MachineIdentity
}

export interface ConsoleIdentityOptions extends Pick<
  ServerIdentityOptions<ConsoleIdentity>,
  'clock' | 'pause' | 'log' | 'renewed'
> {
  readonly config: Pick<ConsoleConfig, 'identity' | 'renewFrom'>
}

export const openIdentity = ({
  config: { identity: directory, renewFrom },
  ...context
}: ConsoleIdentityOptions): Promise<RenewedIdentity<ConsoleIdentity>> =>
  keepServerIdentity({
    ...context,
    directory,
    own: OWN,
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
      toHosts: sharing({ ...own, ca: await read(identityFiles.hosts) }),
      toCells: { ...own, ca: await read(identityFiles.control) },
      server: splitBundle(await read(identityFiles.server)),
      cloud,
    }
  } catch (cause) {
    throw new Fault('unavailable', `the certificates in ${directory} are incomplete`, {
      cause,
      hint: 'create them with skerry cloud console, on the machine that has the issuers',
    })
  }
}
