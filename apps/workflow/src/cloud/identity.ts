import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { Fault } from '@skerry/fault'
import { askToRenew, whoIsPeer, type Identity } from '@skerry/host-api'
import {
  keepShown,
  shownFiles,
  splitBundle,
  type KeepingShown,
  type KeptIdentity,
  type ShownIdentity,
} from '@skerry/service'

import type { CellAddress } from './cells.ts'

/** What this server shows to cells. */
const OWN = 'workflow.pem'
const SEAL = 'seal.key'

export interface WorkflowIdentity extends ShownIdentity {
  readonly toCells: Identity
  /** 256 bits, by which what is secret is sealed before it is written down. */
  readonly sealKey: string
}

export interface KeepingIdentity extends Pick<
  KeepingShown<WorkflowIdentity>,
  'clock' | 'pause' | 'log' | 'renewed'
> {
  readonly config: { readonly identity: string; readonly renewFrom: readonly CellAddress[] }
}

export const openIdentity = ({
  config: { identity: directory, renewFrom },
  ...world
}: KeepingIdentity): Promise<KeptIdentity<WorkflowIdentity>> =>
  keepShown({
    ...{ ...world, directory, own: OWN },
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
      toCells: { ...own, ca: await read(shownFiles.control) },
      server: splitBundle(await read(shownFiles.server)),
      ...{ cloud, sealKey: (await read(SEAL)).trim() },
    }
  } catch (cause) {
    throw new Fault('unavailable', `the certificates in ${directory} are not whole`, {
      cause,
      hint: 'skerry cloud workflow makes them, on the machine that has the issuers',
    })
  }
}
