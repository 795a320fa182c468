// An export of events: one line each, with a hash over the event and the hash of the line before it. A line that is changed, removed,
// added or moved has a hash that does not fit, and so has every line after it.
import { createHash } from 'node:crypto'

import { Failure } from '../../terminal/failure.ts'

export interface ChainedEvent {
  /** SHA-256 of the hash before it, a newline and the event, in hexadecimal. */
  readonly hash: string
  /** JSON, as the cloud sent it. */
  readonly event: string
}

/** The hash before the first line. */
export const NO_HASH = '0'.repeat(64)

const LINE = /^\{"hash":"([0-9a-f]{64})","event":(.+)\}$/s

export const chain = (before: string, event: string): ChainedEvent => ({
  hash: createHash('sha256').update(`${before}\n${event}`).digest('hex'),
  event,
})

export const lineOf = ({ hash, event }: ChainedEvent): string =>
  `{"hash":"${hash}","event":${event}}\n`

/** The event of a line, or undefined if its hash does not fit. */
export function eventIn(line: string, before: string): ChainedEvent | undefined {
  const [, hash = '', event = ''] = LINE.exec(line) ?? []
  const chained = chain(before, event)
  return hash === chained.hash ? chained : undefined
}

export interface ExportedEvent extends ChainedEvent {
  /** Its number in the file, from 1. */
  readonly line: number
  /** Bytes of the file up to the end of its line. */
  readonly end: number
}

/** The events of an export in order. A last line without its newline was not written to its end and is left out. */
export async function* exportedEvents(
  file: string,
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<ExportedEvent, void> {
  let [hash, line, end] = [NO_HASH, 0, 0]
  for await (const text of wholeLines(chunks)) {
    line += 1
    end += Buffer.byteLength(text) + 1
    const found = eventIn(text, hash)
    if (!found) throw broken(file, line)
    hash = found.hash
    yield { ...found, line, end }
  }
}

async function* wholeLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<string, void> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of chunks) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    let from = 0
    for (let at = rest.indexOf(10); at !== -1; at = rest.indexOf(10, from)) {
      yield rest.toString('utf8', from, at)
      from = at + 1
    }
    rest = rest.subarray(from)
  }
}

const broken = (file: string, line: number): Failure =>
  new Failure('refused', `${file}: the hash of line ${line} does not fit`, {
    hint: `line ${line} or the end of the file before it was changed; compare with a copy, or export into a new file`,
  })
