import { Fault } from '@skerry/fault'

import { XML_LIMITS } from './read.ts'

/** Nested at most as deep as a document in XML. */
const DEPTH_MAX = XML_LIMITS.depthMax
/** No number of a document has more digits; a longer one is refused by its type. */
const WHOLE_NUMBER = /^-?\d{1,20}$/

/**
 * Parses a JSON text of others. JSON.parse alone would keep the last of two equal keys, and would round large integers: here the former
 * is a Fault `invalid`, and an integer that a number cannot hold is a bigint.
 */
export function readJson(written: string): unknown {
  checkNesting(written)
  try {
    return JSON.parse(written, exactInteger)
  } catch (cause) {
    throw new Fault('invalid', `the body is not JSON: ${(cause as Error).message}`, {
      hint: 'send an object such as {"name":"web"}, or a document in XML',
      cause,
    })
  }
}

function exactInteger(_key: string, value: unknown, context?: { readonly source?: string }) {
  const { source = '' } = context ?? {}
  return typeof value === 'number' && !Number.isSafeInteger(value) && WHOLE_NUMBER.test(source)
    ? BigInt(source)
    : value
}

/**
 * Before it is parsed, so that a deep text costs no stack. It looks at strings, brackets and colons only; JSON.parse checks the rest.
 * One pass: no text makes it look twice at the same place.
 */
function checkNesting(written: string): void {
  const open: (Set<string> | undefined)[] = []
  let last = ''
  for (let at = 0; at < written.length; at += 1) {
    const character = written[at]
    if (character === '"') {
      const end = endOfString(written, at)
      last = written.slice(at, end + 1)
      at = end
    } else if (character === '{' || character === '[') {
      open.push(character === '{' ? new Set() : undefined)
      if (open.length > DEPTH_MAX) throw tooDeep()
    } else if (character === '}' || character === ']') open.pop()
    else if (character === ':') requireNew(open.at(-1), last)
  }
}

const tooDeep = (): Fault =>
  new Fault('invalid', `the body is nested more than ${DEPTH_MAX} deep`, {
    hint: 'send the document as the schema has it: none needs more than ten levels',
  })

/** The position of the closing quote, or of the last character if there is none. */
function endOfString(written: string, start: number): number {
  for (let at = start + 1; at < written.length; at += 1) {
    if (written[at] === '\\') at += 1
    else if (written[at] === '"') return at
  }
  return written.length - 1
}

function requireNew(keys: Set<string> | undefined, quoted: string): void {
  const key = unquoted(quoted)
  if (keys?.has(key)) {
    throw new Fault('invalid', `the body has the key ${shownKey(key)} twice in one object`, {
      hint: 'send each key once; what repeats is an array',
    })
  }
  keys?.add(key)
}

function unquoted(quoted: string): string {
  try {
    return String(JSON.parse(quoted))
  } catch {
    return quoted
  }
}

const SHOWN_MAX = 64

/** A key of the client's, short and quoted, for a message. */
export const shownKey = (key: string): string =>
  JSON.stringify(key.length > SHOWN_MAX ? `${key.slice(0, SHOWN_MAX)}…` : key)
