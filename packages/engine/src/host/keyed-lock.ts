/** A lock per name with a first-in, first-out queue: callers wait and are never rejected as busy. */
export class KeyedLock {
  readonly #last = new Map<string, Promise<unknown>>()
  readonly #onTake: (name: string) => void

  /** `onTake` is called for every lock request. */
  constructor(onTake: (name: string) => void = () => {}) {
    this.#onTake = onTake
  }

  /** Whether the lock is held or waited for. */
  isHeld(name: string): boolean {
    return this.#last.has(name)
  }

  run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(name) ?? Promise.resolve()
    const mine = before.then(work, work)
    this.#last.set(name, mine)
    this.#onTake(name)
    const forget = () => {
      if (this.#last.get(name) === mine) this.#last.delete(name)
    }
    mine.then(forget, forget)
    return mine
  }

  /** Takes all locks, in sorted order, so that no deadlock is possible. */
  runAll<T>(names: readonly string[], work: () => Promise<T>): Promise<T> {
    const [first, ...rest] = [...new Set(names)].sort()
    if (first === undefined) return work()
    return this.run(first, () => this.runAll(rest, work))
  }
}
