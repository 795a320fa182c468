const closers: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' }
/** Limits the nesting of brackets, to protect the parser's stack. */
const DEPTH = 100

/**
 * A quick syntax check without jq: closed strings and brackets, no modules. Returns the problem, or undefined. jq itself reports
 * everything else.
 */
export function whyNotJq(program: string): string | undefined {
  if (program.trim() === '') return 'an empty expression'
  if (/^\s*(import|include)\s*"/.test(program))
    return 'modules are not supported: no import, no include'
  // Open brackets and strings, innermost last: the expected closing bracket, or `"` inside a string.
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
      if (expected === undefined) return `unexpected ${character} at character ${at + 1}`
      if (expected !== character)
        return `expected ${expected}, found ${character} at character ${at + 1}`
    }
    if (open.length > DEPTH) return `brackets nested deeper than ${DEPTH}`
  }
  const missing = open.at(-1)
  if (missing === '"') return 'unterminated string'
  return missing === undefined ? undefined : `${missing} is missing at the end`
}
