import type { IncomingMessage } from 'node:http'

import { Fault } from '@skerry/fault'
import { MachineLink, sharing, type HostRequest, type MachineIdentity } from '@skerry/host-api'
import type { ListenAddress } from '@skerry/service'

interface ServerLinks {
  readonly cert: string
  readonly all: readonly MachineLink[]
}

/** The workflow servers of a cloud. All of them serve the same workflows. */
export class WorkflowServers implements Disposable {
  readonly #addresses: readonly ListenAddress[]
  readonly #identity: () => MachineIdentity
  #links: ServerLinks | undefined
  /** The index of the server that responded last. */
  #at = 0

  /** `identity`: the current certificate of this cell, and the issuer of workflow servers. */
  constructor(addresses: readonly ListenAddress[], identity: () => MachineIdentity) {
    this.#addresses = addresses
    this.#identity = identity
  }

  /** Returns the response once its head has arrived. A read goes to the next server if one does not respond; a change is sent once. */
  async ask(requested: HostRequest): Promise<IncomingMessage> {
    const links = this.#current()
    const isRead = requested.method === 'GET'
    for (let tried = 1; ; tried += 1) {
      const link = links[this.#at % links.length] as MachineLink
      try {
        return await link.ask({ ...requested, once: !isRead })
      } catch (error) {
        requested.signal?.throwIfAborted()
        this.#at = (this.#at + 1) % links.length
        if (isRead && tried < links.length) continue
        throw new Fault('unavailable', 'the workflow server does not respond', {
          cause: error,
          hint: 'try again later; VMs and everything else of the cloud work without it',
        })
      }
    }
  }

  /** A renewed certificate needs new links. Requests in progress on the old links finish there. */
  #current(): readonly MachineLink[] {
    const identity = this.#identity()
    if (this.#links?.cert === identity.cert) return this.#links.all
    for (const old of this.#links?.all ?? []) old.retire()
    const shared = sharing(identity)
    const all = this.#addresses.map((each) => new MachineLink(each, shared, { role: 'workflow' }))
    this.#links = { cert: identity.cert, all }
    return all
  }

  [Symbol.dispose](): void {
    for (const link of this.#links?.all ?? []) link[Symbol.dispose]()
    this.#links = undefined
  }
}
