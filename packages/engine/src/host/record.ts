import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { syncDirectory, writeDurably } from '@skerry/durable-file'
import { Fault } from '@skerry/fault'
import type { Folder, Nic, PowerState, VmId } from '@skerry/vm'

import { domainName } from './definition.ts'
import { owners, type Owner } from './owner.ts'
import { recordFile, recordsDirectory, type Paths } from './paths.ts'
import { makeDirectory, PASSABLE_DIRECTORY } from './private-files.ts'

const FORMAT = 1

/** The persistent facts of a VM that libvirt does not store, or that a revert would roll back in libvirt. */
export interface VmRecord {
  readonly format: typeof FORMAT
  readonly id: VmId
  readonly owner: Owner
  readonly incarnation: string
  readonly uuid: string
  /** 'making' and 'leaving' are incomplete: after a crash such a VM is removed. */
  readonly phase: 'making' | 'there' | 'leaving'
  readonly name: string
  readonly tag: string
  readonly createdAt: string
  /** The canonical request that created it: a repeated request returns the same VM. */
  readonly requested: string
  readonly autostart: boolean
  readonly sharing: boolean
  readonly folders: readonly StoredFolder[]
  readonly forwards?: readonly Forward[]
  /** The network of its organisation. Default: the host's own network. */
  readonly network?: string
  /** Its fixed DHCP address. */
  readonly address?: string
  /** Its cards on networks across hosts; it has no `network` and no `address` then. */
  readonly nics?: readonly Nic[]
  /** In phase 'making': the move by which it comes from another host. */
  readonly arrival?: string | undefined
  /** The change that libvirt was asked for and has not confirmed yet. */
  readonly underWay?: UnderWay | undefined
}

/** A mapping with the required owner of its directory, checked whenever it is shown: the path may later mean another directory. */
export interface StoredFolder extends Folder {
  readonly uid?: number
}

/** A change that a crash may interrupt, with the VM's power state before it. */
export type UnderWay = { readonly power: PowerState } & (
  | { readonly change: 'start' | 'suspend' }
  | { readonly change: 'keep' | 'revert' | 'remove'; readonly snapshot: string }
)

export const newRecord = (
  fields: Pick<
    VmRecord,
    | 'id'
    | 'owner'
    | 'incarnation'
    | 'uuid'
    | 'name'
    | 'tag'
    | 'createdAt'
    | 'requested'
    | 'autostart'
  > &
    Pick<VmRecord, 'network' | 'nics'>,
): VmRecord => ({ format: FORMAT, phase: 'making', sharing: false, folders: [], ...fields })

/** All records of a host, cached in memory: this process is their only writer. */
export class Records {
  readonly #paths: Paths
  /** By domain name: ids of two owners may be equal. */
  readonly #known = new Map<string, VmRecord>()

  private constructor(paths: Paths) {
    this.#paths = paths
  }

  static async load(paths: Paths): Promise<Records> {
    const records = new Records(paths)
    for (const owner of owners) {
      const directory = recordsDirectory(paths, owner)
      await makeDirectory(directory, PASSABLE_DIRECTORY)
      for (const text of await readWhole(directory)) {
        const record = parseRecord(text.file, text.text)
        records.#known.set(domainName(record), record)
      }
    }
    return records
  }

  get(id: string, owner: Owner = 'local'): VmRecord | undefined {
    return this.#known.get(domainName({ id, owner }))
  }

  all(): VmRecord[] {
    return [...this.#known.values()]
  }

  /** When this returns, the record survives a power cut. */
  async write(record: VmRecord): Promise<VmRecord> {
    await writeDurably(recordFile(this.#paths, record), `${JSON.stringify(record, null, 2)}\n`)
    this.#known.set(domainName(record), record)
    return record
  }

  /** Keeps a record in memory only, for facts that a power cut makes obsolete anyway. */
  remember(record: VmRecord): VmRecord {
    this.#known.set(domainName(record), record)
    return record
  }

  async remove(record: Pick<VmRecord, 'id' | 'owner'>): Promise<void> {
    await rm(recordFile(this.#paths, record), { force: true })
    await syncDirectory(recordsDirectory(this.#paths, record.owner))
    this.#known.delete(domainName(record))
  }
}

/** The completely written files of a directory. */
export async function readWhole(directory: string): Promise<{ file: string; text: string }[]> {
  const whole: { file: string; text: string }[] = []
  for (const name of await readdir(directory)) {
    const file = join(directory, name)
    // A temporary file is an interrupted write; the file it was to replace is still valid.
    if (name.endsWith('.tmp')) await rm(file)
    if (name.endsWith('.json')) whole.push({ file, text: await readFile(file, 'utf8') })
  }
  return whole
}

interface StoredRecord extends Omit<VmRecord, 'format' | 'requested'> {
  readonly format: number
  readonly requested?: string
  /** What earlier versions call `requested`. */
  readonly asked?: string
}

function parseRecord(file: string, text: string): VmRecord {
  try {
    const { asked, ...record } = JSON.parse(text) as StoredRecord
    if (record.format === FORMAT) {
      return { ...record, format: FORMAT, requested: record.requested ?? asked ?? '' }
    }
    throw new Error(`its format is ${record.format}, this program reads ${FORMAT}`)
  } catch (cause) {
    throw new Fault('unavailable', `the record ${file} cannot be read`, {
      cause,
      hint: 'restore it from a backup, or move it away: its VM is then no longer listed',
    })
  }
}

/** A port of this host that forwards to a port of the guest. The caller that opened the host opens the port. */
export interface Forward {
  readonly hostAddress: '127.0.0.1' | '::1'
  readonly hostPort: number
  readonly guestPort: number
  readonly protocol: 'tcp'
}
