// XML 1.0 (fifth edition): Char is production 2, NameStartChar 4, NameChar 4a. The colon is left out of both and
// allowed once between two names, as Namespaces in XML has it.
const START =
  'A-Z_a-z\\u{C0}-\\u{D6}\\u{D8}-\\u{F6}\\u{F8}-\\u{2FF}\\u{370}-\\u{37D}\\u{37F}-\\u{1FFF}\\u{200C}-\\u{200D}' +
  '\\u{2070}-\\u{218F}\\u{2C00}-\\u{2FEF}\\u{3001}-\\u{D7FF}\\u{F900}-\\u{FDCF}\\u{FDF0}-\\u{FFFD}\\u{10000}-\\u{EFFFF}'
const FOLLOWING = `${START}\\-.0-9\\u{B7}\\u{300}-\\u{36F}\\u{203F}-\\u{2040}`
const NAME = `[${START}][${FOLLOWING}]*(?::[${START}][${FOLLOWING}]*)?`

const WHOLE_NAME = new RegExp(`^${NAME}$`, 'u')
const NAME_HERE = new RegExp(NAME, 'uy')
const NOT_A_CHARACTER = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/u
const EACH_NOT_A_CHARACTER = new RegExp(NOT_A_CHARACTER, 'gu')

/** Whether this may name an element or an attribute: a name, or a prefix and a name. */
export function isName(name: string): boolean {
  return WHOLE_NAME.test(name)
}

/** The longest name that begins at `at`, or undefined when none does. */
export function nameAt(text: string, at: number): string | undefined {
  NAME_HERE.lastIndex = at
  return NAME_HERE.exec(text)?.[0]
}

/** Where the first character is that XML 1.0 cannot carry, even as a reference; -1 when there is none. */
export function findUncarried(text: string): number {
  return text.search(NOT_A_CHARACTER)
}

/** The text with a replacement character for each that XML 1.0 cannot carry: for what others wrote and we only repeat. */
export function carried(text: string): string {
  return text.replaceAll(EACH_NOT_A_CHARACTER, '\uFFFD')
}

/** "U+0007", the way people look a character up. */
export function codePointName(text: string, at: number): string {
  return `U+${(text.codePointAt(at) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}
