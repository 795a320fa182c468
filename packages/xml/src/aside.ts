import { shown, type Cursor } from './cursor.ts'

// What may stand beside elements and means nothing to us: it is checked for form and left out.

const DECLARATION =
  /^[ \t\r\n]+version[ \t\r\n]*=[ \t\r\n]*(?:"1\.0"|'1\.0')(?:[ \t\r\n]+encoding[ \t\r\n]*=[ \t\r\n]*(?:"([^"]*)"|'([^']*)'))?(?:[ \t\r\n]+standalone[ \t\r\n]*=[ \t\r\n]*(?:"(?:yes|no)"|'(?:yes|no)'))?[ \t\r\n]*$/

// A declaration says little. The bound keeps the pattern above from ever meeting a long text.
const DECLARATION_MAX = 200

/** Steps over the XML declaration, if there is one. */
export function skipDeclaration(cursor: Cursor): void {
  const start = cursor.at
  if (!/^<\?xml[ \t\r\n]/.test(cursor.text.slice(start, start + 6))) return
  cursor.at += '<?xml'.length
  const inside = cursor.takeUntil('?>', 'the XML declaration')
  const found = inside.length > DECLARATION_MAX ? null : DECLARATION.exec(inside)
  if (found === null) {
    throw cursor.fault('the declaration must be <?xml version="1.0" encoding="UTF-8"?>', start)
  }
  // The text has been decoded by now. A document that says otherwise was decoded wrongly.
  const encoding = found[1] ?? found[2]
  if (encoding !== undefined && !/^utf-?8$/i.test(encoding)) {
    throw cursor.fault('the encoding must be UTF-8', start)
  }
}

/** Steps over white space, comments and processing instructions around the root element, and counts the latter two. */
export function skipAside(cursor: Cursor, count: () => void): void {
  for (;;) {
    cursor.skipSpace()
    if (!acceptComment(cursor) && !acceptInstruction(cursor)) return
    count()
  }
}

/** Steps over a comment if one is next. */
export function acceptComment(cursor: Cursor): boolean {
  if (!cursor.accept('<!--')) return false
  cursor.takeUntil('--', 'the comment')
  if (!cursor.accept('>')) throw cursor.fault('-- may not stand in a comment')
  return true
}

/** Steps over a processing instruction if one is next. */
export function acceptInstruction(cursor: Cursor): boolean {
  const start = cursor.at
  if (!cursor.accept('<?')) return false
  const target = cursor.takeName('the name of a processing instruction')
  if (target.toLowerCase() === 'xml') {
    throw cursor.fault('an XML declaration may only begin the document', start)
  }
  if (cursor.accept('?>')) return true
  if (!cursor.skipSpace()) throw cursor.fault(`white space was expected after <?${shown(target)}`)
  cursor.takeUntil('?>', 'the processing instruction')
  return true
}
