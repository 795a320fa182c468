import type { PowerState } from '@skerry/vm'

import { domainName } from './definition.ts'
import { owners } from './owner.ts'

/** A link that delivers an event for every change while it is open. */
export interface EventLink {
  readonly isOpen: boolean
}

/**
 * A cache of each VM's power state as libvirt last reported it. An entry is kept only while libvirt
 * would emit an event for a change and no operation here makes one; otherwise libvirt is queried.
 *
 * The cache holds the pending query, not its result: a query overtaken by a change is dropped like
 * any other entry, so a stale result never stays.
 */
export class KnownPowers {
  readonly #requested = new Map<string, Promise<PowerState>>()
  #link: EventLink | undefined

  /** From now on this link delivers events; earlier changes are unknown. */
  trust(link: EventLink): void {
    this.#requested.clear()
    this.#link = link
  }

  /** This link may miss events from now on. */
  distrust(link: EventLink): void {
    if (this.#link === link) this.#link = undefined
  }

  /** An operation may change this VM, whichever owner it belongs to. */
  forget(id: string): void {
    for (const owner of owners) this.#requested.delete(domainName({ owner, id }))
  }

  /** Drops the domain of a libvirt event; without a domain, all entries. */
  forgetDomain(domain: string | undefined): void {
    if (domain === undefined) this.#requested.clear()
    else this.#requested.delete(domain)
  }

  /** The power state of a domain that no operation here is changing. */
  read(domain: string, ask: () => Promise<PowerState>): Promise<PowerState> {
    if (this.#link?.isOpen !== true) return ask()
    const known = this.#requested.get(domain)
    if (known) return known
    const requested = ask()
    this.#requested.set(domain, requested)
    const drop = () => {
      if (this.#requested.get(domain) === requested) this.#requested.delete(domain)
    }
    // libvirt emits no event when a saved image is deleted, so 'suspended' is never cached.
    requested.then((power) => power === 'suspended' && drop(), drop)
    return requested
  }
}
