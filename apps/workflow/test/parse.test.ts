import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { Complaint } from '../src/definition/definition.ts'
import { parseDefinition } from '../src/definition/parse.ts'
import { refusal, refused } from '../src/definition/refused.ts'
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
  test(`${name} is taken`, () => {
    assert.deepEqual(words(head() + example), [])
  })

for (const { name, example, refused: by } of unsupported)
  test(`${name} is refused by its name`, () => {
    const said = complaints(head() + example)
    assert.deepEqual(
      said.map(({ message }) => message),
      [refusal(by!)],
    )
    assert.ok(said.every(({ line, at }) => line > 5 && at !== ''))
  })

test('every reason to refuse has an example', () => {
  const shown = new Set(unsupported.map(({ refused: by }) => by))
  assert.deepEqual(
    Object.keys(refused).filter((name) => !shown.has(name as keyof typeof refused)),
    [],
  )
})

test('a definition is known by its head', () => {
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

test('JSON is taken as it is', () => {
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

test('what is wrong is told with line and column, in the order of the text', () => {
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
    '8:7 there is no function skerry.vm.explode; docs/reference/workflow-functions.md lists them',
    '10:7 expected a duration such as PT30S or P1DT12H; years and months have no fixed length',
    '11:7 there is no task "nowhere" in this list',
    '12:5 a name that is in this list already',
    '13:7 "sett" is no task that is known; a task has one of do, set, switch, for, fork, try, wait, listen, raise, run, call',
  ])
})

/** What is written → a piece of what is said, and the line. */
const wrong: readonly (readonly [string, string, RegExp])[] = [
  ['another version of the DSL', `${head('0.8')}do: []\n`, /^2:3 the DSL's version 0.8 is not run/],
  ['a version that YAML reads as a number', head().replace("'1.0.0'", '1.0') + 'do: []\n', /^2:3 /],
  [
    'a bad name',
    head().replace('name: example', 'name: a/b') + 'do: []\n',
    /^4:3 expected 1 to 63 letters/,
  ],
  ['no tasks', head(), /"do" is missing/],
  ['a word that is not known', `${head()}do: []\nfoo: 1\n`, /^7:1 a workflow has no "foo"/],
  [
    'a task that is two',
    step('wait: PT1S\n      set: { a: 1 }'),
    /a task is one thing: set or wait/,
  ],
  ['a task with a word too many', step('wait: PT1S\n      while: .a'), /^9:7 wait has no "while"/],
  [
    'a task named as a word of then',
    `${head()}do:\n  - end:\n      wait: PT1S\n`,
    /"end" is a word of "then"/,
  ],
  ['months', step('wait: P1M'), /no fixed length/],
  ['ten years', step('wait: P3650D'), /longer than 366 days/],
  [
    'an expression that does not end',
    step("if: '${ .a | \"x }'\n      wait: PT1S"),
    /a string that does not end/,
  ],
  ['a bracket too many', step("if: '.a)'\n      wait: PT1S"), /a \) too many at character 3/],
  ['a module', step(`set: { a: '\${ import "a" as b; 1 }' }`), /modules are not read/],
  [
    'a variable that is taken',
    step('for: { in: .a, each: input }\n      do: []'),
    /\$input means something/,
  ],
  [
    'a password in an address',
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
    'an address of another kind',
    step('call: http\n      with: { method: get, endpoint: "file:///etc/passwd" }'),
    /http:\/\/ or https:\/\//,
  ],
  [
    'a retry that is not there',
    step('try: []\n      catch: { retry: often }'),
    /there is no "often" in use.retries/,
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
    /one person answers one question/,
  ],
  [
    'a form without its event',
    step(
      'listen: { to: { one: { with: { type: other } } } }\n      metadata: { interaction: { title: a, form: { type: object } } }',
    ),
    /it goes with listening to one skerry.interaction/,
  ],
  [
    'an event by expression',
    step('listen: { to: { one: { with: { type: "${ .a }" } } } }'),
    /no expression: senders must know/,
  ],
  [
    'a source that is no address, as the schema wants it',
    step('listen: { to: { one: { with: { type: a, source: here } } } }'),
    /the DSL's schema: /,
  ],
  [
    'a function that calls itself',
    `${head()}use: { functions: { a: { call: b }, b: { do: [ { c: { call: a } } ] } } }\ndo: []\n`,
    /the function calls itself: a → b → a/,
  ],
  [
    'an input that is no object',
    `${head()}input: { schema: { document: { type: string } } }\ndo: []\n`,
    /must have type: object/,
  ],
  [
    'a schema’s word that is not kept',
    `${head()}input: { schema: { document: { type: object, propertyNames: {} } } }\ndo: []\n`,
    /"propertyNames" is not checked here/,
  ],
  [
    'a schema elsewhere',
    `${head()}input: { schema: { document: { type: object, $ref: 'https://a.example/s' } } }\ndo: []\n`,
    /nothing is fetched/,
  ],
  [
    'a secret as a default',
    `${head()}input: { schema: { document: { type: object, properties: { a: { type: string, format: password, default: x } } } } }\ndo: []\n`,
    /a secret would stand in the definition/,
  ],
  [
    'a secret inside of another input',
    `${head()}input: { schema: { document: { type: object, properties: { a: { type: object, properties: { b: { type: string, format: password } } } } } } }\ndo: []\n`,
    /a secret is a property of the input itself/,
  ],
  ['a key twice', `${head()}do: []\ndo: []\n`, /^7:1 the key "do" is here twice/],
  ['a key that is no text', `${head()}do: []\n1: a\n`, /^7:1 a key that is no text/],
  ['an anchor', `${head()}do: &a []\n`, /^6:5 the anchor &a: write the value out/],
  ['an alias', `${head()}do: *a\n`, /^6:5 the alias \*a/],
  ['a tag', `${head()}do: !!set {}\n`, /the tag !!set/],
  ['two documents', `${head()}do: []\n---\na: 1\n`, /^7:1 a second document begins here/],
  ['a number that JSON has not', step('set: { a: .inf }'), /neither a text, a number/],
  ['bad indentation', `${head()}do:\n- a\n  b: c: d\n`, /^8:/],
  ['nothing', '', /there is nothing in it/],
]
for (const [name, text, said] of wrong)
  test(`${name} is told`, () => {
    const found = words(text)
    assert.ok(
      found.some((each) => said.test(each)),
      `${found.join('\n')}\n${String(said)}`,
    )
  })

test('an expression with a colon that is not in quotes is told how', () => {
  const [first] = words(step('set: { b: 1 }\n      if: ${ {a: 1} }'))
  assert.match(first ?? '', /^9:.* stands in quotes$/)
})

test('a question is known in whatever order it is written', () => {
  const asked = `listen: { read: data, to: { one: { with: { type: skerry.interaction } } } }
      metadata: { interaction: { form: { type: object }, title: a } }`
  assert.deepEqual(words(step(asked)), [])
})

test('marks of YAML inside of texts are texts', () => {
  assert.deepEqual(words(step('set: { a: "*x", b: "&y", c: "!!z", d: a & b }')), [])
  assert.deepEqual(words(step('set:\n        a: |\n          &x\n          *y\n          !z')), [])
})

test('complaints are bounded', () => {
  const tasks = Array.from({ length: 900 }, (_, index) => `  - t${index}: { wait: soon }\n`)
  assert.equal(complaints(`${head()}do:\n${tasks.join('')}`).length, 50)
})
