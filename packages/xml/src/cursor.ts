import { Fault } from '@skerry/fault'

import { nameAt } from './characters.ts'

const SHOWN_MAX = 40
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d

/** A position in a text that only moves forward: each part of the text is visited a bounded number of times. */
export class TextCursor {
  readonly text: string
  at = 0

  constructor(text: string) {
    this.text = text
  }

  get atEnd(): boolean {
    return this.at >= this.text.length
  }

  sees(token: string): boolean {
    return this.text.startsWith(token, this.at)
  }

  /** Skips the token if it is next. */
  accept(token: string): boolean {
    if (!this.sees(token)) return false
    this.at += token.length
    return true
  }

  /** Skips white space and returns whether there was any. */
  skipSpace(): boolean {
    const start = this.at
    while (isSpace(this.text.charCodeAt(this.at))) this.at += 1
    return this.at > start
  }

  takeName(what: string): string {
    const name = nameAt(this.text, this.at)
    if (name === undefined) throw this.fault(`expected ${what}`)
    this.at += name.length
    return name
  }

  /** The text before the token; the cursor moves behind the token. */
  takeUntil(token: string, what: string): string {
    const end = this.text.indexOf(token, this.at)
    if (end === -1) throw this.fault(`${what} has no end`)
    const taken = this.text.slice(this.at, end)
    this.at = end + token.length
    return taken
  }

  /** A Fault with the position: lines and columns count from one, a column is one UTF-16 unit. */
  fault(reason: string, at = this.at): Fault {
    let line = 1
    let lineStart = 0
    for (let index = 0; index < at; index++) {
      const unit = this.text.charCodeAt(index)
      // A carriage return counts as a line end only if no line feed follows.
      if (
        unit !== LINE_FEED &&
        !(unit === CARRIAGE_RETURN && this.text.charCodeAt(index + 1) !== LINE_FEED)
      )
        continue
      line += 1
      lineStart = index + 1
    }
    const column = at - lineStart + 1
    return new Fault('invalid', `the XML at line ${line}, column ${column}: ${reason}`)
  }
}

/** Shortens an untrusted name for a message. */
export function shortName(name: string): string {
  return name.length > SHOWN_MAX ? `${name.slice(0, SHOWN_MAX)}…` : name
}

function isSpace(unit: number): boolean {
  return unit === 0x20 || unit === 0x0a || unit === 0x09 || unit === 0x0d
}
