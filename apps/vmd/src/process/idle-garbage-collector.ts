import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** After fewer requests a collection is not worth its pause. */
const WORTH = 500
/**
 * A full collection also discards optimised code, and the next burst runs at half speed until V8 has optimised it
 * again: so not in every short pause of a busy client.
 */
const QUIET_MS = 5000

/**
 * Under many requests V8's heap grows by some 60 MiB, nearly all of it garbage, and V8 keeps it for the next burst. On a
 * laptop that burst may never come: after a quiet period the memory is returned to the system.
 */
export class IdleGarbageCollector {
  readonly #collect: () => void
  #requested = 0
  #seen = 0
  #timer: NodeJS.Timeout | undefined

  constructor(collect: () => void) {
    this.#collect = collect
  }

  /** Called for every request. */
  requested(): void {
    this.#requested++
    if (this.#requested < WORTH) return
    this.#timer ??= setInterval(() => this.#look(), QUIET_MS).unref()
  }

  #look(): void {
    if (this.#requested !== this.#seen) {
      this.#seen = this.#requested
      return
    }
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#requested = this.#seen = 0
    this.#collect()
  }
}

/** V8's full garbage collection, which is exposed only behind a flag. */
export function wholeCollection(): () => void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as (how: object) => void
  return () => collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
