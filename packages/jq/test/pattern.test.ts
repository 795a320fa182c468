import assert from 'node:assert/strict'
import { test } from 'node:test'

import { LinearPattern, whyNotPattern } from '../src/pattern.ts'

const fits = (source: string, text: string): boolean => {
  assert.equal(whyNotPattern(source), undefined, source)
  return new LinearPattern(source).test(text)
}

const sources = [
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
  '^[a-z][a-z0-9-]{0,5}$',
  '(|a)b',
  '^(?:)$',
  '[^]',
]
const texts = [
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
]

test('matching agrees with JavaScript’s RegExp', () => {
  for (const source of sources)
    for (const text of texts)
      assert.equal(
        fits(source, text),
        new RegExp(source, 'u').test(text),
        `${source} on ${JSON.stringify(text)}`,
      )
})

test('patterns with catastrophic backtracking end quickly', () => {
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
  ['(a)\\1', /invalid escape sequence: `\\1`/],
  ['(?=a)', /unsupported Perl syntax/],
  ['(?<=a)b', /unsupported Perl syntax|invalid named capture/],
  ['(a', /Unterminated group/],
  ['a)', /Unmatched '\)'/],
  ['[a', /Unterminated character class/],
  ['*a', /Nothing to repeat/],
  ['a**', /Nothing to repeat/],
  ['^*', /Nothing to repeat/],
  ['a{2', /Incomplete quantifier/],
  ['a{3,2}', /out of order/],
  ['a{x}', /Incomplete quantifier/],
  ['[z-a]', /out of order/],
  ['\\', /at end of pattern/],
  ['\\u00', /Invalid Unicode escape/],
  ['(((a{100}){100}){100})', /invalid repeat count/],
  ['a{999999}', /invalid repeat count/],
] as const)
  test(`the pattern ${source.slice(0, 30)} is not supported`, () => {
    assert.match(whyNotPattern(source) ?? '', why)
  })
