/** Lets a loop sleep until there is something to do, or for some time. A wake-up while it works is kept for its next sleep. */
export class WakeUp {
  #isDue = false
  #wake: (() => void) | undefined

  wake(): void {
    this.#isDue = true
    this.#wake?.()
  }

  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    if (!this.#isDue && !signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#wake = resolve
      const timer = setTimeout(resolve, ms)
      signal.addEventListener('abort', () => resolve(), { once: true })
      await promise
      clearTimeout(timer)
      this.#wake = undefined
    }
    this.#isDue = false
  }
}
