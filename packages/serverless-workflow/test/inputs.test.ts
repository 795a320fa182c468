import assert from 'node:assert/strict'
import { after, test } from 'node:test'

import { startEvaluator, type Json } from '@skerry/jq'

import { checkForm, fieldsOf } from '../src/forms/inputs.ts'
import { fromParameters, parametersOf, toParameters } from '../src/forms/parameters.ts'
import { parseDefinition } from '../src/parse/parse.ts'
import { head } from './subset-examples.ts'

const evaluator = startEvaluator({ cpuMs: 500 })
after(async () => evaluator[Symbol.asyncDispose]())
const { findInvalid } = evaluator

const schema = {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 1, description: 'Which vApp' },
    keep: { type: 'integer', minimum: 1, maximum: 30, default: 7 },
    share: { type: 'number', multipleOf: 0.1 },
    force: { type: 'boolean' },
    since: { type: 'string', format: 'date-time' },
    password: { type: 'string', format: 'password' },
    vms: { type: 'array', items: { type: 'string' }, uniqueItems: true },
    labels: { type: 'object' },
    place: {
      type: 'object',
      properties: { host: { type: 'string' }, port: { type: 'number' } },
      additionalProperties: false,
    },
  },
  required: ['name'],
  additionalProperties: false,
}
const values = {
  name: 'web',
  keep: 3,
  share: 0.3,
  force: false,
  since: '2026-01-31T12:00:00.000Z',
  password: 's3cret',
  vms: ['a', 'b'],
  labels: { team: 'x', n: 1, deep: [true, null] },
  place: { host: 'h', port: 80 },
}

test('the input form is the definition’s input schema', async () => {
  const text = `${head()}input: { schema: { document: ${JSON.stringify(schema)} } }\ndo: []\n`
  const parsed = parseDefinition(text, new Set())
  assert.ok('definition' in parsed, JSON.stringify(parsed))
  assert.deepEqual(await checkForm(parsed.definition.input, { name: 'web' }, findInvalid), {
    value: { name: 'web', keep: 7 },
  })
  assert.deepEqual(await checkForm(parsed.definition.input, {}, findInvalid), {
    complaints: [{ field: 'name', message: 'required' }],
  })
})

test('each field gets its error, without the given value', async () => {
  const given = {
    name: '',
    keep: 31,
    share: 0.25,
    since: 'soon',
    vms: ['a', 'a'],
    place: { port: 'x' },
    other: 1,
    password: 5,
  }
  const checked = await checkForm(schema, given, findInvalid)
  assert.ok('complaints' in checked)
  assert.deepEqual(
    checked.complaints.map(({ field, message }) => `${field}: ${message}`).toSorted(),
    [
      'keep: must be <= 30',
      'name: must not have fewer than 1 characters',
      'other: unknown; known: name, keep, share, force, since, password, vms, labels, place',
      'password: must be string',
      'place: at /port: must be number',
      'share: must be multiple of 0.1',
      'since: must match format "date-time"',
      'vms: must not have duplicate items',
    ],
  )
})

test('without a schema any object is accepted', async () => {
  assert.deepEqual(await checkForm(undefined, { a: 1 }, findInvalid), { value: { a: 1 } })
  assert.ok('complaints' in (await checkForm(undefined, [1], findInvalid)))
})

test('a secret field is recognized', () => {
  assert.deepEqual(
    fieldsOf(schema)
      .filter(({ secret }) => secret)
      .map(({ name }) => name),
    ['password'],
  )
})

test('each parameter has the API’s type name', () => {
  assert.deepEqual(
    parametersOf(schema).map(({ name, type }) => `${name} ${type}`),
    [
      'name string',
      'keep number',
      'share number',
      'force boolean',
      'since Date',
      'password SecureString',
      'vms Array/string',
      'labels Properties',
      'place CompositeType(host:string,port:number)',
    ],
  )
  assert.equal(parametersOf(schema)[0]?.description, 'Which vApp')
})

test('values round trip as parameters; a secret is not returned', () => {
  const parameters = toParameters(schema, values)
  assert.deepEqual(parameters.find(({ name }) => name === 'password')?.value, {
    'secure-string': { value: '' },
  })
  assert.ok(!JSON.stringify(parameters).includes('s3cret'))
  assert.deepEqual(fromParameters(schema, parameters), { value: { ...values, password: '' } })
})

test('parameters are in the order of the form, others follow', () => {
  const form = { type: 'object', properties: { zone: {}, b: {}, a: {} } }
  assert.deepEqual(
    toParameters(form, { other: 1, a: 1, zone: 1 }).map(({ name }) => name),
    ['zone', 'a', 'other'],
  )
})

test('parameters in the client format', () => {
  const given = [
    { name: 'name', type: 'string', scope: 'local', value: { string: { value: 'John' } } },
    { name: 'keep', type: 'number', value: { number: { value: '5' } } },
    { name: 'force', type: 'boolean', value: { boolean: { value: 'true' } } },
    { name: 'since', type: 'Date', value: { date: { value: '2026-01-31T13:00:00+01:00' } } },
    { name: 'password', type: 'SecureString', value: { 'secure-string': { value: 'x' } } },
    {
      name: 'vms',
      type: 'Array/string',
      value: { array: { elements: [{ string: { value: 'a' } }] } },
    },
    {
      name: 'labels',
      type: 'Properties',
      value: { properties: { property: [{ key: 'a', value: { number: { value: 1 } } }] } },
    },
    {
      name: 'place',
      type: 'Composite',
      value: { composite: { property: [{ id: 'host', value: { string: { value: 'h' } } }] } },
    },
    { name: 'share', type: 'number', value: null },
  ]
  assert.deepEqual(fromParameters(schema, given), {
    value: {
      name: 'John',
      keep: 5,
      force: true,
      since: '2026-01-31T12:00:00.000Z',
      password: 'x',
      vms: ['a'],
      labels: { a: 1 },
      place: { host: 'h' },
    },
  })
})

const badParameters: readonly (readonly [string, unknown, string])[] = [
  ['no list', { name: 'a' }, 'expected a list of parameters'],
  ['no name', [{ value: { string: { value: 'a' } } }], 'a parameter without a name'],
  [
    'a name twice',
    [
      { name: 'a', value: { string: { value: 'a' } } },
      { name: 'a', value: { string: { value: 'b' } } },
    ],
    'given twice',
  ],
  [
    'an unknown type',
    [{ name: 'a', value: { 'sdk-object': { id: 'x' } } }],
    'unknown type "sdk-object"; known: string, secure-string, number, boolean, date, array, properties, composite',
  ],
  [
    'a value without a type',
    [{ name: 'a', value: 'x' }],
    'expected a value under one of: string, secure-string, number, boolean, date, array, properties, composite',
  ],
  ['an invalid number', [{ name: 'a', value: { number: { value: 'x' } } }], 'expected a number'],
  [
    'an invalid date',
    [{ name: 'a', value: { date: { value: 'x' } } }],
    'expected a date such as 2026-01-31T12:00:00Z',
  ],
  [
    'a secret for a plain field',
    [{ name: 'name', value: { 'secure-string': { value: 'x' } } }],
    'not a secure-string field: the value would be stored in clear text',
  ],
  [
    'a secret in a list',
    [{ name: 'vms', value: { array: { elements: [{ 'secure-string': { value: 'x' } }] } } }],
    'a secure-string must be a parameter of its own, not part of another',
  ],
  [
    'the prototype',
    [{ name: '__proto__', value: { string: { value: 'x' } } }],
    'a parameter without a name',
  ],
]
for (const [name, given, message] of badParameters)
  test(`parameters: ${name} is reported`, () => {
    const outcome = fromParameters(schema, given)
    assert.deepEqual('complaints' in outcome && outcome.complaints.map((each) => each.message), [
      message,
    ])
  })

test('deeply nested parameters are rejected', () => {
  let deep: unknown = { string: { value: 'x' } }
  for (let level = 0; level < 5000; level += 1) deep = { array: { elements: [deep] } }
  const outcome = fromParameters(undefined, [{ name: 'a', value: deep }])
  assert.deepEqual(outcome, { complaints: [{ field: 'a', message: 'deeper than 32 levels' }] })
})

const rules: readonly (readonly [object, Json | undefined, Json])[] = [
  [{ enum: ['a', { b: 1, c: 2 }] }, { c: 2, b: 1 }, 'z'],
  [{ const: 4 }, 4, 5],
  [{ type: ['string', 'null'] }, null, 1],
  [{ anyOf: [{ type: 'string' }, { minimum: 5 }] }, 6, 4],
  [{ oneOf: [{ minimum: 5 }, { maximum: 1 }] }, 6, 3],
  [{ allOf: [{ minimum: 5 }, { maximum: 6 }] }, 5, 7],
  [{ not: { type: 'string' } }, 1, 'a'],
  [{ exclusiveMinimum: 1, exclusiveMaximum: 3 }, 2, 3],
  [{ pattern: '^[a-z]+(-[a-z0-9]+)*$' }, 'web-01', 'Web'],
  [{ pattern: '^(a+)+$' }, 'a', `${'a'.repeat(9000)}!`],
  [{ maxLength: 1 }, '😀', 'ab'],
  [{ minItems: 1, maxItems: 1 }, [1], []],
  [{ minProperties: 1, maxProperties: 1 }, { a: 1 }, {}],
  [{ additionalProperties: { type: 'number' } }, { a: 1 }, { a: 'x' }],
  [{ $defs: { n: { type: 'number' } }, items: { $ref: '#/$defs/n' } }, [1], ['a']],
  [{ $ref: '#/$defs/none' }, undefined, 1],
  [{ format: 'date' }, '2026-02-28', '2026-13-01'],
  [{ format: 'time' }, '23:59:00Z', '24:00:00Z'],
  [{ format: 'uri' }, 'https://a.example', 'a b'],
  [{ format: 'email' }, 'a@b.example', 'a'],
  [{ format: 'uuid' }, '00000000-0000-4000-8000-000000000000', '0'],
]
for (const [rule, good, bad] of rules)
  test(`schema ${JSON.stringify(rule)}`, async () => {
    if (good !== undefined) assert.deepEqual(await findInvalid(rule, good), [])
    assert.equal((await findInvalid(rule, bad)).length, 1)
  })

test('a recursive schema is bounded', async () => {
  const round = { anyOf: [{ $ref: '#' }, { $ref: '#' }] }
  assert.match((await findInvalid(round, 1))[0]?.message ?? '', /could not be validated/)
})
