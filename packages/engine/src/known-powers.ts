import type { PowerState } from '@skerry/vm'

import { domainName } from './definition.ts'

/** A link by which libvirt tells of every change, for as long as it is open. */
export interface Telling {
  readonly isOpen: boolean
}

/**
 * The power that libvirt last said each VM has. It is kept only while libvirt would tell of a
 * change and nobody here makes one; otherwise every question goes to libvirt.
 *
 * What is kept is the question itself, not its answer: one that was overtaken by a change while it
 * was under way is forgotten like any other, so its answer never stays.
 */
export class KnownPowers {
  readonly #asked = new Map<string, Promise<PowerState>>()
  #telling: Telling | undefined

  /** From now on libvirt tells of changes by this link; of those before nobody knows. */
  trust(telling: Telling): void {
    this.#asked.clear()
    this.#telling = telling
  }

  /** By this link changes may now happen untold. */
  distrust(telling: Telling): void {
    if (this.#telling === telling) this.#telling = undefined
  }

  /** Somebody may change it here, whichever door it belongs to. */
  forget(id: string): void {
    for (const owner of ['local', 'cloud'] as const) this.#asked.delete(domainName({ owner, id }))
  }

  /** A domain that libvirt told of; without one it may be any. */
  forgetDomain(domain: string | undefined): void {
    if (domain === undefined) this.#asked.clear()
    else this.#asked.delete(domain)
  }

  /** The power of a VM's domain that nobody here is changing. */
  read(domain: string, ask: () => Promise<PowerState>): Promise<PowerState> {
    if (this.#telling?.isOpen !== true) return ask()
    const known = this.#asked.get(domain)
    if (known) return known
    const asked = ask()
    this.#asked.set(domain, asked)
    const drop = () => {
      if (this.#asked.get(domain) === asked) this.#asked.delete(domain)
    }
    // libvirt says nothing when somebody throws a saved image away, so that one is always asked about.
    asked.then((power) => power === 'suspended' && drop(), drop)
    return asked
  }
}
