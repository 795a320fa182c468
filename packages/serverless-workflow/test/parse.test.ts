import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { Complaint } from '../src/definition/definition.ts'
import { parseDefinition } from '../src/parse/parse.ts'
import { refusal, refused } from '../src/parse/refused.ts'
import { unsupported } from './refused-examples.ts'
import { functions, head, supported } from './subset-examples.ts'

const complaints = (text: string): readonly Complaint[] => {
  const parsed = parseDefinition(text, functions)
  return 'complaints' in parsed ? parsed.complaints : []
}
const words = (text: string): string[] =>
  complaints(text).map(({ line, column, message }) => `${line}:${column} ${message}`)
const step = (task: string): string => `${head()}do:\n  - step:\n      ${task}\n`

for (const { name, example } of supported)
  test(`${name} is accepted`, () => {
    assert.deepEqual(words(head() + example), [])
  })

for (const { name, example, refused: by } of unsupported)
  test(`${name} is rejected by its name`, () => {
    const said = complaints(head() + example)
    assert.deepEqual(
      said.map(({ message }) => message),
      [refusal(by!)],
    )
    assert.ok(said.every(({ line, at }) => line > 5 && at !== ''))
  })

test('every unsupported feature has an example', () => {
  const shown = new Set(unsupported.map(({ refused: by }) => by))
  assert.deepEqual(
    Object.keys(refused).filter((name) => !shown.has(name as keyof typeof refused)),
    [],
  )
})

test('a definition takes its metadata from the document section', () => {
  const parsed = parseDefinition(
    `document:
  dsl: '1.0.3'
  namespace: skerry
  name: snapshot
  version: 1.2.0
  summary: Makes one.
  tags: { kind: nightly, shipped: '' }
input:
  schema:
    document: { type: object, properties: { vapp: { type: string } } }
do:
  - whole:
      set: \${ . }
`,
    functions,
  )
  assert.ok('definition' in parsed)
  const { document, ...about } = parsed.definition
  assert.deepEqual(about, {
    namespace: 'skerry',
    name: 'snapshot',
    version: '1.2.0',
    title: 'snapshot',
    summary: 'Makes one.',
    tags: ['kind=nightly', 'shipped'],
    input: { type: 'object', properties: { vapp: { type: 'string' } } },
  })
  assert.deepEqual(document.do, [{ whole: { set: '${ . }' } }])
})

test('JSON is accepted', () => {
  const text = JSON.stringify(
    {
      document: { dsl: '1.0.0', namespace: 'a', name: 'b', version: '1.0.0' },
      do: [{ a: { set: { text: 'tab\t"quote" 😀 \\ /' } } }],
    },
    undefined,
    2,
  )
  const parsed = parseDefinition(text, functions)
  assert.ok('definition' in parsed)
  assert.deepEqual(parsed.definition.document, JSON.parse(text))
})

test('errors have line and column, in the order of the text', () => {
  const text = `${head()}do:
  - first:
      call: skerry.vm.explode
  - second:
      wait: soon
      then: nowhere
  - second:
      sett: { a: 1 }
`
  assert.deepEqual(words(text), [
    '8:7 unknown function skerry.vm.explode; see docs/reference/workflow-functions.md',
    '10:7 expected a duration such as PT30S or P1DT12H; years and months have no fixed length',
    '11:7 no task "nowhere" in this list',
    '12:5 duplicate task name in this list',
    '13:7 "sett" is not a known task; a task has one of do, set, switch, for, fork, try, wait, listen, raise, run, call',
  ])
})

/** Name of the case, definition, and a part of the expected error with its line. */
const wrong: readonly (readonly [string, string, RegExp])[] = [
  ['another version of the DSL', `${head('0.8')}do: []\n`, /^2:3 unsupported DSL version 0.8/],
  ['a version that YAML reads as a number', head().replace("'1.0.0'", '1.0') + 'do: []\n', /^2:3 /],
  [
    'a bad name',
    head().replace('name: example', 'name: a/b') + 'do: []\n',
    /^4:3 expected 1 to 63 letters/,
  ],
  ['no tasks', head(), /"do" is missing/],
  ['an unknown key', `${head()}do: []\nfoo: 1\n`, /^7:1 a workflow: unknown key "foo"/],
  [
    'a task with two kinds',
    step('wait: PT1S\n      set: { a: 1 }'),
    /a task must have one kind, not both set and wait/,
  ],
  [
    'a task with an unknown key',
    step('wait: PT1S\n      while: .a'),
    /^9:7 wait: unknown key "while"/,
  ],
  [
    'a task named like a flow directive',
    `${head()}do:\n  - end:\n      wait: PT1S\n`,
    /"end" is reserved for "then"/,
  ],
  ['months', step('wait: P1M'), /no fixed length/],
  ['ten years', step('wait: P3650D'), /longer than 366 days/],
  [
    'an unterminated expression',
    step("if: '${ .a | \"x }'\n      wait: PT1S"),
    /unterminated string/,
  ],
  ['a bracket too many', step("if: '.a)'\n      wait: PT1S"), /unexpected \) at character 3/],
  ['a module', step(`set: { a: '\${ import "a" as b; 1 }' }`), /modules are not supported/],
  [
    'a reserved variable',
    step('for: { in: .a, each: input }\n      do: []'),
    /\$input is a reserved name/,
  ],
  [
    'a password in a URL',
    step("call: http\n      with: { method: get, endpoint: 'https://me:pw@a.example' }"),
    /a password in the definition/,
  ],
  [
    'a token in a header',
    step(
      "call: http\n      with: { method: get, endpoint: 'https://a.example', headers: { Authorization: Bearer x } }",
    ),
    /a password in the definition/,
  ],
  [
    'a secret by name',
    step(
      'call: http\n      with: { method: get, endpoint: { uri: "https://a.example", authentication: { bearer: { use: token } } } }',
    ),
    /use secrets/,
  ],
  [
    'a URL with another scheme',
    step('call: http\n      with: { method: get, endpoint: "file:///etc/passwd" }'),
    /http:\/\/ or https:\/\//,
  ],
  [
    'an undefined retry',
    step('try: []\n      catch: { retry: often }'),
    /"often" is not defined in use.retries/,
  ],
  [
    'a question without a form',
    step('listen: { to: { one: { with: { type: skerry.interaction } } } }'),
    /metadata.interaction with title and form is missing/,
  ],
  [
    'a question among other events',
    step(
      'listen: { to: { any: [ { with: { type: skerry.interaction } } ] } }\n      metadata: { interaction: { title: a, form: { type: object } } }',
    ),
    /one user answers one question/,
  ],
  [
    'a form without its event',
    step(
      'listen: { to: { one: { with: { type: other } } } }\n      metadata: { interaction: { title: a, form: { type: object } } }',
    ),
    /only allowed on a listen task for one skerry.interaction/,
  ],
  [
    'an event by expression',
    step('listen: { to: { one: { with: { type: "${ .a }" } } } }'),
    /not an expression: senders must know/,
  ],
  [
    'a source that is not a URI, as the schema requires',
    step('listen: { to: { one: { with: { type: a, source: here } } } }'),
    /DSL schema: /,
  ],
  [
    'a function that calls itself',
    `${head()}use: { functions: { a: { call: b }, b: { do: [ { c: { call: a } } ] } } }\ndo: []\n`,
    /the function calls itself: a → b → a/,
  ],
  [
    'an input that is not an object',
    `${head()}input: { schema: { document: { type: string } } }\ndo: []\n`,
    /must have type: object/,
  ],
  [
    'an unsupported schema keyword',
    `${head()}input: { schema: { document: { type: object, propertyNames: {} } } }\ndo: []\n`,
    /unsupported schema keyword "propertyNames"/,
  ],
  [
    'an external schema',
    `${head()}input: { schema: { document: { type: object, $ref: 'https://a.example/s' } } }\ndo: []\n`,
    /nothing is fetched/,
  ],
  [
    'a secret as a default',
    `${head()}input: { schema: { document: { type: object, properties: { a: { type: string, format: password, default: x } } } } }\ndo: []\n`,
    /a definition must not contain a secret/,
  ],
  [
    'a nested secret',
    `${head()}input: { schema: { document: { type: object, properties: { a: { type: object, properties: { b: { type: string, format: password } } } } } } }\ndo: []\n`,
    /a secret must be a top-level property of the input/,
  ],
  ['a key twice', `${head()}do: []\ndo: []\n`, /^7:1 duplicate key "do"/],
  ['a key that is not a text', `${head()}do: []\n1: a\n`, /^7:1 a key must be a text/],
  ['an anchor', `${head()}do: &a []\n`, /^6:5 the anchor &a: write the value out/],
  ['an alias', `${head()}do: *a\n`, /^6:5 the alias \*a/],
  ['a tag', `${head()}do: !!set {}\n`, /the tag !!set/],
  ['two documents', `${head()}do: []\n---\na: 1\n`, /^7:1 a second document starts here/],
  ['a number that JSON does not have', step('set: { a: .inf }'), /expected a text, a number/],
  ['bad indentation', `${head()}do:\n- a\n  b: c: d\n`, /^8:/],
  ['nothing', '', /the definition is empty/],
]
for (const [name, text, said] of wrong)
  test(`${name} is reported`, () => {
    const found = words(text)
    assert.ok(
      found.some((each) => said.test(each)),
      `${found.join('\n')}\n${String(said)}`,
    )
  })

test('an unquoted expression with a colon gets a hint', () => {
  const [first] = words(step('set: { b: 1 }\n      if: ${ {a: 1} }'))
  assert.match(first ?? '', /^9:.* in quotes$/)
})

test('an interaction is recognized with any order of keys', () => {
  const requested = `listen: { read: data, to: { one: { with: { type: skerry.interaction } } } }
      metadata: { interaction: { form: { type: object }, title: a } }`
  assert.deepEqual(words(step(requested)), [])
})

test('YAML indicators inside texts are plain text', () => {
  assert.deepEqual(words(step('set: { a: "*x", b: "&y", c: "!!z", d: a & b }')), [])
  assert.deepEqual(words(step('set:\n        a: |\n          &x\n          *y\n          !z')), [])
})

test('the number of reported errors is bounded', () => {
  const tasks = Array.from({ length: 900 }, (_, index) => `  - t${index}: { wait: soon }\n`)
  assert.equal(complaints(`${head()}do:\n${tasks.join('')}`).length, 50)
})
