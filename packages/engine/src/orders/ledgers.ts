import { mkdir, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'

import { syncDirectory, writeDurably } from '@skerry/durable-file'
import { Fault } from '@skerry/fault'
import type { Ledger, VmId } from '@skerry/vm'

import { KeyedLock } from '../host/keyed-lock.ts'
import { readWhole } from '../host/record.ts'

const FORMAT = 1
/** For fencing tokens that arrived without an order; all others are in the VM's own file. */
const HIGHEST = 'highest'

/**
 * The orders that this host received for each cloud VM, in one file per VM, cached in memory: this
 * process is their only writer. Memory may be ahead of the disk; replies wait until the disk has
 * caught up.
 */
export class Ledgers {
  readonly #directory: string
  readonly #now = new Map<VmId, Ledger>()
  readonly #onDisk = new Map<VmId, Ledger>()
  readonly #broken = new Set<VmId>()
  readonly #writing = new Map<VmId, Promise<void>>()
  readonly #locks = new KeyedLock()
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

  /** Whether its file is unreadable: the orders it recorded are lost. */
  isBroken(vm: VmId): boolean {
    return this.#broken.has(vm)
  }

  /** Sets the ledger in memory; `settled` waits until it is on disk. */
  put(ledger: Ledger): void {
    this.#now.set(ledger.vm, ledger)
  }

  isSettled(vm: VmId): boolean {
    return this.#now.get(vm) === this.#onDisk.get(vm)
  }

  /** When this returns, the state in memory at the time of the call survives a power cut. */
  async settled(vm: VmId): Promise<void> {
    while (!this.isSettled(vm)) {
      const before = this.#writing.get(vm)
      if (before) await before.catch(() => undefined)
      else await this.#write(vm)
    }
  }

  /** The highest fencing token ever received, of those that survive a power cut. */
  get highest(): string {
    return String(this.#highestOnDisk)
  }

  /** A fencing token that arrived without an order; persisted by `keepHighest`. */
  hear(fencingToken: string): void {
    const heard = BigInt(fencingToken)
    if (heard > this.#heard) this.#heard = heard
  }

  async keepHighest(): Promise<void> {
    if (this.#heard > this.#highestOnDisk) await this.#storeHighest()
  }

  /** Drops the ledgers of VMs that were deleted before this time. */
  async forgetGone(before: Date): Promise<void> {
    for (const { vm, gone, highest } of this.all()) {
      if (gone === undefined || gone >= before.toISOString() || !this.isSettled(vm)) continue
      // The highest fencing token must outlive the file that held it.
      this.hear(highest)
      await this.#storeHighest()
      this.#now.delete(vm)
      this.#onDisk.delete(vm)
      await rm(join(this.#directory, `${vm}.json`), { force: true })
      await syncDirectory(this.#directory)
    }
  }

  /** One at a time, so that a lower token never replaces a higher one. */
  #storeHighest(): Promise<void> {
    return this.#locks.run(HIGHEST, async () => {
      const highest = this.#heard
      await this.#store(HIGHEST, { highest: String(highest) })
      this.#raise(highest)
    })
  }

  #raise(fencingToken: bigint): void {
    if (fencingToken > this.#highestOnDisk) this.#highestOnDisk = fencingToken
    if (fencingToken > this.#heard) this.#heard = fencingToken
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

/** undefined if one VM's file is unreadable; the others still load. */
function parse(file: string, text: string): Ledger | { readonly highest: string } | undefined {
  try {
    const { format, ...kept } = JSON.parse(text) as Ledger & { format: number }
    if (format === FORMAT && /^\d+$/.test(kept.highest)) return kept
    throw new Error(`its format is ${format}, this program reads ${FORMAT}`)
  } catch (cause) {
    if (basename(file) !== `${HIGHEST}.json`) return undefined
    throw new Fault('unavailable', `${file} cannot be read`, {
      cause,
      hint: 'restore it from a backup; without it stale orders could be accepted',
    })
  }
}
