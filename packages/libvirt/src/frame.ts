import { ProtocolError } from './error.ts'
import { XdrError, type Codec, type XdrWriter } from './xdr.ts'

/** The length word and the six words after it. */
export const HEADER_BYTES = 28

// libvirt's own limit, VIR_NET_MESSAGE_MAX, which does not count the length word.
export const FRAME_BYTES_MAX = 32 * 1024 * 1024 + 4

export const messageType = {
  call: 0,
  reply: 1,
  message: 2,
  stream: 3,
  callWithFds: 4,
  replyWithFds: 5,
  streamHole: 6,
} as const

export const messageStatus = { ok: 0, error: 1, continue: 2 } as const

/** Every program that this client uses has version 1. */
export const PROGRAM_VERSION = 1

export interface Header {
  readonly program: number
  readonly version: number
  readonly procedure: number
  readonly type: number
  readonly serial: number
  readonly status: number
}

/** A whole frame: its length, its header and the encoded value. */
export function encodeFrame<T>(
  out: XdrWriter,
  header: Omit<Header, 'version'>,
  codec: Codec<T>,
  value: T,
): Buffer {
  out.begin(HEADER_BYTES)
  try {
    codec.write(out, value)
    const frame = out.end()
    if (frame.length > FRAME_BYTES_MAX) {
      throw new XdrError(
        `a message of ${frame.length} bytes; libvirt accepts at most ${FRAME_BYTES_MAX}`,
      )
    }
    frame.writeUInt32BE(frame.length, 0)
    frame.writeUInt32BE(header.program, 4)
    frame.writeUInt32BE(PROGRAM_VERSION, 8)
    frame.writeInt32BE(header.procedure, 12)
    frame.writeUInt32BE(header.type, 16)
    frame.writeUInt32BE(header.serial, 20)
    frame.writeUInt32BE(header.status, 24)
    return frame
  } catch (error) {
    out.undo()
    throw error
  }
}

export function readHeader(frame: Buffer): Header {
  return {
    program: frame.readUInt32BE(4),
    version: frame.readUInt32BE(8),
    procedure: frame.readInt32BE(12),
    type: frame.readUInt32BE(16),
    serial: frame.readUInt32BE(20),
    status: frame.readUInt32BE(24),
  }
}

// Memory for a frame grows as its bytes arrive: a length alone must cost nothing.
const FIRST_PIECE_BYTES = 64 * 1024

/** Splits incoming bytes into frames. A frame that lies within one chunk is delivered without a copy. */
export class FrameReader {
  readonly #deliver: (frame: Buffer) => void
  #begun: Buffer | undefined
  #have = 0
  #stopped = false

  constructor(deliver: (frame: Buffer) => void) {
    this.#deliver = deliver
  }

  /** Throws a ProtocolError on an invalid length; after that the link cannot be used. */
  push(chunk: Buffer): void {
    let rest = chunk
    while (rest.length > 0 && !this.#stopped) {
      rest = this.#begun === undefined ? this.#fromChunk(rest) : this.#resume(this.#begun, rest)
    }
  }

  /** Stops delivery, even of frames that have already arrived. */
  stop(): void {
    this.#stopped = true
    this.#begun = undefined
  }

  #fromChunk(chunk: Buffer): Buffer {
    if (chunk.length < 4) return this.#begin(chunk, FIRST_PIECE_BYTES)
    const length = checkLength(chunk.readUInt32BE(0))
    if (chunk.length < length) return this.#begin(chunk, Math.min(length, FIRST_PIECE_BYTES))
    this.#deliver(chunk.subarray(0, length))
    return chunk.subarray(length)
  }

  #begin(chunk: Buffer, room: number): Buffer {
    this.#begun = Buffer.allocUnsafeSlow(Math.max(room, chunk.length))
    this.#have = chunk.copy(this.#begun)
    return chunk.subarray(chunk.length)
  }

  #resume(begun: Buffer, chunk: Buffer): Buffer {
    if (this.#have < 4) {
      const taken = chunk.copy(begun, this.#have, 0, 4 - this.#have)
      this.#have += taken
      if (this.#have === 4) checkLength(begun.readUInt32BE(0))
      return chunk.subarray(taken)
    }
    const length = begun.readUInt32BE(0)
    const taken = Math.min(length - this.#have, chunk.length)
    const frame = withRoom(begun, this.#have, this.#have + taken, length)
    chunk.copy(frame, this.#have, 0, taken)
    this.#have += taken
    this.#begun = frame
    if (this.#have === length) {
      this.#begun = undefined
      this.#deliver(frame.subarray(0, length))
    }
    return chunk.subarray(taken)
  }
}

function withRoom(buffer: Buffer, have: number, need: number, length: number): Buffer {
  if (need <= buffer.length) return buffer
  const larger = Buffer.allocUnsafeSlow(Math.min(length, Math.max(need, buffer.length * 2)))
  buffer.copy(larger, 0, 0, have)
  return larger
}

function checkLength(length: number): number {
  if (length < HEADER_BYTES || length > FRAME_BYTES_MAX) {
    throw new ProtocolError(`a frame of ${length} bytes`)
  }
  return length
}
