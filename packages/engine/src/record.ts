import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { Fault } from '@skerry/fault'
import type { Folder, PowerState, VmId } from '@skerry/vm'

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
export type Owner = 'local' | 'cloud'

export const newRecord = (
  fields: Pick<
    VmRecord,
    'id' | 'owner' | 'incarnation' | 'uuid' | 'name' | 'tag' | 'createdAt' | 'asked' | 'autostart'
  >,
): VmRecord => ({ format: FORMAT, phase: 'making', sharing: false, folders: [], ...fields })

/** All records of a host, kept in memory beside the files: this process is their only writer. */
export class Records {
  readonly #paths: Paths
  readonly #known = new Map<VmId, VmRecord>()

  private constructor(paths: Paths) {
    this.#paths = paths
  }

  static async load(paths: Paths): Promise<Records> {
    const records = new Records(paths)
    const directory = recordsDirectory(paths)
    await mkdir(directory, { recursive: true, mode: 0o711 })
    for (const file of await readdir(directory)) {
      // A temporary file is a write that a crash cut short; the file it was to replace still holds.
      if (file.endsWith('.tmp')) await rm(join(directory, file))
      if (!file.endsWith('.json')) continue
      const record = parseRecord(
        join(directory, file),
        await readFile(join(directory, file), 'utf8'),
      )
      records.#known.set(record.id, record)
    }
    return records
  }

  get(id: string): VmRecord | undefined {
    return this.#known.get(id as VmId)
  }

  all(): VmRecord[] {
    return [...this.#known.values()]
  }

  /** When this returns, a power cut no longer takes it back. */
  async write(record: VmRecord): Promise<VmRecord> {
    await writeDurably(recordFile(this.#paths, record.id), `${JSON.stringify(record, null, 2)}\n`)
    this.#known.set(record.id, record)
    return record
  }

  /** Known as long as this process lives: for what a power cut ends anyway. */
  remember(record: VmRecord): VmRecord {
    this.#known.set(record.id, record)
    return record
  }

  async remove(id: VmId): Promise<void> {
    await rm(recordFile(this.#paths, id), { force: true })
    await syncDirectory(recordsDirectory(this.#paths))
    this.#known.delete(id)
  }
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
