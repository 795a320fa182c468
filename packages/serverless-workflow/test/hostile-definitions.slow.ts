// Goal: any definition is processed quickly with little memory, and its errors have a line. Method: 200 texts from a table; the CPU
// time of each and the memory of all are measured.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { parseDefinition } from '../src/parse/parse.ts'
import { unsupported } from './refused-examples.ts'
import { functions, head } from './subset-examples.ts'

const step = (task: string): string => `${head()}do:\n  - step:\n      ${task}\n`
const set = (value: string): string => step(`set: { a: ${value} }`)
const jq = (program: string): string => step(`set: { a: ${JSON.stringify(`\${ ${program} }`)} }`)
const schema = (document: unknown): string =>
  `${head()}input: { schema: { document: ${JSON.stringify(document)} } }\ndo: []\n`
const http = (uri: string): string =>
  step(`call: http\n      with: { method: get, endpoint: ${JSON.stringify(uri)} }`)
const times = (count: number, make: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => make(index)).join('')
const nested = (levels: number, open: string, middle: string, close: string): string =>
  open.repeat(levels) + middle + close.repeat(levels)
const each = <T>(list: readonly T[], make: (value: T) => readonly [string, string]): Hostile[] =>
  list.map(make)

type Hostile = readonly [name: string, text: string]

const depths = [120, 500, 5000, 40_000]
const deep: Hostile[] = depths.flatMap((levels): Hostile[] => [
  [`${levels} lists, never closed`, '['.repeat(levels)],
  [`${levels} lists`, nested(levels, '[', '', ']')],
  [`${levels} mappings`, nested(levels, '{a: ', '1', '}')],
  [`${levels} lists in block style`, `${'- '.repeat(levels)}a`],
  [`${levels} explicit keys`, `${'? '.repeat(levels)}a`],
  [`${levels} mappings as keys`, nested(levels, '{ ? ', 'a', '}')],
  [`${levels} lists in data`, set(nested(levels, '[', '1', ']'))],
  [
    `${levels} brackets in an expression`,
    jq(nested(Math.min(levels, 8000), '(', '1', ')')).slice(0, 250_000),
  ],
  [
    `${levels} strings in strings in an expression`,
    jq(nested(Math.min(levels, 4000 + levels / 100), '"\\(', '1', ')"')),
  ],
])
const deepTasks: Hostile[] = [25, 100, 400].map((levels) => [
  `${levels} nested tasks`,
  `${head()}do: ${nested(levels, '[{a: {do: ', '[]', '}}]')}\n`,
])
const deepSchemas: Hostile[] = [40, 200].map((levels) => [
  `${levels} nested schemas`,
  `${head()}input: { schema: { document: ${nested(levels, '{"not": ', '{}', '}')} } }\ndo: []\n`,
])

const huge: Hostile[] = [
  ['300 KiB of spaces', ' '.repeat(300 * 1024)],
  ['10 MiB of one letter', 'a'.repeat(10 * 1024 * 1024)],
  ['300 KiB of comments', '# a\n'.repeat(75 * 1024)],
  ['250 KiB of only comments', '#\n'.repeat(125_000)],
  ['250 KiB in one text', JSON.stringify('a'.repeat(250_000))],
  ['250 KiB in one key', `${JSON.stringify('a'.repeat(250_000))}: 1`],
  ['120,000 numbers', `[${'1,'.repeat(120_000)}]`],
  ['120,000 empty lists', '- []\n'.repeat(50_000)],
  ['40,000 keys', times(25_000, (index) => `k${index}: 1\n`)],
  ['the same key 40,000 times', 'key: 1\n'.repeat(37_000)],
  ['1,001 tasks', `${head()}do:\n${times(1001, (index) => `  - t${index}: { wait: PT1S }\n`)}`],
  [
    '3,000 tasks in one branch',
    `${head()}do:\n  - f: { fork: { branches: [${times(3000, (index) => `{ t${index}: { wait: PT1S } },`)}] } }\n`,
  ],
  [
    'a task with a name of 200 characters',
    `${head()}do:\n  - ${'a'.repeat(200)}: { wait: PT1S }\n`,
  ],
  ['an expression of 20 KiB', jq('1 + '.repeat(5000) + '1')],
  ['a URL of 100 KiB', http(`https://a.example/${'a'.repeat(100_000)}`)],
  ['20,000 errors of one kind', `${head()}do:\n${'  - a\n'.repeat(10_000)}`],
  ['50,000 block scalars', '- |\n'.repeat(50_000)],
  ['60,000 documents', '--- a\n'.repeat(40_000)],
  ['100,000 colons', ':'.repeat(100_000)],
  ['100,000 unfinished quotes', '"a" '.repeat(60_000)],
  ['100,000 commas', `[${','.repeat(100_000)}]`],
  ['100,000 empty lines', '\n'.repeat(100_000)],
]

const laughs = `a: &a [x,x,x,x,x,x,x,x,x]\n${times(9, (index) => `k${index}: &b${index} [*${index === 0 ? 'a' : `b${index - 1}`},*${index === 0 ? 'a' : `b${index - 1}`}]\n`)}`
const yaml: Hostile[] = [
  ['a billion laughs', laughs],
  ['an alias to itself', 'a: &a [*a]'],
  ['an undefined alias', `${head()}do: *tasks`],
  ['a merge key', `x: &x { a: 1 }\ny:\n  <<: *x\n`],
  ['10,000 anchors', times(10_000, (index) => `- &a${index} x\n`)],
  ...each(
    [
      '!!js/function "x"',
      '!!python/object:os.system x',
      '!!binary aGk=',
      '!local x',
      '!!set {a}',
      '!<tag:x> y',
    ],
    (tag) => [`the tag ${tag}`, set(tag)],
  ),
  ['a directive', '%TAG ! tag:example.com,2000:\n---\na: 1'],
  ['another YAML version', '%YAML 1.1\n---\na: 1'],
  ...each(['__proto__', '{ constructor: { prototype: 1 }, "__proto__": { a: 1 } }'], (key) => [
    `the prototype as ${key}`,
    key.startsWith('{') ? set(key) : `${head()}do: []\n${key}: { polluted: true }\n`,
  ]),
  ...each(['.nan', '.inf', '-.inf', '1e999'], (number) => [`the number ${number}`, set(number)]),
  ...each(['\u0000', '\u0007', '\uFEFF\uFEFF', '\uD800', '\uFFFE', 'ÿþd\u0000o\u0000'], (text) => [
    `invalid characters: ${JSON.stringify(text)}`,
    text,
  ]),
  ['tabs for indentation', 'a:\n\t- b\n\t\t- c\n'],
  ['a list as a key', '? [a, b]\n: c\n'],
  ['keys twice, far away', `${head()}do: []\n${times(1000, (index) => `x${index}: 1\n`)}do: []\n`],
]

const words: Hostile[] = [
  ...each(
    [
      'P' + '1'.repeat(100_000),
      'PT1H1H',
      '-PT1S',
      'PT-1S',
      'P1Y',
      'PT',
      '',
      'PT999999999H',
      '${ .a }',
    ],
    (duration) => [
      `the duration ${duration.slice(0, 20)}`,
      step(`wait: ${JSON.stringify(duration)}`),
    ],
  ),
  ...each(
    ['{}', '{ seconds: -1 }', '{ seconds: 1.5 }', '{ years: 1 }', '[1]', 'null', '5'],
    (duration) => [`the duration ${duration}`, step(`wait: ${duration}`)],
  ),
  ...each(['a-'.repeat(50_000), '-a', '', '../x', 'ä', 'a\nb'], (name) => [
    `the name ${name.slice(0, 10)}`,
    `document: { dsl: '1.0.0', namespace: a, name: ${JSON.stringify(name)}, version: '1.0.0' }\ndo: []\n`,
  ]),
  ...each(
    ['1.0.0-' + 'a-'.repeat(50_000), '1', 'latest', '1.0.0-' + '0.'.repeat(20), 'v1.0.0'],
    (version) => [
      `the version ${version.slice(0, 10)}`,
      `document: { dsl: '1.0.0', namespace: a, name: b, version: ${JSON.stringify(version)} }\ndo: []\n`,
    ],
  ),
  ...each(['0.8', '0.9', '1.1.0', '2.0.0', '1.0.0-alpha5', '${ .v }'], (dsl) => [
    `DSL ${dsl}`,
    `${head(dsl)}do: []\n`,
  ]),
  ...each(
    [
      '.a | (',
      '"unfinished',
      '.a }',
      '[1, (2]',
      '',
      '.a | [',
      '{"a": (1}',
      '.. | "\\("',
      '.a ] | [ .b',
      '{ (',
      'import "x" as y; .',
      'include "x"; .',
      '$secrets.a',
      '"\\(1"',
    ],
    (program) => [`the expression ${program}`, jq(program)],
  ),
  ...each(
    [
      'file:///etc/passwd',
      'gopher://a',
      'ftp://a/b',
      'data:text/plain,x',
      'javascript:alert(1)',
      '//a.example',
      'http:/a',
      'https://u:p@a.example',
      'unix:/run/x.sock',
      'a.example',
    ],
    (uri) => [`the address ${uri}`, http(uri)],
  ),
  ...each(
    [
      'skerry.vm.nothing',
      'skerry.',
      'skerry.__proto__',
      'constructor',
      'toString',
      '__proto__',
      'x:1@y',
      'https://a.example/f.yaml',
    ],
    (name) => [`the function ${name}`, step(`call: ${JSON.stringify(name)}`)],
  ),
]

const schemas: Hostile[] = [
  ...each(['(a)\\1', '((a{99}){99}){99}'], (pattern) => [
    `the pattern ${pattern}`,
    schema({ type: 'object', properties: { a: { type: 'string', pattern } } }),
  ]),
  ...each(['https://a.example/s.json', 'file:///etc/passwd', '../other'], ($ref) => [
    `a schema from ${$ref}`,
    schema({ type: 'object', $ref }),
  ]),
  ...each(
    [
      'patternProperties',
      'propertyNames',
      'if',
      'contains',
      '$dynamicRef',
      'unevaluatedProperties',
    ],
    (word) => [`the schema keyword ${word}`, schema({ type: 'object', [word]: {} })],
  ),
  ['a schema of the wrong type', schema({ type: 'object', properties: [] })],
  ['a schema whose required is not a list', schema({ type: 'object', required: 'a' })],
  [
    'a form whose secret has a default',
    schema({
      type: 'object',
      properties: { a: { type: 'string', format: 'password', default: 'x' } },
    }),
  ],
]

const rounds: Hostile[] = [
  ['a function that calls itself', `${head()}use: { functions: { a: { call: a } } }\ndo: []\n`],
  [
    '500 functions in a ring',
    `${head()}use:\n  functions:\n${times(500, (index) => `    f${index}: { call: f${(index + 1) % 500} }\n`)}do: []\n`,
  ],
  [
    'functions that call each other, 2^40 ways',
    `${head()}use:\n  functions:\n${times(40, (index) => `    f${index}: { do: [ { a: { call: f${(index + 1) % 40} } }, { b: { call: f${(index + 1) % 40} } } ] }\n`)}do: []\n`,
  ],
  ...each(['nowhere', '', 'continue ', '__proto__', 'toString'], (then) => [
    `then: ${then}`,
    step(`wait: PT1S\n      then: ${JSON.stringify(then)}`),
  ]),
]

const notRun: Hostile[] = unsupported.map(({ name, example }) => [name, head() + example])

const all: readonly Hostile[] = [
  ...deep,
  ...deepTasks,
  ...deepSchemas,
  ...huge,
  ...yaml,
  ...words,
  ...schemas,
  ...rounds,
  ...notRun,
]

test('there are 200 of them', () => {
  assert.ok(all.length >= 200, `${all.length}`)
  assert.equal(new Set(all.map(([, text]) => text)).size, all.length)
})

const before = process.resourceUsage().maxRSS
for (const [name, text] of all)
  test(`hostile: ${name}`, () => {
    const start = process.cpuUsage()
    const parsed = parseDefinition(text, functions)
    const used = process.cpuUsage(start)
    assert.ok('complaints' in parsed, 'it was accepted')
    assert.ok(parsed.complaints.length > 0 && parsed.complaints.length <= 50)
    for (const { line, column, message } of parsed.complaints) {
      assert.ok(line >= 1 && column >= 1 && message.length > 0)
      assert.ok(message.length < 1000, `a message of ${message.length} characters`)
    }
    const seconds = (used.user + used.system) / 1e6
    assert.ok(seconds < 2, `${seconds} s of CPU time`)
  })

test('memory stays bounded', (context) => {
  const grown = Math.round((process.resourceUsage().maxRSS - before) / 1024)
  context.diagnostic(`${all.length} hostile definitions: ${grown} MiB more memory at most`)
  assert.ok(grown < 256, `${grown} MiB`)
  assert.equal(({} as { polluted?: boolean }).polluted, undefined)
})
