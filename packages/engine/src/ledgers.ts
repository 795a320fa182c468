import { mkdir, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'

import { Fault } from '@skerry/fault'
import type { Ledger, VmId } from '@skerry/vm'

import { readWhole, syncDirectory, writeDurably } from './record.ts'

const FORMAT = 1
/** The VM's own file holds the rest; this one is for numbers that came with no order. */
const HIGHEST = 'highest'

/**
 * What every VM of the cloud was ordered on this host, in one file each, kept in memory beside
 * the files: this process is their only writer. Memory may be ahead of the disk; whoever is to be
 * answered waits until the disk has it.
 */
export class Ledgers {
  readonly #directory: string
  readonly #now = new Map<VmId, Ledger>()
  readonly #onDisk = new Map<VmId, Ledger>()
  readonly #broken = new Set<VmId>()
  readonly #writing = new Map<VmId, Promise<void>>()
  #heard = 0n
  #highestOnDisk = 0n

  private constructor(directory: string) {
    this.#directory = directory
  }

  static async load(directory: string): Promise<Ledgers> {
    const ledgers = new Ledgers(directory)
    await mkdir(directory, { recursive: true, mode: 0o700 })
    for (const { file, text } of await readWhole(directory)) {
      const kept = parse(file, text)
      if (kept === undefined) {
        ledgers.#broken.add(basename(file, '.json') as VmId)
        continue
      }
      if ('vm' in kept) {
        ledgers.#now.set(kept.vm, kept)
        ledgers.#onDisk.set(kept.vm, kept)
      }
      ledgers.#raise(BigInt(kept.highest))
    }
    return ledgers
  }

  get(vm: VmId): Ledger | undefined {
    return this.#now.get(vm)
  }

  all(): Ledger[] {
    return [...this.#now.values()]
  }

  /** Whether there is a file for it that nobody can read: what it was ordered is lost. */
  isBroken(vm: VmId): boolean {
    return this.#broken.has(vm)
  }

  /** From now on this counts, in memory; `settled` says when it does on disk. */
  put(ledger: Ledger): void {
    this.#now.set(ledger.vm, ledger)
  }

  isSettled(vm: VmId): boolean {
    return this.#now.get(vm) === this.#onDisk.get(vm)
  }

  /** When this returns, a power cut no longer takes back what memory had when it was called. */
  async settled(vm: VmId): Promise<void> {
    while (!this.isSettled(vm)) {
      const before = this.#writing.get(vm)
      if (before) await before.catch(() => undefined)
      else await this.#write(vm)
    }
  }

  /** The highest number there ever was, of those that no power cut takes back. */
  get highest(): string {
    return String(this.#highestOnDisk)
  }

  /** A number that came with no order; written down by `keepHighest`. */
  hear(number: string): void {
    const heard = BigInt(number)
    if (heard > this.#heard) this.#heard = heard
  }

  async keepHighest(): Promise<void> {
    const highest = this.#heard
    if (highest <= this.#highestOnDisk) return
    await this.#store(HIGHEST, { highest: String(highest) })
    this.#raise(highest)
  }

  /** Forgets VMs that were deleted before this time. */
  async forgetGone(before: Date): Promise<void> {
    for (const { vm, gone, highest } of this.all()) {
      if (gone === undefined || gone >= before.toISOString() || !this.isSettled(vm)) continue
      // What was the highest number stays so without the file that had it.
      this.hear(highest)
      await this.#store(HIGHEST, { highest: String(this.#highestOnDisk) })
      this.#now.delete(vm)
      this.#onDisk.delete(vm)
      await rm(join(this.#directory, `${vm}.json`), { force: true })
      await syncDirectory(this.#directory)
    }
  }

  #raise(number: bigint): void {
    if (number > this.#highestOnDisk) this.#highestOnDisk = number
    if (number > this.#heard) this.#heard = number
  }

  async #write(vm: VmId): Promise<void> {
    const ledger = this.#now.get(vm)
    if (!ledger) return
    const writing = this.#store(vm, ledger).then(() => {
      this.#onDisk.set(vm, ledger)
      this.#broken.delete(vm)
      this.#raise(BigInt(ledger.highest))
    })
    this.#writing.set(vm, writing)
    try {
      await writing
    } finally {
      this.#writing.delete(vm)
    }
  }

  async #store(name: string, content: object): Promise<void> {
    const text = JSON.stringify({ format: FORMAT, ...content }, null, 2)
    await writeDurably(join(this.#directory, `${name}.json`), `${text}\n`)
  }
}

/** undefined where one VM's file cannot be read; the others go on. */
function parse(file: string, text: string): Ledger | { readonly highest: string } | undefined {
  try {
    const { format, ...kept } = JSON.parse(text) as Ledger & { format: number }
    if (format === FORMAT && /^\d+$/.test(kept.highest)) return kept
    throw new Error(`it has format ${format}, this program reads ${FORMAT}`)
  } catch (cause) {
    if (basename(file) !== `${HIGHEST}.json`) return undefined
    throw new Fault('unavailable', `${file} cannot be read`, {
      cause,
      hint: 'put it back from a backup; without it late orders could be taken for new ones',
    })
  }
}
