import { Calls, type AnyProcedure } from './calls.ts'
import { LinkLost, ProtocolError } from './error.ts'
import { EventTable } from './events.ts'
import {
  encodeFrame,
  FrameReader,
  messageStatus,
  messageType,
  PROGRAM_VERSION,
  readHeader,
  type Header,
} from './frame.ts'
import {
  Keepalive,
  KEEPALIVE_PROGRAM,
  keepaliveProcedure,
  type KeepaliveSettings,
} from './keepalive.ts'
import { Outbox, type Outgoing } from './outbox.ts'
import { QEMU_PROGRAM, REMOTE_PROGRAM } from './procedures.gen.ts'
import { LibvirtStream } from './stream.ts'
import type { Timers } from './timers.ts'
import type { Transport } from './transport.ts'
import { nothing, XdrError, XdrWriter, type Codec } from './xdr.ts'

interface LinkOptions {
  readonly transport: Transport
  readonly timers: Timers
  readonly timeoutMs: number
}

type Named = Pick<AnyProcedure<unknown, unknown>, 'name' | 'program' | 'number'>

interface OpenStream {
  readonly procedure: Named
  readonly stream: LibvirtStream
}

const rawBytes: Codec<Buffer> = {
  shape: { kind: 'nothing' },
  write: (out, value) => out.raw(value),
  read: () => Buffer.alloc(0),
}

/** One link to a daemon: dispatches incoming messages to their receivers, and ends all of them together. */
export class Link {
  readonly calls: Calls
  readonly events = new EventTable()
  /** Resolves with the reason, once the link is lost. */
  readonly closed: Promise<LinkLost>
  readonly opened: Promise<void>
  readonly #transport: Transport
  readonly #timers: Timers
  readonly #outbox: Outbox
  readonly #frames: FrameReader
  readonly #writer = new XdrWriter()
  readonly #streams = new Map<number, OpenStream>()
  readonly #held = new Set<number>()
  readonly #resolveClosed: (reason: LinkLost) => void
  readonly #rejectOpened: (reason: LinkLost) => void
  #keepalive: Keepalive | undefined
  #lost: LinkLost | undefined
  #pong: Outgoing | undefined

  constructor({ transport, timers, timeoutMs }: LinkOptions) {
    const closed = Promise.withResolvers<LinkLost>()
    const opened = Promise.withResolvers<void>()
    opened.promise.catch(() => {})
    this.closed = closed.promise
    this.opened = opened.promise
    this.#resolveClosed = closed.resolve
    this.#rejectOpened = opened.reject
    this.#transport = transport
    this.#timers = timers
    this.#outbox = new Outbox((chunks) => transport.write(chunks))
    this.#frames = new FrameReader((frame) => this.#deliver(frame))
    this.calls = new Calls({
      writer: this.#writer,
      outbox: this.#outbox,
      timers,
      timeoutMs,
      isTaken: (serial) => this.#streams.has(serial),
      lose: (reason) => this.end(reason),
    })
    transport.start({
      opened: () => {
        this.#outbox.opened()
        opened.resolve()
      },
      received: (chunk) => this.#received(chunk),
      drained: () => this.#outbox.drained(),
      closed: (cause) => {
        const detail = cause === undefined ? '' : `: ${cause.message}`
        this.end(`the link to libvirt is closed${detail}`, cause)
      },
    })
  }

  /** Why the link is lost, or undefined while it is open. */
  get lost(): LinkLost | undefined {
    return this.#lost
  }

  startKeepalive(settings: KeepaliveSettings): void {
    if (this.#lost !== undefined) return
    this.#keepalive = new Keepalive(settings, {
      timers: this.#timers,
      isPaused: () => this.#held.size > 0,
      send: (procedure) => void this.#sendKeepalive(procedure),
      dead: (reason) => this.end(reason),
    })
    this.#keepalive.start()
  }

  /** A stream must be registered before its call is sent: its first bytes may overtake the answer. */
  addStream(serial: number, procedure: Named, direction: 'read' | 'write'): LibvirtStream {
    const stream = new LibvirtStream({
      procedure: procedure.name,
      direction,
      send: (status, data, taken) => this.sendStream(serial, procedure, status, data, taken),
      hold: (held) => this.#hold(serial, held),
      forget: () => void this.#streams.delete(serial),
    })
    this.#streams.set(serial, { procedure, stream })
    return stream
  }

  sendStream(
    serial: number,
    { program, number }: Named,
    status: number,
    data?: Buffer,
    taken?: () => void,
  ): void {
    if (this.#lost !== undefined) return
    const header = { program, procedure: number, type: messageType.stream, serial, status }
    const frame = encodeFrame(this.#writer, header, rawBytes, data ?? Buffer.alloc(0))
    this.#outbox.push(frame, taken)
  }

  /** Ends the link: every call, event reader and stream fails now. Later reasons are ignored. */
  end(reason: string, cause?: unknown): void {
    if (this.#lost !== undefined) return
    const lost = new LinkLost(reason, { cause })
    this.#lost = lost
    this.#keepalive?.stop()
    this.#frames.stop()
    this.#outbox.close()
    this.#transport.destroy()
    this.#rejectOpened(lost)
    this.calls.failAll(reason, cause)
    this.events.loseAll(() => new LinkLost(reason, { cause }))
    for (const { stream, procedure } of this.#streams.values()) {
      stream.lose(new LinkLost(reason, { procedure: procedure.name, cause }))
    }
    this.#resolveClosed(lost)
  }

  #received(chunk: Buffer): void {
    try {
      this.#frames.push(chunk)
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error)
      this.end(`libvirt violated its protocol: ${detail}`, error)
      // An exception of a stream's listener belongs to its owner and must not be swallowed.
      if (!(error instanceof ProtocolError || error instanceof XdrError)) throw error
    }
  }

  #deliver(frame: Buffer): void {
    const header = readHeader(frame)
    this.#keepalive?.heard()
    if (header.version !== PROGRAM_VERSION) {
      throw new ProtocolError(`a message of protocol version ${header.version}`)
    }
    if (header.program === KEEPALIVE_PROGRAM) return this.#answerKeepalive(header)
    if (header.program !== REMOTE_PROGRAM && header.program !== QEMU_PROGRAM) {
      throw new ProtocolError(`a message of the unknown program ${header.program}`)
    }
    switch (header.type) {
      case messageType.reply:
        return this.calls.receive(header, frame)
      case messageType.message:
        if (header.status !== messageStatus.ok) {
          throw new ProtocolError(`an event with status ${header.status}`)
        }
        return this.events.receive(header, frame)
      case messageType.stream:
      case messageType.streamHole:
        return this.#deliverStream(header, frame)
      default:
        throw new ProtocolError(`a message of type ${header.type}`)
    }
  }

  #deliverStream(header: Header, frame: Buffer): void {
    const open = this.#streams.get(header.serial)
    // The server may send some more data after a stream was given up.
    if (open === undefined) return
    const { procedure, stream } = open
    if (procedure.program !== header.program || procedure.number !== header.procedure) {
      throw new ProtocolError(
        `a message for stream ${header.serial} with the procedure of another call`,
      )
    }
    stream.accept(header, frame)
  }

  #answerKeepalive({ type, procedure }: Header): void {
    if (type !== messageType.message) {
      throw new ProtocolError(`a keepalive message of type ${type}`)
    }
    // One pending pong is enough, even for a server that pings but does not read.
    if (procedure === keepaliveProcedure.ping && this.#pong?.sent !== false) {
      this.#pong = this.#sendKeepalive(keepaliveProcedure.pong)
    }
  }

  #sendKeepalive(procedure: number): Outgoing {
    const program = KEEPALIVE_PROGRAM
    const header = { program, procedure, type: messageType.message, serial: 0, status: 0 }
    return this.#outbox.push(encodeFrame(this.#writer, header, nothing, undefined))
  }

  #hold(serial: number, held: boolean): void {
    const before = this.#held.size
    if (held) this.#held.add(serial)
    else this.#held.delete(serial)
    if (before === 0 && this.#held.size === 1) this.#transport.pause()
    if (before === 1 && this.#held.size === 0) this.#transport.resume()
  }
}
