/** Lets only so many of the same name go on at a time; who comes later waits for his turn. */
export class Lanes {
  readonly #width: number
  readonly #busy = new Map<string, { count: number; readonly waiting: (() => void)[] }>()

  constructor(width: number) {
    this.#width = width
  }

  async take<T>(name: string, work: () => Promise<T>): Promise<T> {
    const lane = this.#busy.get(name) ?? { count: 0, waiting: [] }
    this.#busy.set(name, lane)
    if (lane.count < this.#width) lane.count += 1
    else await new Promise<void>((resolve) => lane.waiting.push(resolve))
    try {
      return await work()
    } finally {
      // Whoever is next goes on in this one's place.
      const next = lane.waiting.shift()
      if (next) next()
      else if (--lane.count === 0) this.#busy.delete(name)
    }
  }
}
