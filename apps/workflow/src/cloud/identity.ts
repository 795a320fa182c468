import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { Fault } from '@skerry/fault'
import { askToRenew, whoIsPeer, type MachineIdentity } from '@skerry/host-api'
import {
  keepServerIdentity,
  identityFiles,
  splitBundle,
  type ServerIdentityOptions,
  type RenewedIdentity,
  type ServerIdentity,
} from '@skerry/service'

import type { CellAddress } from './cells.ts'

/** The certificate that this server presents to cells. */
const OWN = 'workflow.pem'
const SEAL = 'seal.key'

export interface WorkflowIdentity extends ServerIdentity {
  readonly toCells: MachineIdentity
  /** The 256-bit key that seals secrets before they are stored. */
  readonly sealKey: string
}

export interface WorkflowIdentityOptions extends Pick<
  ServerIdentityOptions<WorkflowIdentity>,
  'clock' | 'pause' | 'log' | 'renewed'
> {
  readonly config: { readonly identity: string; readonly renewFrom: readonly CellAddress[] }
}

export const openIdentity = ({
  config: { identity: directory, renewFrom },
  ...context
}: WorkflowIdentityOptions): Promise<RenewedIdentity<WorkflowIdentity>> =>
  keepServerIdentity({
    ...context,
    directory,
    own: OWN,
    read: () => readIdentity(directory),
    ask: ({ toCells }, request, site) => askToRenew(renewFrom, toCells, request, site),
  })

async function readIdentity(directory: string): Promise<WorkflowIdentity> {
  const read = (file: string) => readFile(join(directory, file), 'utf8')
  try {
    const own = splitBundle(await read(OWN))
    const { role, cloud } = whoIsPeer(new X509Certificate(own.cert))
    if (role !== 'workflow') throw new Error(`${OWN} is for a ${role}`)
    return {
      toCells: { ...own, ca: await read(identityFiles.control) },
      server: splitBundle(await read(identityFiles.server)),
      cloud,
      sealKey: (await read(SEAL)).trim(),
    }
  } catch (cause) {
    throw new Fault('unavailable', `the certificates in ${directory} are missing or invalid`, {
      cause,
      hint: 'run skerry cloud workflow on the machine that has the issuer keys; it creates them',
    })
  }
}
