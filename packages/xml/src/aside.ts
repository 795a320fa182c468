import { shortName, type TextCursor } from './cursor.ts'

// Markup beside elements that we ignore: it is checked for well-formedness and skipped.

const DECLARATION =
  /^[ \t\r\n]+version[ \t\r\n]*=[ \t\r\n]*(?:"1\.0"|'1\.0')(?:[ \t\r\n]+encoding[ \t\r\n]*=[ \t\r\n]*(?:"([^"]*)"|'([^']*)'))?(?:[ \t\r\n]+standalone[ \t\r\n]*=[ \t\r\n]*(?:"(?:yes|no)"|'(?:yes|no)'))?[ \t\r\n]*$/

// A declaration is short. The bound keeps the pattern above away from long texts.
const DECLARATION_MAX = 200

/** Skips the XML declaration, if there is one. */
export function skipDeclaration(cursor: TextCursor): void {
  const start = cursor.at
  if (!/^<\?xml[ \t\r\n]/.test(cursor.text.slice(start, start + 6))) return
  cursor.at += '<?xml'.length
  const inside = cursor.takeUntil('?>', 'the XML declaration')
  const found = inside.length > DECLARATION_MAX ? null : DECLARATION.exec(inside)
  if (found === null) {
    throw cursor.fault('the declaration must be <?xml version="1.0" encoding="UTF-8"?>', start)
  }
  // The text is already decoded as UTF-8. A document that declares another encoding was decoded wrongly.
  const encoding = found[1] ?? found[2]
  if (encoding !== undefined && !/^utf-?8$/i.test(encoding)) {
    throw cursor.fault('the encoding must be UTF-8', start)
  }
}

/** Skips white space, comments and processing instructions around the root element, and counts the latter two. */
export function skipAside(cursor: TextCursor, count: () => void): void {
  for (;;) {
    cursor.skipSpace()
    if (!acceptComment(cursor) && !acceptInstruction(cursor)) return
    count()
  }
}

/** Skips a comment if one is next. */
export function acceptComment(cursor: TextCursor): boolean {
  if (!cursor.accept('<!--')) return false
  cursor.takeUntil('--', 'the comment')
  if (!cursor.accept('>')) throw cursor.fault('-- is not allowed in a comment')
  return true
}

/** Skips a processing instruction if one is next. */
export function acceptInstruction(cursor: TextCursor): boolean {
  const start = cursor.at
  if (!cursor.accept('<?')) return false
  const target = cursor.takeName('the name of a processing instruction')
  if (target.toLowerCase() === 'xml') {
    throw cursor.fault('an XML declaration is allowed only at the start of the document', start)
  }
  if (cursor.accept('?>')) return true
  if (!cursor.skipSpace()) throw cursor.fault(`expected white space after <?${shortName(target)}`)
  cursor.takeUntil('?>', 'the processing instruction')
  return true
}
