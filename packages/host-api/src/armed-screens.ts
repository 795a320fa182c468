import { createHash } from 'node:crypto'

import { Fault } from '@skerry/fault'
import type { VmId } from '@skerry/vm'

/** Longer than the lifetime of a ticket by the database's clock, which decides about the ticket itself. */
const ARMED_MS = 40_000
/** More would be an error: a user opens one screen at a time. */
const ARMED_MAX = 1000

interface Armed {
  readonly vm: VmId
  readonly boot: string
  readonly until: number
}

/** Tickets that a bearer can redeem here, each once. Only their hashes are stored. */
export class ArmedScreens {
  readonly #armed = new Map<string, Armed>()
  readonly #now: () => number

  /** `now` is monotonic, in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  arm({ vm, boot, ticketHash }: { vm: VmId; boot: string; ticketHash: string }): void {
    for (const [hash, { until }] of this.#armed) {
      if (until <= this.#now()) this.#armed.delete(hash)
    }
    if (this.#armed.size >= ARMED_MAX) {
      throw new Fault('unavailable', 'too many screens are waiting to be opened', {
        hint: 'try again',
      })
    }
    this.#armed.set(ticketHash, { vm, boot, until: this.#now() + ARMED_MS })
  }

  /** Returns the boot whose screen this ticket opens. The ticket is used up even if this fails. */
  redeem(vm: VmId, ticket: string): string {
    const hash = createHash('sha256').update(ticket).digest('hex')
    const armed = this.#armed.get(hash)
    this.#armed.delete(hash)
    if (armed?.vm === vm && armed.until > this.#now()) return armed.boot
    throw new Fault('forbidden', 'invalid, used or expired screen ticket', {
      hint: 'request a new ticket',
    })
  }
}
