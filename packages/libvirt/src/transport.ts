import { createConnection, type Socket } from 'node:net'

/** Transfers bytes to a libvirt daemon and back. */
export interface Transport {
  /** Called once; all events go to the receiver from then on. */
  start(receiver: Receiver): void
  /** Sends the bytes. False: the peer is slow, and `drained` will follow. */
  write(chunks: readonly Buffer[]): boolean
  /** Stops receiving until `resume`; the peer is throttled by back-pressure. */
  pause(): void
  resume(): void
  /** Ends the link at once. */
  destroy(): void
}

export interface Receiver {
  opened(): void
  /** The chunk's memory is reused as soon as this returns. */
  received(chunk: Buffer): void
  drained(): void
  /** Always the last call. */
  closed(cause: Error | undefined): void
}

const READ_BYTES = 256 * 1024

/** A daemon on this machine, by the path of its Unix socket. */
export function unixSocket(path: string): Transport {
  let socket: Socket | undefined
  return {
    start(receiver) {
      let cause: Error | undefined
      const opened = createConnection({
        path,
        // One buffer for all reads: the receiver must copy what it keeps.
        onread: {
          buffer: Buffer.allocUnsafeSlow(READ_BYTES),
          callback(bytes, buffer) {
            receiver.received((buffer as Buffer).subarray(0, bytes))
            return true
          },
        },
      })
      opened.on('connect', () => receiver.opened())
      opened.on('drain', () => receiver.drained())
      opened.on('error', (error) => {
        cause = error
      })
      opened.on('close', () => receiver.closed(cause))
      socket = opened
    },
    write(chunks) {
      if (socket === undefined) return false
      socket.cork()
      let room = true
      for (const chunk of chunks) room = socket.write(chunk)
      socket.uncork()
      return room
    },
    pause: () => void socket?.pause(),
    resume: () => void socket?.resume(),
    destroy: () => void socket?.destroy(),
  }
}

const MEMORY_PAIR_BYTES = 64 * 1024

/** Two ends in one process, for tests: bytes written to one arrive at the other, asynchronously. */
export function memoryPair(): [Transport, Transport] {
  const left = new MemoryEnd()
  const right = new MemoryEnd()
  left.peer = right
  right.peer = left
  return [left, right]
}

class MemoryEnd implements Transport {
  peer: MemoryEnd | undefined
  #receiver: Receiver | undefined
  #incoming: Buffer[] = []
  #bytes = 0
  #paused = false
  #woken = false
  #closed = false

  start(receiver: Receiver): void {
    this.#receiver = receiver
    queueMicrotask(() => {
      if (!this.#closed) receiver.opened()
    })
    this.#wake()
  }

  write(chunks: readonly Buffer[]): boolean {
    return this.#closed || this.peer === undefined ? true : this.peer.#take(chunks)
  }

  pause(): void {
    this.#paused = true
  }

  resume(): void {
    this.#paused = false
    this.#wake()
  }

  destroy(): void {
    this.#close()
    const { peer } = this
    if (peer !== undefined) peer.#close()
  }

  #take(chunks: readonly Buffer[]): boolean {
    // The sender may reuse its memory after `write`.
    for (const chunk of chunks) {
      this.#incoming.push(Buffer.from(chunk))
      this.#bytes += chunk.length
    }
    this.#wake()
    return this.#bytes < MEMORY_PAIR_BYTES
  }

  #wake(): void {
    if (this.#woken) return
    this.#woken = true
    queueMicrotask(() => {
      this.#woken = false
      this.#give()
    })
  }

  #give(): void {
    const wasFull = this.#bytes >= MEMORY_PAIR_BYTES
    while (!this.#paused && !this.#closed && this.#receiver !== undefined) {
      const chunk = this.#incoming.shift()
      if (chunk === undefined) break
      this.#bytes -= chunk.length
      this.#receiver.received(chunk)
    }
    const { peer } = this
    if (wasFull && this.#bytes < MEMORY_PAIR_BYTES && peer !== undefined) {
      peer.#receiver?.drained()
    }
  }

  #close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#incoming = []
    queueMicrotask(() => this.#receiver?.closed(undefined))
  }
}
