import { stat, statfs } from 'node:fs/promises'

import { Fault } from '@skerry/fault'

/** Stays free for records, logs and the writes of running guests. */
export const RESERVE_BYTES = 256 * 1024 * 1024

/**
 * Reserves disk space for running work. The bytes that work may write are held until it ends. Work that starts meanwhile and may
 * not fit beside it waits for its end: only then is it known how much was written.
 */
export class Room {
  /** Bytes, by file system. */
  readonly #held = new Map<number, number>()
  readonly #freeBytes: (directory: string) => Promise<number>
  #released = Promise.withResolvers<void>()

  constructor(free = freeBytes) {
    this.#freeBytes = free
  }

  /** Rejects work that does not fit before it starts. Disposing of the returned hold releases the space. */
  async hold(directory: string, bytes: number, what: string): Promise<Disposable> {
    const { dev } = await stat(directory)
    for (;;) {
      const released = this.#released.promise
      const before = this.#heldOn(dev)
      const free = await this.#freeBytes(directory)
      // Space released during the query may not be in its result yet.
      const held = Math.max(before, this.#heldOn(dev))
      if (free - held - RESERVE_BYTES >= bytes) return this.#take(dev, bytes)
      if (held === 0 || free - RESERVE_BYTES < bytes) throw noRoom(directory, bytes, what, free)
      await released
    }
  }

  #take(dev: number, bytes: number): Disposable {
    this.#held.set(dev, this.#heldOn(dev) + bytes)
    return {
      [Symbol.dispose]: () => {
        this.#held.set(dev, this.#heldOn(dev) - bytes)
        this.#released.resolve()
        this.#released = Promise.withResolvers()
      },
    }
  }

  #heldOn(dev: number): number {
    return this.#held.get(dev) ?? 0
  }
}

const noRoom = (directory: string, bytes: number, what: string, free: number): Fault =>
  new Fault(
    'no-room',
    `${what} needs ${mebibytes(bytes + RESERVE_BYTES)} MiB free in ${directory}, but only ${mebibytes(free)} MiB are free`,
    { hint: 'delete VMs, snapshots or templates that are no longer needed, or add storage' },
  )

export async function freeBytes(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory)
  return bavail * bsize
}

const mebibytes = (bytes: number): number => Math.ceil(bytes / 1024 ** 2)
