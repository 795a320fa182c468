// JSON bodies derived from valid ones, with one error: the same ones for the same seed. Bytes are latin1 text.
import { pick, type Chance } from './malformed-xml.ts'

/** Replacements for values: other types, limits of numbers, names with a meaning of their own. */
const values = [
  'null',
  'true',
  '0',
  '-1',
  '1.5',
  '1e999',
  '-0',
  '2147483648',
  '9007199254740993',
  '99999999999999999999999',
  'NaN',
  'Infinity',
  '0x10',
  '""',
  '" "',
  '"\\u0000"',
  '"\\ud800"',
  '"\\uffff"',
  '"__proto__"',
  '"<a>&amp;]]>"',
  '"file:///etc/passwd"',
  '[]',
  '{}',
  '[[]]',
  '[null]',
  '{"":""}',
  '{"value":{"value":1}}',
  `"${'x'.repeat(100_000)}"`,
  `[${'{},'.repeat(5000)}{}]`,
  '['.repeat(100_000),
  '{"a":'.repeat(50_000),
]
const keys = [
  '__proto__',
  'constructor',
  'toString',
  'kind',
  'value',
  'type',
  'href',
  'operationKey',
  'link',
  'tasks',
  'x'.repeat(5000),
  '',
]

function replaced(
  body: string,
  what: RegExp,
  chance: Chance,
  put: (found: string) => string,
): string {
  const found = [...body.matchAll(what)]
  if (found.length === 0) return body
  const one = pick(found, chance)
  return body.slice(0, one.index) + put(one[0]) + body.slice(one.index + one[0].length)
}

const VALUE = /(?<=:)("[^"]*"|-?\d+|true|false|null)/g
const KEY = /"[^"]*"(?=:)/g

const ways: readonly ((body: string, chance: Chance) => string)[] = [
  (body, chance) => body.slice(0, 1 + chance(body.length)),
  (body, chance) => replaced(body, VALUE, chance, () => pick(values, chance)),
  (body, chance) => replaced(body, VALUE, chance, () => pick(values, chance)),
  (body, chance) => replaced(body, /\[[^[\]]*\]/g, chance, () => pick(values, chance)),
  (body, chance) => replaced(body, KEY, chance, () => `"${pick(keys, chance)}"`),
  (body, chance) => replaced(body, KEY, chance, (key) => `${key}:1,${key}`),
  (body, chance) =>
    replaced(body, /\{/g, chance, () => `{"${pick(keys, chance)}":${pick(values, chance)},`),
  (body, chance) => replaced(body, /[{}[\],:"]/g, chance, () => ''),
  (body, chance) => replaced(body, /[{}[\],:"]/g, chance, (mark) => mark + mark),
  (body, chance) => {
    const at = chance(body.length)
    return body.slice(0, at) + String.fromCharCode(chance(256)) + body.slice(at + 1)
  },
  (body) => `${body}${body}`,
  (body) => `\u00ef\u00bb\u00bf${body}`,
  (body) => `[${body}]`,
  (body, chance) => pick(values, chance) + (chance(2) ? '' : body),
]

/** The document with one error. */
export const brokenJson = (body: string, chance: Chance): string => pick(ways, chance)(body, chance)
