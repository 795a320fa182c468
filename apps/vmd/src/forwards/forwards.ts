import * as engine from '@skerry/engine'
import { Fault } from '@skerry/fault'
import { every } from '@skerry/service'

import { findPortOwner } from './port-owner.ts'
import { Relay } from './relay.ts'

/** How often a port that was taken by another process is retried. */
const RETRY_MS = 5000

/** The ports of this machine that forward to guests: exactly those in the records. */
export class Forwards implements AsyncDisposable {
  readonly #host: engine.Host
  readonly #relays = new Map<number, Relay>()
  readonly #busy = new Set<number>()
  readonly #stack = new DisposableStack()
  #last: Promise<unknown> = Promise.resolve()

  private constructor(host: engine.Host) {
    this.#host = host
  }

  /** Restores every recorded forward, and removes those of deleted VMs. */
  static async open(host: engine.Host): Promise<Forwards> {
    const forwards = new Forwards(host)
    await forwards.#settle()
    forwards.#stack.use(host.changes.listen(() => void forwards.#settle()))
    const closing = forwards.#stack.adopt(new AbortController(), (each) => each.abort())
    every(
      RETRY_MS,
      closing.signal,
      () => forwards.#settle(),
      (error) => host.log('failed to restore forwards, retrying', error),
    )
    return forwards
  }

  async add(id: string, forward: engine.Forward): Promise<engine.Forward> {
    const added = await engine.addForward(this.#host, id, forward, async () => {
      const relay = await this.#listen(id, forward)
      this.#relays.set(forward.hostPort, relay)
    })
    await this.#settle()
    return added
  }

  async remove(id: string, hostPort: number): Promise<void> {
    await engine.removeForward(this.#host, id, hostPort)
    await this.#settle()
  }

  /** The forwards of a VM, and whether each has its port now. */
  list(id: string): (engine.Forward & { readonly listening: boolean })[] {
    return engine.listForwards(this.#host, id).map((forward) => ({
      ...forward,
      listening: this.#relays.has(forward.hostPort),
    }))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stack.dispose()
    await this.#last
    for (const relay of this.#relays.values()) await relay[Symbol.asyncDispose]()
    this.#relays.clear()
  }

  /** Serialised, so that no port is opened twice. */
  #settle(): Promise<void> {
    const mine = this.#last.then(() => this.#compare())
    this.#last = mine
    return mine
  }

  async #compare(): Promise<void> {
    const wanted = engine.allForwards(this.#host)
    for (const [port, relay] of this.#relays) {
      if (wanted.some(({ id, forward }) => id === relay.id && forward.hostPort === port)) continue
      this.#relays.delete(port)
      await relay[Symbol.asyncDispose]()
    }
    for (const { id, forward } of wanted) {
      if (!this.#relays.has(forward.hostPort)) await this.#putBack(id, forward)
    }
  }

  async #putBack(id: string, forward: engine.Forward): Promise<void> {
    const { hostPort } = forward
    try {
      this.#relays.set(hostPort, await this.#listen(id, forward))
      this.#busy.delete(hostPort)
    } catch (error) {
      if (!this.#busy.has(hostPort))
        this.#host.log(`failed to forward port ${hostPort} to VM ${id}, retrying`, error)
      this.#busy.add(hostPort)
    }
  }

  async #listen(id: string, forward: engine.Forward): Promise<Relay> {
    const { hostPort, hostAddress } = forward
    try {
      return await Relay.open(this.#host, id, forward)
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException
      if (code !== 'EADDRINUSE')
        throw new Fault('unavailable', `port ${hostPort} cannot be opened: ${code}`, { cause })
      const owner = (await findPortOwner(hostPort)) ?? 'another program'
      throw new Fault('conflict', `port ${hostPort} of ${hostAddress} is taken by ${owner}`, {
        cause,
        hint: 'choose another port, or end that program',
      })
    }
  }
}
