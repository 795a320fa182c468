import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

import * as engine from '@skerry/engine'

const CONNECT_TIMEOUT_MS = 10_000

/** One port of this machine, and all connections that go through it to a guest. */
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

  /** Throws what the system says when the port is not to be had. */
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
    const { id } = this
    const leased = await engine.readLease(host, id)
    const address = leased ?? (await engine.readAddress(host, id)).address
    const options = { host: address, port: this.forward.guestPort, noDelay: true }
    const guest = connect({ ...options, allowHalfOpen: true, timeout: CONNECT_TIMEOUT_MS })
    this.#keep(guest)
    guest.once('timeout', () => guest.destroy())
    guest.once('connect', () => guest.setTimeout(0))
    // What was already written is still sent, then the other end goes too.
    guest.once('close', () => client.destroySoon())
    client.once('close', () => guest.destroySoon())
    client.pipe(guest)
    guest.pipe(client)
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket)
    // Either end may break off at any time; 'close' follows and takes the other along.
    socket.on('error', () => undefined)
    socket.once('close', () => this.#sockets.delete(socket))
  }
}
