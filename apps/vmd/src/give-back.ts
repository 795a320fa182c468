import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Fewer requests leave nothing behind that would be worth a pause. */
const WORTH = 500
/**
 * With the garbage goes what V8 has learnt of the code, and the next burst runs at half its speed until that is learnt
 * again: so not in every short pause of somebody who asks often.
 */
const QUIET_MS = 5000

/**
 * Under many requests V8 lets its heap grow by some 60 MiB, nearly all of it garbage, and keeps that for the next burst. On
 * somebody's laptop the next may never come: once nobody has asked for a while, what is not needed is given back.
 */
export class GiveBack {
  readonly #collect: () => void
  #asked = 0
  #seen = 0
  #timer: NodeJS.Timeout | undefined

  constructor(collect: () => void) {
    this.#collect = collect
  }

  /** Told of every request. */
  asked(): void {
    this.#asked++
    if (this.#asked < WORTH) return
    this.#timer ??= setInterval(() => this.#look(), QUIET_MS).unref()
  }

  #look(): void {
    if (this.#asked !== this.#seen) {
      this.#seen = this.#asked
      return
    }
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#asked = this.#seen = 0
    this.#collect()
  }
}

/** V8's own collection of everything, which it does not hand out unless it is told to. */
export function wholeCollection(): () => void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as (how: object) => void
  return () => collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
