// JSON-RPC 1.0 in both directions over one socket, with echo (RFC 7047, sections 4 and 4.1.11).
import type { Socket } from 'node:net'

import { ConnectionLost, readRefusal } from './error.ts'
import { MessageReader } from './message-reader.ts'

interface JsonRpcOptions {
  readonly probeMs: number
  readonly maxMessageBytes: number
  /** Called for each notification except echo. An exception ends the connection. */
  readonly notified: (method: string, params: readonly unknown[]) => void
}

interface WaitingCall {
  resolve(result: unknown): void
  reject(error: Error): void
}

interface JsonRpcMessage {
  readonly id?: unknown
  readonly method?: unknown
  readonly params?: unknown
  readonly result?: unknown
  readonly error?: unknown
}

/** One connection: sends calls, dispatches answers and notifications, and fails all waiting calls when it ends. */
export class JsonRpc {
  /** Resolves once the connection has ended; with the reason, unless its owner closed it. Never rejects. */
  readonly closed: Promise<Error | undefined>
  readonly #socket: Socket
  readonly #options: JsonRpcOptions
  readonly #reader: MessageReader
  readonly #waiting = new Map<number, WaitingCall>()
  readonly #resolveClosed: (reason: Error | undefined) => void
  #ended: ConnectionLost | undefined
  #next = 0
  #timer: NodeJS.Timeout | undefined
  #isHeard = true
  #isProbed = false
  #isAnswering = false

  constructor(socket: Socket, options: JsonRpcOptions) {
    const closed = Promise.withResolvers<Error | undefined>()
    this.closed = closed.promise
    this.#resolveClosed = closed.resolve
    this.#socket = socket
    this.#options = options
    this.#reader = new MessageReader(options.maxMessageBytes, (message) => this.#take(message))
    let cause: Error | undefined
    socket.on('error', (error) => {
      cause = error
    })
    socket.on('data', (chunk: Buffer) => this.#read(chunk))
    socket.on('close', () => {
      const detail = cause === undefined ? '' : `: ${cause.message}`
      this.fail(new ConnectionLost(`the server closed the connection${detail}`, { cause }))
    })
    // It may have closed between its connection and these listeners.
    if (socket.destroyed) this.fail(new ConnectionLost('the server closed the connection'))
    if (options.probeMs > 0) this.#schedule()
  }

  call(method: string, params: readonly unknown[]): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    if (this.#ended !== undefined) {
      reject(this.#ended)
      return promise
    }
    this.#next += 1
    this.#waiting.set(this.#next, { resolve, reject })
    this.#send({ method, params, id: this.#next })
    return promise
  }

  /** Ends the connection because of an error, which `closed` reports. Later reasons are ignored. */
  fail(reason: ConnectionLost): void {
    this.#end(reason, reason)
  }

  /** Ends the connection at its owner's request, and waits until the socket is closed. */
  async close(): Promise<void> {
    this.#end(new ConnectionLost('the connection was closed by its owner'), undefined)
    if (this.#socket.closed) return
    await new Promise<void>((resolve) => void this.#socket.once('close', resolve))
  }

  #end(lost: ConnectionLost, reason: Error | undefined): void {
    if (this.#ended !== undefined) return
    this.#ended = lost
    clearTimeout(this.#timer)
    this.#reader.stop()
    this.#socket.destroy()
    for (const call of this.#waiting.values()) call.reject(lost)
    this.#waiting.clear()
    this.#resolveClosed(reason)
  }

  #read(chunk: Buffer): void {
    try {
      this.#reader.push(chunk)
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error)
      this.fail(new ConnectionLost(`the server violated the protocol: ${detail}`, { cause: error }))
    }
  }

  #take(received: unknown): void {
    this.#isHeard = true
    if (typeof received !== 'object' || received === null || Array.isArray(received)) {
      throw new Error('a message that is no object')
    }
    const { id, method, params, result, error } = received as JsonRpcMessage
    if (typeof method !== 'string') return this.#settle(id, result, error)
    if (method === 'echo') return this.#answerEcho(id, params)
    try {
      this.#options.notified(method, Array.isArray(params) ? params : [])
    } catch (cause) {
      const detail = cause instanceof Error ? cause.message : String(cause)
      this.fail(new ConnectionLost(`a notification could not be processed: ${detail}`, { cause }))
    }
  }

  #settle(id: unknown, result: unknown, error: unknown): void {
    const call = typeof id === 'number' ? this.#waiting.get(id) : undefined
    if (call === undefined) return
    this.#waiting.delete(id as number)
    if (error === null || error === undefined) call.resolve(result)
    else call.reject(readRefusal(error, -1))
  }

  /** One unsent answer is enough: a server that asks without reading would fill our memory. */
  #answerEcho(id: unknown, params: unknown): void {
    if (this.#isAnswering || id === undefined || id === null) return
    this.#isAnswering = true
    this.#send({ id, result: params, error: null }, () => {
      this.#isAnswering = false
    })
  }

  #send(message: object, sent?: () => void): void {
    this.#socket.write(JSON.stringify(message), sent)
  }

  #schedule(): void {
    this.#timer = setTimeout(() => this.#probe(), this.#options.probeMs)
  }

  // Rounds are counted, not time: if this process was suspended, the server is not to blame.
  #probe(): void {
    if (!this.#isHeard && this.#isProbed) {
      const { probeMs } = this.#options
      this.fail(new ConnectionLost(`the server has not answered an echo for ${probeMs} ms`))
      return
    }
    this.#isProbed = !this.#isHeard
    if (this.#isProbed) this.call('echo', []).catch(() => {})
    this.#isHeard = false
    this.#schedule()
  }
}
