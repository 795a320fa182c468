// Goal: a form from a JSON Schema sends what its schema allows, and says in words what is wrong. Method: tables of drafts.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import {
  draftOf,
  fitsFields,
  kindOf,
  readDraft,
  type FormDraft,
  type FormSchema,
} from '../src/model/workflows/schema-form.ts'
import { plainValues } from '../src/model/workflows/workflow-run.ts'

const form = (own: FormSchema, isRequired = true): FormSchema => ({
  type: 'object',
  properties: { it: own },
  required: isRequired ? ['it'] : [],
})

const table: readonly (readonly [FormSchema, FormDraft, unknown])[] = [
  [{ type: 'string' }, 'web', 'web'],
  [{ type: ['string', 'null'] }, 'web', 'web'],
  [{ type: 'integer' }, '4', 4],
  [{ type: 'number' }, '0.5', 0.5],
  [{ type: 'boolean' }, true, true],
  [{ enum: [1, 'two', null] }, '"two"', 'two'],
  [{ enum: [1, 'two', null] }, '1', 1],
  [{ type: 'string', format: 'date' }, '2026-01-31', '2026-01-31'],
  [{ type: 'array', items: { type: 'number' } }, ['1', '2'], [1, 2]],
  [
    { type: 'object', properties: { a: { type: 'string' }, b: { type: 'integer' } } },
    { a: '', b: '3' },
    { b: 3 },
  ],
  [{}, '{"any": [true]}', { any: [true] }],
]

test('every kind of field becomes the value of its schema, and the value the same draft', () => {
  for (const [schema, draft, value] of table) {
    const { value: read, errors } = readDraft(form(schema), { it: draft })
    assert.deepEqual([read, [...errors]], [{ it: value }, []], JSON.stringify(schema))
    const again = readDraft(form(schema), { it: draftOf(schema, value) })
    assert.deepEqual(again.value, { it: value }, JSON.stringify(schema))
  }
  const time = { type: 'string', format: 'date-time' }
  const at = '2026-01-31T12:00:00.000Z'
  assert.deepEqual(readDraft(form(time), { it: draftOf(time, at) }).value, { it: at })
})

const wrong: readonly (readonly [FormSchema, FormDraft, string])[] = [
  [{ type: 'string' }, '', 'This field is required'],
  [{ type: 'string', minLength: 3 }, 'ab', 'Enter at least 3 characters'],
  [{ type: 'string', maxLength: 3 }, 'abcd', 'Enter at most 3 characters'],
  [{ type: 'integer' }, '1.5', 'Enter a whole number'],
  [{ type: 'number' }, 'many', 'Enter a number'],
  [{ type: 'number', minimum: 2 }, '1', 'The smallest value is 2'],
  [{ type: 'number', maximum: 2 }, '3', 'The largest value is 2'],
  [{ type: 'number', exclusiveMinimum: 2 }, '2', 'Must be above 2'],
  [{ type: 'number', exclusiveMaximum: 2 }, '2', 'Must be below 2'],
  [{ type: 'number', multipleOf: 2 }, '3', 'Must be a multiple of 2'],
  [{ type: 'array', items: { type: 'string' }, minItems: 1 }, [], 'Add at least 1'],
  [{}, '{', 'Enter valid JSON'],
]

test('what is wrong is said in words, at its field', () => {
  for (const [schema, draft, message] of wrong) {
    const { errors } = readDraft(form(schema), { it: draft })
    assert.deepEqual([...errors], [['/it', message]])
  }
  const list = { type: 'array', items: { type: 'integer' } }
  const { errors } = readDraft(form(list), { it: ['1', 'x'] })
  assert.deepEqual([...errors], [['/it/1', 'Enter a number']])
})

test('an empty field that is not required is left out, and a default is filled in', () => {
  assert.deepEqual(readDraft(form({ type: 'string' }, false), { it: '' }).value, {})
  const preset = form({ type: 'integer', default: 3 })
  assert.deepEqual(draftOf(preset), { it: '3' })
  assert.deepEqual(draftOf(preset, { it: 5 }), { it: '5' })
})

test('a schema that no field fits is written as JSON, and a pattern of others is left to the server', () => {
  const lists = { type: 'array', items: { type: 'array', items: { type: 'string' } } }
  assert.deepEqual(
    [kindOf(lists), kindOf({}), kindOf({ type: 'object' })],
    ['json', 'json', 'json'],
  )
  const slow = { type: 'string', pattern: '^(a+)+$' }
  const { errors } = readDraft(form(slow), { it: `${'a'.repeat(100)}!` })
  assert.equal(errors.size, 0)
})

test('typed values of a run become plain ones', () => {
  const values = plainValues([
    { name: 'name', type: 'string', value: { string: { value: 'web' } } },
    { name: 'none', type: 'string', value: null },
    { name: 'all', type: 'Array', value: { array: { elements: [{ number: { value: 1 } }] } } },
    {
      name: 'place',
      type: 'Properties',
      value: {
        properties: { property: [{ key: 'city', value: { string: { value: 'Berlin' } } }] },
      },
    },
  ])
  assert.deepEqual(values, { name: 'web', none: null, all: [1], place: { city: 'Berlin' } })
})

test('a field may have the name of something that every object has', () => {
  const names = ['__proto__', 'constructor', 'toString']
  const text = `{"type": "object", "properties": {${names.map((name) => `"${name}": {"type": "string", "default": "x"}`).join()}}}`
  const schema = JSON.parse(text) as FormSchema
  const draft = draftOf(schema)
  assert.deepEqual(
    Object.entries(draft),
    names.map((name) => [name, 'x']),
  )
  const { value, errors } = readDraft(schema, draft)
  assert.deepEqual(
    Object.entries(value as object),
    names.map((name) => [name, 'x']),
  )
  assert.equal(errors.size, 0)
  assert.equal(kindOf({ type: 'string', format: 'constructor' }), 'text')
})

test('an object that may be missing is left out while nothing is typed in it', () => {
  const place = form({ type: 'string' })
  const outer: FormSchema = { type: 'object', properties: { place } }
  const blank = readDraft(outer, draftOf(outer))
  assert.deepEqual([blank.value, blank.errors.size], [{}, 0])
  const two = { ...place, properties: { it: { type: 'string' }, other: { type: 'string' } } }
  const begun = { type: 'object', properties: { place: two } }
  const { errors } = readDraft(begun, { place: { it: '', other: 'typed' } })
  assert.deepEqual([...errors], [['/place/it', 'This field is required']])
})

test('a value of several types is written as JSON, and an empty field is null where null is allowed', () => {
  assert.equal(kindOf({ type: ['integer', 'string'] }), 'json')
  const { value, errors } = readDraft(form({ type: ['string', 'null'] }), { it: '' })
  assert.deepEqual([value, errors.size], [{ it: null }, 0])
})

test('a secret is masked also where the schema names no type', () => {
  assert.equal(kindOf({ format: 'password' }), 'secret')
})

test('a schema that is too deep or too large for fields is recognised', () => {
  const nested = (levels: number): FormSchema =>
    levels === 0 ? { type: 'string' } : form(nested(levels - 1))
  const wide = (count: number): FormSchema => ({
    type: 'object',
    properties: Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, {}])),
  })
  const found = [nested(8), nested(9), nested(5000), wide(300), wide(301)].map(fitsFields)
  assert.deepEqual(found, [true, false, false, true, false])
})
