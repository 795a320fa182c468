import { readFile } from 'node:fs/promises'

import { Fault } from '@skerry/fault'
import { writeDurably } from '@skerry/service'

const NUMBER = /^[1-9]\d{0,18}$/

/** The highest number of the database that a cell has seen, in a file of the cell's: no restore of the database takes it back. */
export class NumberSeen {
  readonly #file: string
  #kept = 0n

  constructor(file: string) {
    this.#file = file
  }

  /** Undefined for a cell that is new. */
  async read(): Promise<string | undefined> {
    const text = await readFile(this.#file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined
      throw error
    })
    if (text === undefined) return undefined
    const number = text.trim()
    if (!NUMBER.test(number)) {
      throw new Fault('invalid', `${this.#file} should hold one number`, {
        hint: 'if the database was restored, say so with skerry cloud recover; then remove the file',
      })
    }
    this.#kept = BigInt(number)
    return number
  }

  /** Only what is committed: a number that PostgreSQL may still forget would look like a restore. */
  async keep(number: string): Promise<void> {
    if (BigInt(number) <= this.#kept) return
    await writeDurably(this.#file, `${number}\n`)
    this.#kept = BigInt(number)
  }
}
