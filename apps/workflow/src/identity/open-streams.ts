import { Fault } from '@skerry/fault'

import type { WorkflowPrincipal } from './rights.ts'

/** Maximum of open streams per server. Each queries the database twice a second. */
export const streamBounds = { ofUser: 20, ofOrg: 100 } as const

/** How long a stream stays open while the cloud cannot authenticate its reader. */
const UNSURE_MS = 60_000
const RETRY_SECONDS = 60

/** The open event streams of this server. */
export class OpenStreams {
  readonly #open = new Set<WorkflowPrincipal>()
  readonly #now: () => number

  /** `now`: a monotonic clock in milliseconds. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Throws `too-many` if the user or the organisation has reached the limit. Dispose it when the stream ends. */
  open(reader: WorkflowPrincipal): Disposable {
    const principal = { ...reader }
    const ofOrg = [...this.#open].filter(({ org }) => org === principal.org)
    const ofUser = ofOrg.filter(({ account }) => account === principal.account)
    const full =
      ofUser.length >= streamBounds.ofUser
        ? `this user has ${streamBounds.ofUser} open streams on this server`
        : ofOrg.length >= streamBounds.ofOrg
          ? `this organisation has ${streamBounds.ofOrg} open streams on this server`
          : undefined
    if (full !== undefined) {
      throw new Fault('too-many', full, {
        hint: 'close a stream and try again',
        detail: String(RETRY_SECONDS),
      })
    }
    this.#open.add(principal)
    return { [Symbol.dispose]: () => void this.#open.delete(principal) }
  }

  /** Returns a check whether the reader still has the same account and role; call it before each send. */
  watch(
    principal: WorkflowPrincipal,
    principalNow: () => Promise<WorkflowPrincipal | undefined>,
  ): () => Promise<boolean> {
    let sureAt = this.#now()
    return async () => {
      try {
        const now = await principalNow()
        sureAt = this.#now()
        return (
          now?.account === principal.account &&
          now.org === principal.org &&
          now.role === principal.role &&
          now.rights.join() === principal.rights.join()
        )
      } catch (error) {
        if (!(error instanceof Fault)) throw error
        return this.#now() - sureAt < UNSURE_MS
      }
    }
  }
}
