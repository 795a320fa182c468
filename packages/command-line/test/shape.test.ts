import assert from 'node:assert/strict'
import { test } from 'node:test'

import {
  anyOf,
  byName,
  listOf,
  number,
  object,
  orNull,
  text,
  truth,
  whyNotOf,
} from '../src/shape.ts'

test('a shape reports where a value does not match', () => {
  const shape = object({ id: text, tags: listOf(text) }, { size: orNull(number), on: truth })
  assert.equal(whyNotOf(shape, { id: 'a', tags: [], more: 1 }), undefined)
  assert.equal(whyNotOf(shape, { id: 'a', tags: ['x'], size: null, on: true }), undefined)
  assert.equal(whyNotOf(shape, { id: 'a' }), 'it has no tags')
  assert.equal(whyNotOf(shape, { id: 7, tags: [] }), 'it.id is number, not string')
  assert.equal(whyNotOf(shape, { id: 'a', tags: ['x', null] }), 'it.tags[1] is null, not string')
  assert.match(whyNotOf(shape, { id: 'a', tags: [], size: 'big' }) ?? '', /it\.size is string/)
  for (const wrong of [undefined, null, [], 'a', 7])
    assert.equal(whyNotOf(shape, wrong), 'it is not an object')
  assert.equal(whyNotOf(listOf(text), {}), 'it is not an array')
  assert.equal(whyNotOf(byName(number), { a: 1, constructor: 2 }), undefined)
  assert.equal(whyNotOf(byName(number), { a: 'x' }), 'it.a is string, not number')
  assert.equal(
    whyNotOf(anyOf(text, number), true),
    'it is boolean, not string, or it is boolean, not number',
  )
})
