// Waits for something that no event tells of.
import { setTimeout as sleep } from 'node:timers/promises'

const POLL_MS = 10

/** Asks again and again until the answer is neither undefined nor false, or the time is over. */
export async function until<T>(
  what: string,
  ask: () => T | Promise<T>,
  timeoutMs = 10_000,
): Promise<Exclude<T, undefined | false>> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const answer = await ask()
    if (answer !== undefined && answer !== false) return answer as Exclude<T, undefined | false>
    if (performance.now() > deadline) {
      throw new Error(`waited ${timeoutMs / 1000} s in vain: ${what}`)
    }
    await sleep(POLL_MS)
  }
}
