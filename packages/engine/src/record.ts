import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { Fault } from '@skerry/fault'
import type { Folder, PowerState, VmId } from '@skerry/vm'

import { domainName } from './definition.ts'
import type { Forward } from './forward.ts'
import { recordFile, recordsDirectory, type Paths } from './paths.ts'

const FORMAT = 1

/** What we must remember of a VM that libvirt does not, or that libvirt takes back at a revert. */
export interface VmRecord {
  readonly format: typeof FORMAT
  readonly id: VmId
  readonly owner: Owner
  readonly incarnation: string
  readonly uuid: string
  /** 'making' and 'leaving' are halves: whoever finds one after a crash takes it away. */
  readonly phase: 'making' | 'there' | 'leaving'
  readonly name: string
  readonly tag: string
  readonly createdAt: string
  /** The request it was made by, in one form: the same again is answered with the same VM. */
  readonly asked: string
  readonly autostart: boolean
  readonly sharing: boolean
  readonly folders: readonly KeptFolder[]
  readonly forwards?: readonly Forward[]
  /** The network of its organisation; the host's own where none is named. */
  readonly network?: string
  /** The one that DHCP always gives it. */
  readonly address?: string
  /** What libvirt was asked to do and has not answered yet. */
  readonly underWay?: UnderWay | undefined
}

/** A mapping, and whose directory it must be whenever it is shown; a name can come to mean another. */
export interface KeptFolder extends Folder {
  readonly uid?: number
}

/** A change that a crash may cut in two, and the power that the VM had before. */
export type UnderWay = { readonly power: PowerState } & (
  | { readonly change: 'start' | 'suspend' }
  | { readonly change: 'keep' | 'revert' | 'remove'; readonly snapshot: string }
)

/** Whose a VM is: each door of a host sees only its own. */
export const owners = ['local', 'cloud'] as const
export type Owner = (typeof owners)[number]

export const newRecord = (
  fields: Pick<
    VmRecord,
    'id' | 'owner' | 'incarnation' | 'uuid' | 'name' | 'tag' | 'createdAt' | 'asked' | 'autostart'
  > &
    Pick<VmRecord, 'network'>,
): VmRecord => ({ format: FORMAT, phase: 'making', sharing: false, folders: [], ...fields })

/** All records of a host, kept in memory beside the files: this process is their only writer. */
export class Records {
  readonly #paths: Paths
  /** By the name of the domain: two owners' ids may be equal. */
  readonly #known = new Map<string, VmRecord>()

  private constructor(paths: Paths) {
    this.#paths = paths
  }

  static async load(paths: Paths): Promise<Records> {
    const records = new Records(paths)
    for (const owner of owners) {
      const directory = recordsDirectory(paths, owner)
      await mkdir(directory, { recursive: true, mode: 0o711 })
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

  /** When this returns, a power cut no longer takes it back. */
  async write(record: VmRecord): Promise<VmRecord> {
    await writeDurably(recordFile(this.#paths, record), `${JSON.stringify(record, null, 2)}\n`)
    this.#known.set(domainName(record), record)
    return record
  }

  /** Known as long as this process lives: for what a power cut ends anyway. */
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

/** The files of a directory that were written to their end. */
export async function readWhole(directory: string): Promise<{ file: string; text: string }[]> {
  const whole: { file: string; text: string }[] = []
  for (const name of await readdir(directory)) {
    const file = join(directory, name)
    // A temporary file is a write that a crash cut short; the file it was to replace still holds.
    if (name.endsWith('.tmp')) await rm(file)
    if (name.endsWith('.json')) whole.push({ file, text: await readFile(file, 'utf8') })
  }
  return whole
}

/** Replaces a file so that after a power cut it is the old one or the new one, whole. */
export async function writeDurably(file: string, text: string): Promise<void> {
  const temporary = `${file}.tmp`
  try {
    await using handle = await open(temporary, 'w', 0o600)
    await handle.writeFile(text)
    await handle.sync()
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  await rename(temporary, file)
  await syncDirectory(dirname(file))
}

export async function syncDirectory(directory: string): Promise<void> {
  await using handle = await open(directory, 'r')
  await handle.sync()
}

function parseRecord(file: string, text: string): VmRecord {
  try {
    const record = JSON.parse(text) as Omit<VmRecord, 'format'> & { format: number }
    if (record.format === FORMAT) return { ...record, format: FORMAT }
    throw new Error(`it has format ${record.format}, this program reads ${FORMAT}`)
  } catch (cause) {
    throw new Fault('unavailable', `the record ${file} cannot be read`, {
      cause,
      hint: 'put it back from a backup, or move it away: its VM is then shown no more',
    })
  }
}
