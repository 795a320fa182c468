import { element, type Element } from '@skerry/xml'

import type { SeededRandom } from '../../../tools/lab/src/system/seeded-random.ts'

const names = ['a', 'domain', 'x-1', 'qemu:arg', 'é', '_', '__proto__', 'constructor'] as const

const pieces = [
  '',
  'plain',
  '<script>',
  '</a>',
  '&amp;',
  '&lol;',
  '&#0;',
  ']]>',
  '<![CDATA[',
  '<!--',
  '-->',
  '<?xml?>',
  '<!DOCTYPE a>',
  `"'"`,
  ' a="b" ',
  '\t',
  '\n',
  '\r',
  '\r\n',
  '  ',
  '\u0085\u2028',
  '\u007F\u009F',
  '\uFEFF',
  '\uFFFD',
  '中文',
] as const

/** Any text that XML can represent, mostly one that tries to break out of its place. */
export function arbitraryText(random: SeededRandom, more: readonly string[] = []): string {
  let text = ''
  for (let left = random.below(5); left > 0; left -= 1) text += random.pick([...pieces, ...more])
  return text
}

/** A tree whose texts would be markup if they were not escaped. */
export function arbitraryElement(
  random: SeededRandom,
  more: readonly string[] = [],
  depth = 4,
): Element {
  const attributes: Record<string, string> = {}
  for (let left = random.below(4); left > 0; left -= 1) {
    Object.defineProperty(attributes, random.pick(names), {
      value: arbitraryText(random, more),
      enumerable: true,
      configurable: true,
    })
  }
  const children: (Element | string)[] = []
  for (let left = depth === 0 ? 0 : random.below(5); left > 0; left -= 1) {
    const isText = random.below(2) === 0
    children.push(isText ? arbitraryText(random, more) : arbitraryElement(random, more, depth - 1))
  }
  return element(random.pick(names), attributes, ...children)
}

const scraps = [
  '<',
  '>',
  '&',
  ';',
  '"',
  "'",
  '=',
  '/',
  '!',
  '?',
  '-',
  '[',
  ']',
  '#',
  ' ',
  '\n',
  '\r',
  '\t',
  'a',
  'x',
  '1',
  '.',
  'é',
  '×',
  '<!--',
  '-->',
  ']]>',
  '<![CDATA[',
  '</',
  '/>',
  '&#',
  '&#x',
  '<?',
  '?>',
  '&lt;',
  '<b>',
  '</b>',
  '\u0001',
] as const

/** The document with one to four small mutations. */
export function injure(random: SeededRandom, document: string): string {
  let injured = document
  for (let left = 1 + random.below(4); left > 0; left -= 1) {
    const at = random.below(injured.length + 1)
    const cut = random.below(3) === 0 ? random.below(8) : random.below(2)
    const put = random.below(4) === 0 ? '' : random.pick(['', ...scraps])
    injured = injured.slice(0, at) + put + injured.slice(at + cut)
  }
  return injured
}
