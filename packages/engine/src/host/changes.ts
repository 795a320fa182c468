/** A libvirt event about a domain, or the notice that events may have been missed ('resync'). */
export interface Change {
  readonly kind: 'lifecycle' | 'agent' | 'disk' | 'resync'
  /** The domain's name; undefined when it may be any of them. */
  readonly domain?: string
}

/** Distributes libvirt events within this process. There are few listeners: one per wait or watcher. */
export class Changes {
  readonly #listeners = new Set<(change: Change) => void>()

  emit(change: Change): void {
    // A listener may remove itself.
    for (const listener of Array.from(this.#listeners)) listener(change)
  }

  listen(listener: (change: Change) => void): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }

  /**
   * Calls `ask` again after every change of the domain until it returns a value. It also polls once a
   * second, because an event can be lost with its connection.
   */
  async until<T>(
    domain: string,
    timeoutMs: number,
    ask: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const deadline = performance.now() + timeoutMs
    for (;;) {
      const notified = Promise.withResolvers<void>()
      using _ = this.listen((change) => {
        if (change.domain === undefined || change.domain === domain) notified.resolve()
      })
      const answer = await ask()
      const left = deadline - performance.now()
      if (answer !== undefined || left <= 0) return answer
      const timer = setTimeout(() => notified.resolve(), Math.min(left, ASK_AGAIN_MS))
      await notified.promise
      clearTimeout(timer)
    }
  }
}

const ASK_AGAIN_MS = 1000
