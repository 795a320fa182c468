import assert from 'node:assert/strict'
import { test } from 'node:test'

import { readPattern } from '../src/definition/pattern.ts'

const fits = (source: string, text: string): boolean => {
  const pattern = readPattern(source)
  assert.ok(typeof pattern !== 'string', `${source}: ${JSON.stringify(pattern)}`)
  return pattern.fits(text)
}

const sources = [
  ...[
    '',
    'a',
    '^a',
    'a$',
    '^a$',
    '^$',
    'a|b',
    '^(a|b)$',
    'a*',
    '^a*$',
    '^a+b?$',
    '^(ab)+$',
    '^(a|b)*c$',
  ],
  ...[
    '^a{2}$',
    '^a{2,}$',
    '^a{1,3}$',
    '^(ab){0,2}$',
    '[ab]',
    '^[^ab]+$',
    '^[a-c]+$',
    '^[\\d-]+$',
    '^[-a]+$',
    '^[a\\]]+$',
  ],
  ...[
    '.',
    '^.$',
    '\\.',
    '\\d',
    '^\\w+$',
    '\\s',
    '^\\S+$',
    '\\D',
    '^[^\\d]$',
    '\\x61',
    '\\u0062',
    '^a\\/b$',
    '(?:a|b)c',
  ],
  ...[
    '^(a*)*$',
    '^(a|aa)+$',
    '^(a+)+$',
    '^([a-z]+-)*[a-z]+$',
    'a.c',
    '^a.*c$',
    '(^a|b$)',
    '^(a?){3}$',
    'a+?b',
    '[.]',
    '^\\$$',
  ],
  ...['^[a-z][a-z0-9-]{0,5}$', '(|a)b', '^(?:)$', '[^]'],
]
const texts = [
  ...[
    '',
    'a',
    'b',
    'c',
    'ab',
    'ba',
    'aa',
    'aab',
    'abab',
    'abc',
    'ac',
    'bc',
    'aaa',
    'aaaa',
    '1',
    'a1',
    '-',
    'a-b',
    '.',
    ' ',
  ],
  ...[
    '\n',
    'a\nc',
    'a/b',
    ']',
    '$',
    'a.c',
    'abcc',
    'é',
    '😀',
    '12',
    'a b',
    '_',
    'B',
    'aaab',
    'web-01',
    '--',
  ],
]

test('it fits where JavaScript’s own fits', () => {
  for (const source of sources)
    for (const text of texts)
      assert.equal(
        fits(source, text),
        new RegExp(source, 'u').test(text),
        `${source} on ${JSON.stringify(text)}`,
      )
})

test('patterns that make others hang end', () => {
  const text = `${'a'.repeat(10_000)}!`
  const start = process.cpuUsage()
  for (const source of [
    '^(a+)+$',
    '^(a|aa)*$',
    '^(a*)*b$',
    '^a*a*a*a*a*a*b$',
    '(.*)*x$',
    '^(a?){50}a{50}$',
  ])
    assert.equal(fits(source, text), false, source)
  const { user } = process.cpuUsage(start)
  assert.ok(user < 3e6, `${user} µs`)
})

for (const [source, why] of [
  ['(a)\\1', /\\1 is not taken/],
  ['(?=a)', /no looking around/],
  ['(?<=a)b', /no looking around/],
  ['(?<name>a)', /no names/],
  ['\\bword', /\\b is not taken/],
  ['\\p{L}', /\\p is not taken/],
  ['(a', /a \) is missing/],
  ['a)', /a \) too many/],
  ['[a', /a \] is missing/],
  ['*a', /nothing before \*/],
  ['a**', /nothing to repeat/],
  ['^*', /can not be repeated/],
  ['a{2', /expected \{2\}/],
  ['a{3,2}', /expected \{2\}/],
  ['a{x}', /expected a number/],
  ['[z-a]', /backwards/],
  ['\\', /ends in the middle/],
  ['\\u00', /4 hexadecimal digits/],
  ['(((a{100}){100}){100})', /too large/],
  ['a{999999}', /too large/],
  ['('.repeat(60) + 'a' + ')'.repeat(60), /50 groups/],
] as const)
  test(`the pattern ${source.slice(0, 30)} is not taken`, () => {
    assert.match(JSON.stringify(readPattern(source)).replaceAll('\\\\', '\\'), why)
  })
