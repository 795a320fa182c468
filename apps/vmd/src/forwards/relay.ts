import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

import * as engine from '@skerry/engine'

const CONNECT_TIMEOUT_MS = 10_000

/** One port of this machine, and all connections through it to a guest. */
export class Relay implements AsyncDisposable {
  readonly id: string
  readonly forward: engine.Forward
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  private constructor(host: engine.Host, id: string, forward: engine.Forward) {
    this.id = id
    this.forward = forward
    const options = { pauseOnConnect: true, allowHalfOpen: true, noDelay: true }
    this.#server = createServer(options, (client) => {
      this.#keep(client)
      this.#pass(host, client).catch(() => client.destroy())
    })
  }

  /** Throws the system's error if the port cannot be bound. */
  static async open(host: engine.Host, id: string, forward: engine.Forward): Promise<Relay> {
    const relay = new Relay(host, id, forward)
    const { hostAddress, hostPort } = forward
    relay.#server.listen({ host: hostAddress, port: hostPort, ipv6Only: hostAddress === '::1' })
    await once(relay.#server, 'listening')
    return relay
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #pass(host: engine.Host, client: Socket): Promise<void> {
    // From this machine's own address on the guest's network: no local service accepts connections that way.
    const { address, local } = await engine.readAddress(host, this.id)
    const to = { host: address, localAddress: local, port: this.forward.guestPort }
    const options = { ...to, noDelay: true }
    const guest = connect({ ...options, allowHalfOpen: true, timeout: CONNECT_TIMEOUT_MS })
    this.#keep(guest)
    guest.once('timeout', () => guest.destroy())
    guest.once('connect', () => guest.setTimeout(0))
    // Pending data is still sent, then the other end is closed too.
    guest.once('close', () => client.destroySoon())
    client.once('close', () => guest.destroySoon())
    client.pipe(guest)
    guest.pipe(client)
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket)
    // Either end may break at any time; 'close' follows and closes the other end.
    socket.on('error', () => undefined)
    socket.once('close', () => this.#sockets.delete(socket))
  }
}
