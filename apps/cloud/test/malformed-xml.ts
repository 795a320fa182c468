// Malformed XML documents, derived from valid ones. Bytes are latin1 text, so that they can contain invalid UTF-8.
import { seededRandom } from '../../../tools/lab/src/system/seeded-random.ts'

export type Chance = (below: number) => number

export const chanceOf = (seed: number): Chance => seededRandom(seed).below

export const pick = <T>(from: readonly T[], chance: Chance): T => from[chance(from.length)] as T

export const noise = (chance: Chance): string =>
  Array.from({ length: chance(200) }, () => String.fromCharCode(chance(256))).join('')

const bytes = (...all: readonly number[]): string => String.fromCharCode(...all)

/** Inserted into text and values. */
const odd = [
  bytes(0),
  bytes(1, 2, 8),
  bytes(0x0b),
  bytes(0x7f),
  bytes(0xff, 0xfe),
  bytes(0xc0, 0x80),
  bytes(0xed, 0xa0, 0x80),
  bytes(0xef, 0xbf, 0xbe),
  bytes(0xe2, 0x80, 0xae),
  bytes(0xf0, 0x9f, 0x92, 0xa9),
  '&#0;',
  '&#1;',
  '&#xD800;',
  '&#xFFFFFFFF;',
  '&#x10FFFF;',
  '&#10;',
  '&undefined;',
  '&amp;amp;',
  '&',
  '<',
  ']]>',
  '<!-- -- -->',
  '<?xml version="1.0"?>',
  '<?php echo 1 ?>',
  '<![CDATA[<x>]]>',
  '<!DOCTYPE x>',
  '<!ENTITY x "y">',
  '\n\r\t',
]
/** Replacements for values. */
const instead = [
  '',
  ' ',
  '-1',
  '0',
  '1e309',
  'NaN',
  '0x10',
  '99999999999999999999',
  '1.5',
  'null',
  'true ',
]
  .concat('__proto__', 'constructor', "' or 1=1 --", '${7*7}', '../../etc/passwd', 'a'.repeat(129))
  .concat('a'.repeat(100_000), '%00', 'https://127.0.0.1:1/', 'file:///etc/passwd', 'vappTemplate-')
  .concat('/api/vAppTemplate/vappTemplate-01980000-0000-7000-8000-00000000abcd')

const splice = (text: string, at: number, gone: number, put: string): string =>
  text.slice(0, at) + put + text.slice(at + gone)

/** Replaces one match in the document, if there is any. */
function replaced(
  body: string,
  what: RegExp,
  chance: Chance,
  put: (found: string) => string,
): string {
  const found = [...body.matchAll(what)]
  if (found.length === 0) return body
  const one = pick(found, chance)
  return splice(body, one.index, one[0].length, put(one[0]))
}

const ways: readonly ((body: string, chance: Chance) => string)[] = [
  (body, chance) => body.slice(0, chance(body.length + 1)),
  (body, chance) => splice(body, chance(body.length + 1), 0, pick(odd, chance)),
  (body, chance) => splice(body, chance(body.length + 1), 1, bytes(chance(256))),
  (body, chance) => splice(body, chance(body.length + 1), chance(10), ''),
  // Replaces values of attributes, texts and names.
  (body, chance) => replaced(body, /"[^"]*"/g, chance, () => `"${pick(instead, chance)}"`),
  (body, chance) => replaced(body, /"[^"]*"/g, chance, (v) => `"${pick(odd, chance)}${v.slice(1)}`),
  (body, chance) => replaced(body, />[^<]+</g, chance, () => `>${pick(instead, chance)}<`),
  (body, chance) => replaced(body, /\d+/g, chance, () => pick(instead, chance)),
  (body, chance) => replaced(body, /<\/?[A-Za-z]+/g, chance, (tag) => `${tag}x`),
  (body, chance) => replaced(body, /<[A-Za-z]+/g, chance, (tag) => `<x:${tag.slice(1)}`),
  (body, chance) =>
    replaced(body, / [A-Za-z]+=/g, chance, () => ` ${pick(['x', 'xmlns', 'xsi:type'], chance)}=`),
  (body, chance) => replaced(body, / [a-z]+="[^"]*"/g, chance, (one) => one + one),
  (body, chance) => replaced(body, / [a-z]+="[^"]*"/g, chance, () => ''),
  (body, chance) =>
    replaced(body, /<[A-Za-z]+[^<>]*\/>/g, chance, (one) => one.repeat(1 + chance(300))),
  (body, chance) => replaced(body, /xmlns(:\w+)?="[^"]*"/g, chance, () => 'xmlns="urn:wrong"'),
  (body) => body + body,
  (body) => `<?xml version="1.0" encoding="UTF-16"?>${body}`,
  (body) => bytes(0xef, 0xbb, 0xbf) + body,
  (body) => Buffer.from(`\ufeff${body}`, 'utf16le').toString('latin1'),
  // Deep, wide, many, long.
  (body, chance) => replaced(body, />/g, chance, () => `>${'<a>'.repeat(5000)}`),
  (body, chance) => replaced(body, /(?<!\/)>/g, chance, () => `>${'<a/>'.repeat(12_000)}`),
  (body, chance) =>
    replaced(body, /<[A-Za-z]+/g, chance, (tag) =>
      [tag, ...Array.from({ length: 400 }, (_, n) => `a${n}="x"`)].join(' '),
    ),
  (body, chance) =>
    replaced(body, /<[A-Za-z]+/g, chance, (tag) => `${tag} b="${'x'.repeat(100_000)}"`),
  (body, chance) => (chance(10) ? body.slice(1) : `${body}${' '.repeat(1_050_000)}`),
  () => '{"name":"x"}',
  () => 'name=x&powerOn=true',
  () => '',
]

/** The document with one more error. */
export const broken = (body: string, chance: Chance): string => pick(ways, chance)(body, chance)
