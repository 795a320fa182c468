const QUOTE = 0x22
const BACKSLASH = 0x5c
const SPACE = 0x20
/** Brackets and braces differ in one bit, which is set here. */
const OPENING = 0x7b
const CLOSING = 0x7d
const EITHER = 0x20

/**
 * Cuts a stream of bytes into JSON objects. OVSDB puts nothing between them: the outermost bracket shows where one ends. Bytes are
 * scanned, not characters, so that a cut may be within a character.
 */
export class MessageReader {
  readonly #maxBytes: number
  readonly #receive: (message: unknown) => void
  /** The beginning of an unfinished message. */
  #chunks: Buffer[] = []
  #bytes = 0
  #depth = 0
  #isText = false
  #isEscaped = false
  #isStopped = false

  constructor(maxBytes: number, receive: (message: unknown) => void) {
    this.#maxBytes = maxBytes
    this.#receive = receive
  }

  /** Throws if the bytes are no JSON objects, or one of them is too large. */
  push(chunk: Buffer): void {
    let from = 0
    for (let at = 0; at < chunk.length && !this.#isStopped; at += 1) {
      if (!this.#endsWith(chunk[at] ?? 0)) continue
      this.#keep(chunk.subarray(from, at + 1))
      from = at + 1
      const text = Buffer.concat(this.#chunks).toString()
      this.#chunks = []
      this.#bytes = 0
      this.#receive(JSON.parse(text))
    }
    if (from < chunk.length) this.#keep(chunk.subarray(from))
  }

  /** Discards everything from now on, also the rest of the current chunk. */
  stop(): void {
    this.#isStopped = true
    this.#chunks = []
  }

  #keep(bytes: Buffer): void {
    if (this.#isStopped) return
    this.#bytes += bytes.length
    if (this.#bytes > this.#maxBytes) {
      throw new Error(`a message of more than ${this.#maxBytes} bytes`)
    }
    this.#chunks.push(bytes)
  }

  /** Whether a message ends with this byte. */
  #endsWith(byte: number): boolean {
    if (this.#isText) {
      if (this.#isEscaped) this.#isEscaped = false
      else if (byte === BACKSLASH) this.#isEscaped = true
      else if (byte === QUOTE) this.#isText = false
      return false
    }
    if ((byte | EITHER) === OPENING) this.#depth += 1
    else if (this.#depth === 0) {
      // Line breaks and tabs are below the space.
      if (byte > SPACE) throw new Error('bytes that are no JSON object')
    } else if (byte === QUOTE) this.#isText = true
    else if ((byte | EITHER) === CLOSING) {
      this.#depth -= 1
      return this.#depth === 0
    }
    return false
  }
}
