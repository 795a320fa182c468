import { encodeFrame, FrameReader, readHeader, type Header } from '../src/frame.ts'
import {
  authList,
  connectOpen,
  connectSupportsFeature,
  Connection,
  memoryPair,
  type Codec,
  type DomainEvent,
  type OpenOptions,
  type Receiver,
  type Transport,
} from '../src/index.ts'
import { errorBody } from '../src/procedures.gen.ts'
import { nothing, struct, int, XdrReader, XdrWriter } from '../src/xdr.ts'
import { ManualTimers } from './manual-timers.ts'

/** A message of the client, as the server sees it. */
export interface Asked extends Header {
  readonly payload: Buffer
}

const raw: Codec<Buffer> = {
  shape: { kind: 'nothing' },
  write: (out, value) => out.raw(value),
  read: () => Buffer.alloc(0),
}

/** The server's end of a link, which sends only what the test specifies. */
export class ScriptedServer implements Receiver {
  readonly transport: Transport
  readonly #writer = new XdrWriter()
  readonly #frames = new FrameReader((frame) => this.#take(frame))
  #requested: Asked[] = []
  #waiting: ((requested: Asked) => void)[] = []
  isClosed = false

  constructor(transport: Transport) {
    this.transport = transport
    transport.start(this)
  }

  opened(): void {}
  drained(): void {}

  received(chunk: Buffer): void {
    this.#frames.push(chunk)
  }

  closed(): void {
    this.isClosed = true
  }

  /** The next message of the client. */
  next(): Promise<Asked> {
    const requested = this.#requested.shift()
    if (requested !== undefined) return Promise.resolve(requested)
    const { promise, resolve } = Promise.withResolvers<Asked>()
    this.#waiting.push(resolve)
    return promise
  }

  /** How many messages of the client are unread. */
  get unread(): number {
    return this.#requested.length
  }

  reply<T>(requested: Asked, codec: Codec<T>, value: T): void {
    this.send(this.frame({ ...requested, type: 1, status: 0 }, codec, value))
  }

  refuse(requested: Asked, code: number, message: string | null): void {
    const body = { code, domain: 10, message, level: 2, dom: null, net: null, int1: 7, int2: -1 }
    const words = { str1: 'one', str2: null, str3: null }
    this.send(this.frame({ ...requested, type: 1, status: 1 }, errorBody, { ...body, ...words }))
  }

  tell<E>(event: DomainEvent<E>, callbackID: number, body: E): void {
    const { program, number } = event
    const header = { program, procedure: number, type: 2, serial: 0, status: 0 }
    const message = struct({ callbackID: int, body: event.body })
    this.send(this.frame(header, message, { callbackID, body }))
  }

  stream(requested: Asked, status: number, data: Buffer = Buffer.alloc(0), type = 3): void {
    this.send(this.streamFrame(requested, status, data, type))
  }

  streamFrame(requested: Asked, status: number, data: Buffer = Buffer.alloc(0), type = 3): Buffer {
    return this.frame({ ...requested, type, status }, raw, data)
  }

  keepalive(procedure: number): void {
    const header = { program: 0x6b656570, procedure, type: 2, serial: 0, status: 0 }
    this.send(this.frame(header, nothing, undefined))
  }

  frame<T>(header: Omit<Header, 'version'>, codec: Codec<T>, value: T): Buffer {
    return Buffer.from(encodeFrame(this.#writer, header, codec, value))
  }

  send(bytes: Buffer): void {
    this.transport.write([bytes])
  }

  /** Answers the handshake of a client. */
  async welcome({ keepalive = true }: { keepalive?: boolean } = {}): Promise<void> {
    this.reply(await this.next(), authList.ret, { types: [0] })
    if (keepalive) this.reply(await this.next(), connectSupportsFeature.ret, { supported: 1 })
    this.reply(await this.next(), connectOpen.ret, undefined)
  }

  #take(frame: Buffer): void {
    const requested = { ...readHeader(frame), payload: Buffer.from(frame.subarray(28)) }
    const waiting = this.#waiting.shift()
    if (waiting === undefined) this.#requested.push(requested)
    else waiting(requested)
  }
}

export interface Pair extends AsyncDisposable {
  readonly connection: Connection
  readonly server: ScriptedServer
  readonly timers: ManualTimers
}

/** A client and a scripted server after the handshake. */
export async function connectPair(options: Partial<OpenOptions> = {}): Promise<Pair> {
  const [transport, other] = memoryPair()
  const server = new ScriptedServer(other)
  const timers = new ManualTimers()
  const keepalive = options.keepalive ?? false
  const opening = Connection.open({
    socket: '',
    uri: 'test:///default',
    transport,
    timers,
    ...options,
    keepalive,
  })
  await server.welcome({ keepalive: keepalive !== false })
  const connection = await opening
  return {
    connection,
    server,
    timers,
    [Symbol.asyncDispose]() {
      server.transport.destroy()
      return Promise.resolve()
    },
  }
}

export function readArgs<T>(requested: Asked, codec: Codec<T>): T {
  const from = new XdrReader(requested.payload)
  const value = codec.read(from)
  from.finish()
  return value
}
