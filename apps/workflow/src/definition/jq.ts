const closers: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' }
/** Deeper brackets would be the parser's stack, not a person's thought. */
const DEPTH = 100

/**
 * Why this can not be a jq program, as far as can be seen without a jq: strings and brackets that end, no modules. What is left is
 * told by jq itself when the run comes to it.
 */
export function whyNotJq(program: string): string | undefined {
  if (program.trim() === '') return 'an empty expression'
  if (/^\s*(import|include)\s*"/.test(program)) return 'modules are not read: no import, no include'
  // What is open, innermost last: a closing bracket that must come, or `"` while in a string.
  const open: string[] = []
  for (let at = 0; at < program.length; at += 1) {
    const character = program[at] ?? ''
    if (open.at(-1) === '"') {
      if (character === '"') open.pop()
      else if (character === '\\') {
        at += 1
        if (program[at] === '(') open.push(')')
      }
    } else if (character === '#') {
      const end = program.indexOf('\n', at)
      at = end === -1 ? program.length : end
    } else if (character === '"') open.push('"')
    else if (closers[character] !== undefined) open.push(closers[character])
    else if (character === ')' || character === ']' || character === '}') {
      const expected = open.pop()
      if (expected === undefined) return `a ${character} too many at character ${at + 1}`
      if (expected !== character)
        return `${expected} expected, found ${character} at character ${at + 1}`
    }
    if (open.length > DEPTH) return `more than ${DEPTH} brackets inside of each other`
  }
  const missing = open.at(-1)
  if (missing === '"') return 'a string that does not end'
  return missing === undefined ? undefined : `${missing} is missing at the end`
}
