import assert from 'node:assert/strict'
import { test } from 'node:test'

import { checkValue } from '../src/definition/check-value.ts'
import { checkForm, checkInputs, fieldsOf } from '../src/definition/inputs.ts'
import { fromParameters, parametersOf, toParameters } from '../src/definition/parameters.ts'
import { parseDefinition } from '../src/definition/parse.ts'
import { head } from './subset-examples.ts'

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

test('the input form is the definition’s own', () => {
  const text = `${head()}input: { schema: { document: ${JSON.stringify(schema)} } }\ndo: []\n`
  const parsed = parseDefinition(text, new Set())
  assert.ok('definition' in parsed, JSON.stringify(parsed))
  assert.deepEqual(checkInputs(parsed.definition, { name: 'web' }), {
    value: { name: 'web', keep: 7 },
  })
  assert.deepEqual(checkInputs(parsed.definition, {}), {
    complaints: [{ field: 'name', message: 'this is required' }],
  })
})

test('each field is told what is wrong with it, and never what was given', () => {
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
  const checked = checkForm(schema, given)
  assert.ok('complaints' in checked)
  assert.deepEqual(
    checked.complaints.map(({ field, message }) => `${field}: ${message}`).toSorted(),
    [
      'keep: expected 30 or less',
      'name: expected at least 1 characters',
      'other: not known; known: name, keep, share, force, since, password, vms, labels, place',
      'password: expected string',
      'place: at /port: expected number',
      'share: expected a multiple of 0.1',
      'since: expected a date-time',
      'vms: expected no entry twice',
    ],
  )
})

test('without a schema anything may come in, as an object', () => {
  assert.deepEqual(checkForm(undefined, { a: 1 }), { value: { a: 1 } })
  assert.ok('complaints' in checkForm(undefined, [1]))
})

test('a secret is known as one', () => {
  assert.deepEqual(
    fieldsOf(schema)
      .filter(({ secret }) => secret)
      .map(({ name }) => name),
    ['password'],
  )
})

test('the family’s types are told for each parameter', () => {
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

test('values go to parameters and back; a secret does not go out', () => {
  const parameters = toParameters(schema, values)
  assert.deepEqual(parameters.find(({ name }) => name === 'password')?.value, {
    'secure-string': { value: '' },
  })
  assert.ok(!JSON.stringify(parameters).includes('s3cret'))
  assert.deepEqual(fromParameters(schema, parameters), { value: { ...values, password: '' } })
})

test('parameters stand in the order of the form, and what it does not name behind them', () => {
  const form = { type: 'object', properties: { zone: {}, b: {}, a: {} } }
  assert.deepEqual(
    toParameters(form, { other: 1, a: 1, zone: 1 }).map(({ name }) => name),
    ['zone', 'a', 'other'],
  )
})

test('parameters as clients write them', () => {
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
    'this is given twice',
  ],
  [
    'a kind that is not known',
    [{ name: 'a', value: { 'sdk-object': { id: 'x' } } }],
    '"sdk-object" is not taken; known: string, secure-string, number, boolean, date, array, properties, composite',
  ],
  [
    'a value without a kind',
    [{ name: 'a', value: 'x' }],
    'expected a value under one of: string, secure-string, number, boolean, date, array, properties, composite',
  ],
  [
    'a number that is none',
    [{ name: 'a', value: { number: { value: 'x' } } }],
    'expected a number',
  ],
  [
    'a date that is none',
    [{ name: 'a', value: { date: { value: 'x' } } }],
    'expected a date such as 2026-01-31T12:00:00Z',
  ],
  [
    'a secret for a plain field',
    [{ name: 'name', value: { 'secure-string': { value: 'x' } } }],
    'this is no secure-string: it would be kept in clear',
  ],
  [
    'a secret in a list',
    [{ name: 'vms', value: { array: { elements: [{ 'secure-string': { value: 'x' } }] } } }],
    'a secure-string is a parameter of its own, not part of one',
  ],
  [
    'the prototype',
    [{ name: '__proto__', value: { string: { value: 'x' } } }],
    'a parameter without a name',
  ],
]
for (const [name, given, message] of badParameters)
  test(`parameters: ${name} is told`, () => {
    const outcome = fromParameters(schema, given)
    assert.deepEqual('complaints' in outcome && outcome.complaints.map((each) => each.message), [
      message,
    ])
  })

test('deep parameters end', () => {
  let deep: unknown = { string: { value: 'x' } }
  for (let level = 0; level < 5000; level += 1) deep = { array: { elements: [deep] } }
  const outcome = fromParameters(undefined, [{ name: 'a', value: deep }])
  assert.deepEqual(outcome, { complaints: [{ field: 'a', message: 'deeper than 32 levels' }] })
})

const rules: readonly (readonly [object, unknown, unknown])[] = [
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
  [{ format: 'time' }, '23:59', '24:00'],
  [{ format: 'uri' }, 'https://a.example', 'a b'],
  [{ format: 'email' }, 'a@b.example', 'a'],
  [{ format: 'uuid' }, '00000000-0000-4000-8000-000000000000', '0'],
]
for (const [rule, good, bad] of rules)
  test(`schema ${JSON.stringify(rule)}`, () => {
    if (good !== undefined) assert.deepEqual(checkValue(rule, good), [])
    assert.equal(checkValue(rule, bad).length, 1)
  })

test('a schema that goes round ends', () => {
  const round = { anyOf: [{ $ref: '#' }, { $ref: '#' }] }
  assert.match(checkValue(round, 1)[0]?.message ?? '', /too much to check/)
})
