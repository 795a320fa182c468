// What a proof shows: each part is a line of the result, with its seconds.
import { loadavg } from 'node:os'

export interface Shown {
  readonly what: string
  readonly seconds: number
  /** Undefined if it is so. */
  readonly failure?: string
  /** A figure of it besides its time. */
  readonly figure?: string
}

const secondsSince = (began: number): number =>
  Number(((performance.now() - began) / 1000).toFixed(2))

export class Proof {
  readonly shown: Shown[] = []
  readonly #section: string

  constructor(section: string) {
    this.#section = section
  }

  /**
   * Does something, and prints a row of the table; `note` gives a figure besides the time. What comes after a failure cannot be shown: it
   * is thrown.
   */
  async show<T>(what: string, work: (note: (figure: string) => void) => Promise<T>): Promise<T> {
    const began = performance.now()
    let figure: string | undefined
    try {
      const result = await work((noted) => void (figure = noted))
      this.#add({ what, seconds: secondsSince(began), ...(figure !== undefined && { figure }) })
      return result
    } catch (error) {
      const failure = error instanceof Error ? error.message : String(error)
      this.#add({ what, seconds: secondsSince(began), failure })
      throw error
    }
  }

  #add(shown: Shown): void {
    this.shown.push(shown)
    const { what, seconds, failure, figure } = shown
    const result = failure === undefined ? (figure ?? 'yes') : `FAILED: ${failure.split('\n')[0]}`
    console.log(`| ${this.#section} | ${what} | ${result} | ${seconds} s |`)
  }
}

export const head = (): string =>
  `load ${loadavg()
    .map((each) => each.toFixed(1))
    .join(' ')}\n| Server | What | Result | Time |\n|---|---|---|---|`
