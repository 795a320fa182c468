import { Duplex, type DuplexOptions } from 'node:stream'

import { ProtocolError, readError } from './error.ts'
import { HEADER_BYTES, messageStatus, messageType, type Header } from './frame.ts'
import { XdrReader } from './xdr.ts'

// libvirt's protocol has no flow control window. Beyond this limit the socket is not read, so that
// the server eventually stops reading its file or its guest.
export const STREAM_WINDOW_BYTES = 4 * 1024 * 1024

// The size that every version of libvirt accepts in one stream message.
const PIECE_BYTES = 256 * 1024 - 1024

/** The connection as seen by a stream. */
export interface StreamLink {
  readonly procedure: string
  readonly direction: 'read' | 'write'
  /** `taken` is called when there is space for more. */
  send(status: number, data: Buffer | undefined, taken?: () => void): void
  /** Pauses reading from the link, or resumes it. */
  hold(held: boolean): void
  /** Ignores all further messages for this stream. */
  forget(): void
}

/**
 * A libvirt stream as a Node stream. It ends when both sides have ended it: `finish` is emitted after
 * the server has confirmed that it has everything, and `destroy` before that aborts it at the server.
 */
export class LibvirtStream extends Duplex {
  readonly #link: StreamLink
  #queue: Buffer[] = []
  #queued = 0
  #wanted = false
  #held = false
  #ended = false
  #over = false
  #finished: ((error?: Error | null) => void) | undefined

  constructor(link: StreamLink) {
    // Node's types lack the option that makes one side of a Duplex absent.
    const options: DuplexOptions & { readable: boolean } = {
      allowHalfOpen: false,
      readable: link.direction === 'read',
    }
    super(options)
    this.#link = link
    // It may fail before its owner listens; reading or writing reports the error.
    this.on('error', () => {})
  }

  /** Handles a message of the server for this stream. */
  accept(header: Header, frame: Buffer): void {
    if (this.#over) return
    if (header.status === messageStatus.error) this.lose(this.#readError(frame))
    else if (header.status === messageStatus.ok) this.#confirmed()
    else if (header.status !== messageStatus.continue) {
      throw new ProtocolError(`a stream message with status ${header.status}`)
    } else if (header.type === messageType.streamHole) this.destroy(this.#holeError())
    else this.#takeData(frame.subarray(HEADER_BYTES))
  }

  /** Ends it without a message to the server, which knows or is gone. */
  lose(error?: Error): void {
    this.#leave()
    this.destroy(error)
  }

  override _read(): void {
    this.#wanted = true
    this.#pump()
  }

  override _write(chunk: Buffer, _: string, done: (error?: Error | null) => void): void {
    let offset = 0
    const next = (): void => {
      if (this.#over || offset >= chunk.length) return done()
      const piece = chunk.subarray(offset, offset + PIECE_BYTES)
      offset += piece.length
      this.#link.send(messageStatus.continue, piece, next)
    }
    next()
  }

  override _final(done: (error?: Error | null) => void): void {
    if (this.#over) return done()
    this.#finished = done
    this.#link.send(messageStatus.ok, undefined)
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.#over) {
      // A reader that has everything may leave before its end message is confirmed, or even sent.
      const whole = this.#ended && error === null
      if (this.#finished === undefined) {
        this.#link.send(whole ? messageStatus.ok : messageStatus.error, undefined)
      }
      this.#leave()
    }
    this.#finished = undefined
    done(error)
  }

  #takeData(data: Buffer): void {
    if (this.#ended || this.#link.direction === 'write') return
    if (data.length === 0) {
      this.#ended = true
    } else {
      this.#queue.push(Buffer.from(data))
      this.#queued += data.length
    }
    this.#pump()
  }

  #confirmed(): void {
    const done = this.#finished
    if (done === undefined) {
      this.lose(new ProtocolError(`${this.#link.procedure}: libvirt ended a stream unexpectedly`))
      return
    }
    this.#leave()
    this.#ended = true
    this.#pump()
    done()
  }

  #pump(): void {
    while (this.#wanted) {
      const next = this.#queue.shift()
      if (next === undefined) break
      this.#queued -= next.length
      this.#wanted = this.push(next)
    }
    if (this.#ended && this.#queue.length === 0 && this.#link.direction === 'read') this.push(null)
    // Once the stream is over no more data arrives, regardless of the unread amount.
    if (this.#over) return
    this.#hold(this.#queued > (this.#held ? STREAM_WINDOW_BYTES / 2 : STREAM_WINDOW_BYTES))
  }

  #hold(held: boolean): void {
    if (held === this.#held) return
    this.#held = held
    this.#link.hold(held)
  }

  #leave(): void {
    this.#over = true
    this.#hold(false)
    this.#link.forget()
  }

  #holeError(): Error {
    return new ProtocolError(
      `${this.#link.procedure}: received a hole, which only sparse streams have: omit sparseStream`,
    )
  }

  #readError(frame: Buffer): Error {
    try {
      return readError(this.#link.procedure, new XdrReader(frame, HEADER_BYTES))
    } catch (cause) {
      return new ProtocolError(`${this.#link.procedure}: invalid error message`, { cause })
    }
  }
}
