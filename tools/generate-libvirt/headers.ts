// Parses the enums and string defines of libvirt's public C headers.
import { withoutComments } from './protocol.ts'

export interface Headers {
  /** The members of each enum, in order. */
  readonly enums: Map<string, ReadonlyMap<string, number>>
  /** `#define NAME "text"` */
  readonly texts: Map<string, string>
  /** `#define NAME (number)`, sums included. */
  readonly numbers: Map<string, number>
}

export function readHeaders(files: readonly string[]): Headers {
  const headers: Headers = { enums: new Map(), texts: new Map(), numbers: new Map() }
  const known = new Map<string, number>()
  for (const file of files) {
    const plain = withoutComments(file)
    for (const [, name = '', text = ''] of plain.matchAll(/^# *define (VIR_\w+)\s+"([^"]*)"/gm)) {
      headers.texts.set(name, text)
    }
    for (const [, name = '', sum = ''] of plain.matchAll(
      /^# *define (VIR_\w+)\s+\(?(\d+(?: \+ \d+)*)\)?\s*$/gm,
    )) {
      headers.numbers.set(
        name,
        sum.split('+').reduce((total, part) => total + Number(part), 0),
      )
    }
    // The last member of many enums is only their size, and changes with every release.
    const enums = plain.replaceAll(/^# *ifdef VIR_ENUM_SENTINELS[^]*?^# *endif/gm, '')
    for (const [, body = '', name = ''] of enums.matchAll(
      /typedef enum \{((?:(?!typedef)[^])*?)\} (\w+);/g,
    )) {
      headers.enums.set(name, readMembers(body.replaceAll(/^#.*$/gm, ''), known))
    }
  }
  return headers
}

function readMembers(body: string, known: Map<string, number>): Map<string, number> {
  const members = new Map<string, number>()
  let next = 0
  for (const member of body.split(',').map((line) => line.trim())) {
    if (member === '') continue
    const [name = '', expression] = member.split('=').map((part) => part.trim())
    const value = expression === undefined ? next : evaluate(expression, known)
    members.set(name, value)
    known.set(name, value)
    next = value + 1
  }
  return members
}

/** Evaluates numbers, names, `1 << n` and `a | b`: libvirt's enums use nothing else. */
function evaluate(expression: string, known: ReadonlyMap<string, number>): number {
  return expression
    .replaceAll(/[()]/g, ' ')
    .split('|')
    .reduce((value, part) => {
      const [left = '', shift] = part.split('<<').map((side) => side.trim())
      const number = known.get(left) ?? Number(left.replace(/U$/, ''))
      if (!Number.isInteger(number)) throw new Error(`cannot evaluate "${expression}"`)
      const shifted = shift === undefined ? number : number * 2 ** Number(shift)
      return value === 0 ? shifted : (value | shifted) >>> 0
    }, 0)
}
