// Polls for a condition without an event.
import { setTimeout as sleep } from 'node:timers/promises'

const POLL_MS = 10
/** For checks that start a process or inspect every process. */
export const SLOW_POLL_MS = 100
/** Only ends a test that would hang: a test of a time limit passes the limit. On a loaded machine, seconds pass in which a process does not run. */
const PATIENCE_MS = 60_000

/** Polls until the result is neither undefined nor false, or the time is over. */
export async function until<T>(
  what: string,
  ask: () => T | Promise<T>,
  timeoutMs = PATIENCE_MS,
  pollMs = POLL_MS,
): Promise<Exclude<T, undefined | false>> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const asked = performance.now()
    const answer = await ask()
    const took = performance.now() - asked
    if (answer !== undefined && answer !== false) return answer as Exclude<T, undefined | false>
    if (performance.now() > deadline) {
      throw new Error(`waited ${timeoutMs / 1000} s in vain: ${what}`)
    }
    // A check that starts a process may use no more than half of a core, which the awaited thing may need.
    await sleep(Math.max(pollMs, Math.min(took, SLOW_POLL_MS)))
  }
}
