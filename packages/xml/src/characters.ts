// XML 1.0 (fifth edition): Char is production 2, NameStartChar 4, NameChar 4a. The colon is left out of both and
// allowed once between two names, as in Namespaces in XML.
const START =
  'A-Z_a-z\\u{C0}-\\u{D6}\\u{D8}-\\u{F6}\\u{F8}-\\u{2FF}\\u{370}-\\u{37D}\\u{37F}-\\u{1FFF}\\u{200C}-\\u{200D}' +
  '\\u{2070}-\\u{218F}\\u{2C00}-\\u{2FEF}\\u{3001}-\\u{D7FF}\\u{F900}-\\u{FDCF}\\u{FDF0}-\\u{FFFD}\\u{10000}-\\u{EFFFF}'
const FOLLOWING = `${START}\\-.0-9\\u{B7}\\u{300}-\\u{36F}\\u{203F}-\\u{2040}`
const NAME = `[${START}][${FOLLOWING}]*(?::[${START}][${FOLLOWING}]*)?`

const WHOLE_NAME = new RegExp(`^${NAME}$`, 'u')
const NAME_HERE = new RegExp(NAME, 'uy')
const NOT_A_CHARACTER = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/u
const EACH_NOT_A_CHARACTER = new RegExp(NOT_A_CHARACTER, 'gu')

/** Whether this is a valid element or attribute name: a name, or a prefix and a name. */
export function isName(name: string): boolean {
  return WHOLE_NAME.test(name)
}

/** The longest name that starts at `at`, or undefined if none does. */
export function nameAt(text: string, at: number): string | undefined {
  NAME_HERE.lastIndex = at
  return NAME_HERE.exec(text)?.[0]
}

/** The position of the first character that XML 1.0 cannot represent, even as a reference; -1 if there is none. */
export function findUncarried(text: string): number {
  return text.search(NOT_A_CHARACTER)
}

/** The text with U+FFFD for each character that XML 1.0 cannot represent: for text from others that we only repeat. */
export function withReplacements(text: string): string {
  return text.replaceAll(EACH_NOT_A_CHARACTER, '\uFFFD')
}

/** "U+0007", the usual notation. */
export function codePointName(text: string, at: number): string {
  return `U+${(text.codePointAt(at) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}
