import { findUncarried } from './characters.ts'
import { shortName, type TextCursor } from './cursor.ts'

const REFERENCE = /&(?:(amp|lt|gt|quot|apos)|#(\d+)|#x([\dA-Fa-f]+));/y

const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/**
 * Resolves the references in `raw`, which starts at `start` in the document; literal parts are passed through `literal`.
 * So a carriage return given as a reference is kept, while a bare one becomes a line feed.
 */
export function resolveReferences(
  cursor: TextCursor,
  raw: string,
  start: number,
  literal: (part: string) => string,
): string {
  let resolved = ''
  let from = 0
  for (;;) {
    const at = raw.indexOf('&', from)
    if (at === -1) return resolved + literal(raw.slice(from))
    REFERENCE.lastIndex = at
    const found = REFERENCE.exec(raw)
    if (found === null) {
      const reason =
        'only &amp; &lt; &gt; &quot; &apos; and numeric character references are accepted'
      throw cursor.fault(reason, start + at)
    }
    const character = characterOf(found)
    if (character === undefined) {
      throw cursor.fault(
        `${shortName(found[0])} is not a character that XML can represent`,
        start + at,
      )
    }
    resolved += literal(raw.slice(from, at)) + character
    from = REFERENCE.lastIndex
  }
}

function characterOf([, name, decimal, hexadecimal]: RegExpExecArray): string | undefined {
  if (name !== undefined) return named[name]
  const code = decimal === undefined ? Number.parseInt(hexadecimal ?? '', 16) : Number(decimal)
  if (code > 0x10ffff) return undefined
  const character = String.fromCodePoint(code)
  return findUncarried(character) === -1 ? character : undefined
}
