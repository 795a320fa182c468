/** Something libvirt told about a domain, or that we may have missed something ('resync'). */
export interface Change {
  readonly kind: 'lifecycle' | 'agent' | 'disk' | 'resync'
  /** The domain's name; undefined when it may be any of them. */
  readonly domain?: string
}

/** What libvirt tells, handed on within this process. Listeners are few: one per wait or watcher. */
export class Changes {
  readonly #listeners = new Set<(change: Change) => void>()

  tell(change: Change): void {
    for (const listener of [...this.#listeners]) listener(change)
  }

  listen(listener: (change: Change) => void): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }

  /**
   * Asks again after every change of the domain until there is an answer. It also asks once a
   * second, because an event can be lost with the link it would have come by.
   */
  async until<T>(
    domain: string,
    timeoutMs: number,
    ask: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const deadline = performance.now() + timeoutMs
    for (;;) {
      const told = Promise.withResolvers<void>()
      using _ = this.listen((change) => {
        if (change.domain === undefined || change.domain === domain) told.resolve()
      })
      const answer = await ask()
      const left = deadline - performance.now()
      if (answer !== undefined || left <= 0) return answer
      const timer = setTimeout(() => told.resolve(), Math.min(left, ASK_AGAIN_MS))
      await told.promise
      clearTimeout(timer)
    }
  }
}

const ASK_AGAIN_MS = 1000
