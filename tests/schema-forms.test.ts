// Goal: the web UI never refuses a form that the workflow server accepts: the errors of a form are advice, and the server decides.
// Method: the same samples for the form and for the validator of the server.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import {
  draftOf,
  readDraft,
  type FormDraft,
  type FormSchema,
} from '../apps/web/src/model/workflows/schema-form.ts'
import { findInvalid } from '../packages/jq/src/find-invalid.ts'
import type { Json } from '../packages/jq/src/json.ts'
import { checkSchema } from '../packages/serverless-workflow/src/definition/schema-words.ts'

const text: FormSchema = { type: 'string' }
const city: FormSchema = { type: 'object', properties: { city: text }, required: ['city'] }

/** Schemas of a field, each with values that the server accepts. */
const samples: readonly (readonly [FormSchema, ...Json[]])[] = [
  [text, 'web', ' web ', 'ä'],
  [{ type: 'string', minLength: 2, maxLength: 3 }, 'ab', 'abc', '😀😀😀'],
  [{ type: 'string', maxLength: 1 }, 'é', '😀'],
  [{ type: 'string', pattern: '^a+$' }, 'aaa'],
  [{ type: 'string', format: 'date' }, '2026-01-31'],
  [{ type: 'string', format: 'date-time' }, '2026-01-31T12:00:00.000Z'],
  [{ type: 'string', format: 'password', minLength: 3 }, 'abc'],
  [{ format: 'password' }, 'secret'],
  [{ type: ['string', 'null'] }, 'web', null],
  [{ type: ['null', 'integer'] }, 4, null],
  [{ type: ['integer', 'string'] }, 4, 'abc'],
  [{ type: ['string', 'integer'], minLength: 3 }, 4, 'abc'],
  [{ type: ['integer', 'number'] }, 4, 1.5],
  [{ type: 'integer' }, 0, -3, 1e21],
  [{ type: 'integer', minimum: 2, maximum: 8, multipleOf: 2 }, 2, 8],
  [{ type: 'number' }, 0.5, 1e-7],
  [{ type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 }, 0.001, 0.999],
  [{ type: 'number', multipleOf: 0.1 }, 0.3, 1.1],
  [{ type: 'number', multipleOf: 0.01 }, 19.99, 1_000_000.01],
  [{ type: 'boolean' }, true, false],
  [{ enum: ['', 'a', 1, null, { b: 1 }] }, '', 'a', 1, null, { b: 1 }],
  [{ type: 'array', items: text, minItems: 1, maxItems: 2 }, ['a'], ['a', 'b']],
  [{ type: 'array', items: { type: ['string', 'null'] } }, [], ['a', null]],
  [{ type: 'array', items: city }, [{ city: 'Berlin' }]],
  [{ type: 'array', items: { type: 'array', items: text } }, [['a']]],
  [city, { city: 'Berlin' }],
  [{ type: 'object', properties: { place: city } }, {}, { place: { city: 'Berlin' } }],
  [{ type: 'object' }, { any: true }],
  [{}, { any: true }, 'text', null],
]
/** What may be typed in a field, whatever its schema is. */
const typed: readonly FormDraft[] = [
  '',
  ' ',
  'a',
  'abc',
  '0',
  '1.5',
  '-2',
  '0.3',
  '4',
  '1e3',
  'null',
  '[]',
  '"a"',
  '{"city": "x"}',
  '2026-01-31',
]
const drafts: readonly FormDraft[] = [
  ...typed,
  true,
  false,
  [],
  ['a'],
  ['1', ''],
  [{ city: '' }],
  { city: '' },
  { city: 'x' },
  { place: { city: '' } },
]

const withField = (own: FormSchema, isRequired: boolean): FormSchema => ({
  type: 'object',
  properties: { it: own },
  required: isRequired ? ['it'] : [],
})
const forms = samples.flatMap(([own, ...values]) =>
  [true, false].map((isRequired) => ({ schema: withField(own, isRequired), values })),
)

test('the samples are schemas that definitions may have', () => {
  for (const { schema } of forms)
    checkSchema(schema, '', (at, message) => assert.fail(`${at} ${message}`))
})

test('a value that the server accepts fills a form without errors, and comes back as it was', () => {
  for (const { schema, values } of forms) {
    for (const it of values) {
      const why = JSON.stringify([schema, it])
      assert.deepEqual(findInvalid(schema, { it }), [], why)
      const { value, errors } = readDraft(schema, draftOf(schema, { it }))
      assert.deepEqual([...errors], [], why)
      // An empty field that may be missing is missing.
      const isLeftOut = !Object.hasOwn(value as object, 'it')
      if (!isLeftOut) assert.deepEqual(value, { it }, why)
      assert.deepEqual(findInvalid(schema, value as Json), [], why)
    }
  }
})

test('whatever is typed, a form without a field to correct at the server has none in the browser', () => {
  const seen = { accepted: 0, refused: 0 }
  for (const { schema } of forms) {
    for (const it of drafts) {
      const { value, errors } = readDraft(schema, { it })
      // Text that is no number, time or JSON is no value, and there is nothing to send.
      if (it !== '' && errors.has('/it') && !Object.hasOwn(value as object, 'it')) continue
      // As it is sent: an empty item of a list is null.
      const sent = JSON.parse(JSON.stringify(value)) as Json
      const isAccepted = findInvalid(schema, sent).length === 0
      seen[isAccepted ? 'accepted' : 'refused'] += 1
      if (isAccepted) assert.deepEqual([...errors], [], JSON.stringify([schema, it]))
    }
  }
  assert.ok(seen.accepted > 500 && seen.refused > 200, JSON.stringify(seen))
})
