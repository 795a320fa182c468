import type { Timers } from '../src/index.ts'

interface Timer {
  readonly at: number
  readonly run: () => void
}

/** Time that advances on demand. */
export class ManualTimers implements Timers {
  #now = 0
  readonly #timers = new Set<Timer>()

  set(run: () => void, ms: number): object {
    const timer = { at: this.#now + ms, run }
    this.#timers.add(timer)
    return timer
  }

  clear(timer: object): void {
    this.#timers.delete(timer as Timer)
  }

  get pending(): number {
    return this.#timers.size
  }

  advance(ms: number): void {
    const end = this.#now + ms
    for (;;) {
      const due = [...this.#timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)
      const [first] = due
      if (first === undefined) break
      this.#timers.delete(first)
      this.#now = first.at
      first.run()
    }
    this.#now = end
  }
}
