import { closeSync, fstatSync, openSync, renameSync, statSync, writeSync } from 'node:fs'

/** A log file with a maximum size; a full one is renamed to `FILE.1`, replacing the previous `FILE.1`. */
export class BoundedLog {
  readonly #file: string
  readonly #max: number
  #open: number

  constructor(file: string, max: number) {
    this.#file = file
    this.#max = max
    this.#open = openLog(file)
  }

  write(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; at += this.#max) {
      const part = chunk.subarray(at, at + this.#max)
      if (fstatSync(this.#open).size + part.length > this.#max) this.#rotate()
      for (let done = 0; done < part.length;) done += writeSync(this.#open, part, done)
    }
  }

  close(): void {
    closeSync(this.#open)
  }

  /** Several processes may write to one file: one that finds the file replaced by another continues with the new one. */
  #rotate(): void {
    const own = fstatSync(this.#open)
    const named = statSync(this.#file, { throwIfNoEntry: false })
    if (named?.ino === own.ino) renameSync(this.#file, `${this.#file}.1`)
    const next = openLog(this.#file)
    this.close()
    this.#open = next
  }
}

const openLog = (file: string): number => openSync(file, 'a', 0o600)
