/** An outgoing frame. */
export interface Outgoing {
  /** Handed to the transport: from here on the peer may receive it. */
  sent: boolean
}

interface Entry extends Outgoing {
  frame: Buffer | undefined
  readonly taken: (() => void) | undefined
}

/**
 * Frames wait here until the end of the tick and are sent together. While the peer is slow they
 * stay, and a frame whose caller gave up can still be removed.
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

  /** `taken` is called once the frame is sent and there is space for another. */
  push(frame: Buffer, taken?: () => void): Outgoing {
    const entry: Entry = { frame, taken, sent: false }
    this.#entries.push(entry)
    this.#schedule()
    return entry
  }

  /** Removes a frame that has not been sent. */
  remove(outgoing: Outgoing): void {
    const index = this.#entries.indexOf(outgoing as Entry)
    if (index !== -1) this.#entries.splice(index, 1)
  }

  /** The transport accepts frames. */
  opened(): void {
    this.#open = true
    this.#schedule()
  }

  /** The peer has caught up. */
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
    // After all pending microtasks: calls made in response to one chunk are sent in one write.
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

/** Merges frames that are adjacent in memory, as most are. */
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
