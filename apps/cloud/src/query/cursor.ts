import { Fault } from '@skerry/fault'

/** Where a page ended: the value that it is sorted by, where there is one, and the key of its last record, as text. */
export type Cursor = readonly string[]

const LENGTH_MAX = 2048

/** For links only: a client hands it back as it came. */
export const writeCursor = (cursor: Cursor): string =>
  Buffer.from(JSON.stringify(cursor)).toString('base64url')

/** `parts`: how many values there must be. Whether each fits its column is for the database to say. */
export function readCursor(written: string, parts: number): Cursor {
  const cursor = written.length > LENGTH_MAX ? undefined : parsed(written)
  const fits =
    Array.isArray(cursor) &&
    cursor.length === parts &&
    cursor.every((each) => typeof each === 'string' && !each.includes('\0'))
  if (fits) return cursor as Cursor
  throw wrongCursor()
}

export const wrongCursor = (cause?: unknown): Fault =>
  new Fault('invalid', 'after must be as it stands in a nextPage link of the same query', {
    hint: 'leave it out, and begin at page 1',
    cause,
  })

function parsed(written: string): unknown {
  try {
    return JSON.parse(Buffer.from(written, 'base64url').toString('utf8'))
  } catch {
    return undefined
  }
}
