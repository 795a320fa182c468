/** A frame on its way out. */
export interface Outgoing {
  /** Handed to the transport: from here on the other side may get it. */
  sent: boolean
}

interface Entry extends Outgoing {
  frame: Buffer | undefined
  readonly taken: (() => void) | undefined
}

/**
 * Frames wait here until the end of the tick and leave together; while the other side is behind
 * they stay, and one that nobody waits for any more can still be taken back.
 */
export class Outbox {
  readonly #write: (chunks: readonly Buffer[]) => boolean
  #entries: Entry[] = []
  #waiting: (() => void)[] = []
  #open = false
  #scheduled = false
  #behind = false

  constructor(write: (chunks: readonly Buffer[]) => boolean) {
    this.#write = write
  }

  /** `taken` is called once the frame is gone and there is room for another. */
  push(frame: Buffer, taken?: () => void): Outgoing {
    const entry: Entry = { frame, taken, sent: false }
    this.#entries.push(entry)
    this.#schedule()
    return entry
  }

  /** Takes a frame back that has not left. */
  remove(outgoing: Outgoing): void {
    const index = this.#entries.indexOf(outgoing as Entry)
    if (index !== -1) this.#entries.splice(index, 1)
  }

  /** The transport takes frames. */
  opened(): void {
    this.#open = true
    this.#schedule()
  }

  /** The other side has caught up. */
  drained(): void {
    this.#behind = false
    const waiting = this.#waiting
    this.#waiting = []
    for (const taken of waiting) taken()
    this.#schedule()
  }

  close(): void {
    this.#open = false
    this.#entries = []
    this.#waiting = []
  }

  #schedule(): void {
    if (this.#scheduled || this.#behind || !this.#open || this.#entries.length === 0) return
    this.#scheduled = true
    // After all that is ready to run: calls made in answer to one chunk leave in one write.
    process.nextTick(() => {
      this.#scheduled = false
      this.#flush()
    })
  }

  #flush(): void {
    if (this.#behind || !this.#open || this.#entries.length === 0) return
    const entries = this.#entries
    this.#entries = []
    for (const entry of entries) entry.sent = true
    this.#behind = !this.#write(joined(entries))
    for (const entry of entries) {
      entry.frame = undefined
      if (entry.taken === undefined) continue
      if (this.#behind) this.#waiting.push(entry.taken)
      else entry.taken()
    }
  }
}

/** Frames that lie side by side in memory, as most do, become one piece. */
function joined(entries: readonly Entry[]): Buffer[] {
  const chunks: Buffer[] = []
  let last: Buffer | undefined
  for (const { frame } of entries) {
    if (frame === undefined) continue
    if (last?.buffer === frame.buffer && last.byteOffset + last.length === frame.byteOffset) {
      last = Buffer.from(last.buffer, last.byteOffset, last.length + frame.length)
      chunks[chunks.length - 1] = last
    } else {
      last = frame
      chunks.push(frame)
    }
  }
  return chunks
}
