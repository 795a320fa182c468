import { Fault } from '@skerry/fault'
import type { HostOverlay } from '@skerry/vm'

/** Which program forwards the packets of a bridge of Open vSwitch: the kernel, or its own process. */
export type Datapath = 'system' | 'netdev'

/** What was last seen of the host's Open vSwitch. */
export class KnownOverlay {
  #now: HostOverlay = { state: 'none', uplinks: [] }
  #datapath: Datapath = 'system'
  /** Whether this host translates addresses for networks across hosts; the firewall depends on it. */
  outbound = false
  readonly #listeners = new Set<(now: HostOverlay) => void>()

  get now(): HostOverlay {
    return this.#now
  }

  /** Of the bridge that VMs are connected to. */
  get datapath(): Datapath {
    return this.#datapath
  }

  see(now: HostOverlay, datapath: Datapath = this.#datapath): void {
    const isChanged = JSON.stringify(now) !== JSON.stringify(this.#now)
    this.#now = now
    this.#datapath = datapath
    if (isChanged) for (const listener of this.#listeners) listener(now)
  }

  /** Called whenever the state changes. */
  listen(listener: (now: HostOverlay) => void): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) }
  }

  /** Without Open vSwitch no VM can have a card on a network across hosts; with one that fails it can, and is silent until it works. */
  require(): void {
    if (this.#now.state !== 'none') return
    throw new Fault('wrong-state', 'this host has no Open vSwitch', {
      hint: 'install openvswitch-switch and ovn-host on it',
    })
  }
}
