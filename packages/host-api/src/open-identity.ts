import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { Fault } from '@skerry/fault'
import {
  identityFiles,
  keepServerIdentity,
  splitBundle,
  type KeyAndCert,
  type RenewedIdentity,
  type ServerIdentity,
  type ServerIdentityOptions,
} from '@skerry/service'

import { askToRenew } from './ask-to-renew.ts'
import type { MachineIdentity } from './ask.ts'
import { whoIsPeer, type MachineRole } from './machine-name.ts'

/** The certificates of a console or a workflow server. */
export interface ClientOfCells extends ServerIdentity {
  readonly toCells: MachineIdentity
}

export interface IdentityContext extends Pick<
  ServerIdentityOptions<ClientOfCells>,
  'clock' | 'pause' | 'log' | 'renewed'
> {
  readonly config: {
    /** The directory of certificates and keys. */
    readonly identity: string
    readonly renewFrom: readonly { readonly address: string; readonly port: number }[]
  }
}

export interface IdentityContents<More> {
  /** `skerry admin ROLE-server create` creates the directory; the certificate for machines is ROLE.pem. */
  readonly role: Extract<MachineRole, 'console' | 'workflow'>
  /** What else this server takes from the directory. */
  readonly more: (own: KeyAndCert, read: (file: string) => Promise<string>) => Promise<More>
}

/** Reads the identity of a server that is no cell and no host, and renews it while the server runs. */
export function openServerIdentity<More extends object>(
  { config: { identity: directory, renewFrom }, ...context }: IdentityContext,
  { role, more }: IdentityContents<More>,
): Promise<RenewedIdentity<ClientOfCells & More>> {
  const own = `${role}.pem`
  const readAll = async (): Promise<ClientOfCells & More> => {
    const read = (file: string) => readFile(join(directory, file), 'utf8')
    const shown = splitBundle(await read(own))
    const { role: named, cloud } = whoIsPeer(new X509Certificate(shown.cert))
    if (named !== role) throw new Error(`${own} is for a ${named}`)
    return {
      toCells: { ...shown, ca: await read(identityFiles.control) },
      server: splitBundle(await read(identityFiles.server)),
      cloud,
      ...(await more(shown, read)),
    }
  }
  return keepServerIdentity({
    ...context,
    directory,
    own,
    read: () =>
      readAll().catch((cause: unknown) => {
        throw new Fault('unavailable', `the certificates in ${directory} are missing or invalid`, {
          cause,
          hint: `run skerry admin ${role}-server create on the machine that has the issuer keys; it creates them`,
        })
      }),
    ask: ({ toCells }, request, site) => askToRenew(renewFrom, toCells, request, site),
  })
}
