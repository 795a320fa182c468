/** Whoever asks first goes first, one at a time per name; nobody is told "busy". */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>()
  readonly #onTake: (name: string) => void

  /** Hears of every turn as it is asked for. */
  constructor(onTake: (name: string) => void = () => {}) {
    this.#onTake = onTake
  }

  /** Whether somebody has this turn, or waits for it. */
  isTaken(name: string): boolean {
    return this.#last.has(name)
  }

  take<T>(name: string, work: () => Promise<T>): Promise<T> {
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

  /** All of the names at once. Taken in one order by everybody, so that no two wait in a circle. */
  takeAll<T>(names: readonly string[], work: () => Promise<T>): Promise<T> {
    const [first, ...rest] = [...new Set(names)].sort()
    if (first === undefined) return work()
    return this.take(first, () => this.takeAll(rest, work))
  }
}
