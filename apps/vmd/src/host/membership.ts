import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { writeDurably } from '@skerry/durable-file'
import { Fault } from '@skerry/fault'
import { whoIsPeer, type Epochs, type MachineIdentity } from '@skerry/host-api'

/** The membership in a cloud, stored as files only, so that joining works without a running vmd. */
export interface Membership {
  readonly cloud: string
  readonly host: string
  /** `ca` are the control issuers: of clients that may call this host, and of servers that it calls. */
  readonly identity: MachineIdentity
  /** The addresses of cells for machines. */
  readonly cells: readonly KnownCell[]
}

export interface KnownCell {
  readonly address: string
  readonly port: number
}

/** In the cloud's directory below the data directory. */
export const membershipFiles = {
  cert: 'certificate.pem',
  key: 'key.pem',
  ca: 'issuers.pem',
  /** `[{"address": "192.0.2.7", "port": 8444}]` */
  cells: 'cells.json',
  epoch: 'epoch.json',
  /** A key and its certificate that will replace the two above together. */
  nextCert: 'certificate.next.pem',
  nextKey: 'key.next.pem',
  /** Which invitation was used, so that it can be used again after a lost answer. */
  joined: 'joined.json',
} as const

/** undefined if this machine has not joined a cloud. */
export async function readMembership(directory: string): Promise<Membership | undefined> {
  const read = (file: string) => readFile(join(directory, file), 'utf8')
  const cert = await read(membershipFiles.cert).catch(unlessMissing)
  if (cert === undefined) return undefined
  try {
    const { cloud, role, id } = whoIsPeer(new X509Certificate(cert))
    if (role !== 'host') throw new Error(`its certificate is for a ${role}`)
    const key = await read(membershipFiles.key)
    const ca = await read(membershipFiles.ca)
    const cells = JSON.parse(await read(membershipFiles.cells)) as KnownCell[]
    return { cloud, host: id, identity: { key, cert, ca }, cells }
  } catch (cause) {
    throw new Fault('unavailable', `the cloud membership in ${directory} is incomplete`, {
      cause,
      hint: 'join again: skerry vmd join',
    })
  }
}

/** The highest epoch that a cell or console has ever shown to this host. */
export async function openEpochs(directory: string): Promise<Epochs> {
  const file = join(directory, membershipFiles.epoch)
  const text = await readFile(file, 'utf8').catch(unlessMissing)
  let highest = text === undefined ? 0 : (JSON.parse(text) as { epoch: number }).epoch
  let writing = Promise.resolve()
  return {
    get highest() {
      return highest
    },
    async raise(epoch) {
      writing = writing
        .catch(() => undefined)
        .then(async () => {
          if (epoch <= highest) return
          await writeDurably(file, `${JSON.stringify({ epoch })}\n`)
          highest = epoch
        })
      await writing
    },
  }
}

function unlessMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
  throw error
}
