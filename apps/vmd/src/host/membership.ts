import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { writeDurably } from '@skerry/engine'
import { Fault } from '@skerry/fault'
import { whoIsPeer, type Epochs, type Identity } from '@skerry/host-api'

/** What joining a cloud has left on this machine. All of it is files, so that joining needs no vmd that runs. */
export interface Membership {
  readonly cloud: string
  readonly host: string
  /** `ca` is the control issuers: whoever may ask this host, and whomever it asks. */
  readonly identity: Identity
  /** Where cells listen for machines. */
  readonly cells: readonly CellAddress[]
}

export interface CellAddress {
  readonly address: string
  readonly port: number
}

/** In the cloud's directory below the data directory: certificate.pem, key.pem, issuers.pem, cells.json. */
export const membershipFiles = {
  cert: 'certificate.pem',
  key: 'key.pem',
  ca: 'issuers.pem',
  /** `[{"address": "192.0.2.7", "port": 8444}]` */
  cells: 'cells.json',
  epoch: 'epoch.json',
  /** A key and its certificate that are to replace the two above together. */
  nextCert: 'certificate.next.pem',
  nextKey: 'key.next.pem',
  /** Which invitation was used, so that it can be used again after a lost answer. */
  joined: 'joined.json',
} as const

/** undefined where this machine has not joined a cloud. */
export async function readMembership(directory: string): Promise<Membership | undefined> {
  const read = (file: string) => readFile(join(directory, file), 'utf8')
  const cert = await read(membershipFiles.cert).catch(unlessMissing)
  if (cert === undefined) return undefined
  try {
    const { cloud, role, id } = whoIsPeer(new X509Certificate(cert))
    if (role !== 'host') throw new Error(`its certificate is for a ${role}`)
    const key = await read(membershipFiles.key)
    const ca = await read(membershipFiles.ca)
    const cells = JSON.parse(await read(membershipFiles.cells)) as CellAddress[]
    return { cloud, host: id, identity: { key, cert, ca }, cells }
  } catch (cause) {
    throw new Fault(
      'unavailable',
      `what this machine has of its cloud in ${directory} is not whole`,
      {
        cause,
        hint: 'let it join again: skerry vmd join',
      },
    )
  }
}

/** The highest epoch that a cell or console has ever shown here. */
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
