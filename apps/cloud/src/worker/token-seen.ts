import { readFile } from 'node:fs/promises'

import { writeDurably } from '@skerry/durable-file'
import { Fault } from '@skerry/fault'

const NUMBER = /^[1-9]\d{0,18}$/

/** The highest fencing token that a cell has seen, stored in a file of the cell, which a restore of the database does not change. */
export class TokenSeen {
  readonly #file: string
  #kept = 0n

  constructor(file: string) {
    this.#file = file
  }

  /** Undefined for a new cell. */
  async read(): Promise<string | undefined> {
    const text = await readFile(this.#file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined
      throw error
    })
    if (text === undefined) return undefined
    const number = text.trim()
    if (!NUMBER.test(number)) {
      throw new Fault('invalid', `invalid content in ${this.#file}: expected one number`, {
        hint: 'if the database was restored, run skerry admin recovery start; then remove the file',
      })
    }
    this.#kept = BigInt(number)
    return number
  }

  /** Pass only committed tokens: one that PostgreSQL may still lose would look like a restore. */
  async keep(fencingToken: string): Promise<void> {
    if (BigInt(fencingToken) <= this.#kept) return
    await writeDurably(this.#file, `${fencingToken}\n`)
    this.#kept = BigInt(fencingToken)
  }
}
