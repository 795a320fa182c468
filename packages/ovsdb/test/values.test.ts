import assert from 'node:assert/strict'
import { test } from 'node:test'

import { canonical, map, mapOf, namedUuid, set, setOf, uuid, uuidOf } from '../src/index.ts'

const ID = '018f3a1c-0000-7000-8000-000000000001'

test('values are written as the RFC writes them', () => {
  assert.deepEqual(uuid(ID), ['uuid', ID])
  assert.deepEqual(namedUuid('row'), ['named-uuid', 'row'])
  assert.deepEqual(set([1, 2]), ['set', [1, 2]])
  assert.deepEqual(map({ a: 'b', c: 1 }), [
    'map',
    [
      ['a', 'b'],
      ['c', 1],
    ],
  ])
})

test('a single value is read as a set of one', () => {
  assert.deepEqual(setOf(set(['a', 'b'])), ['a', 'b'])
  assert.deepEqual(setOf(set([])), [])
  assert.deepEqual(setOf('a'), ['a'])
  assert.deepEqual(setOf(uuid(ID)), [uuid(ID)])
})

test('a value of another kind is refused by the readers', () => {
  assert.equal(uuidOf(uuid(ID)), ID)
  assert.deepEqual([...mapOf(map({ a: 'b' }))], [['a', 'b']])
  for (const value of [undefined, 'a', 1, set([])]) {
    assert.throws(() => uuidOf(value), TypeError)
    assert.throws(() => mapOf(value), TypeError)
  }
  assert.throws(() => setOf(map({})), TypeError)
  assert.throws(() => setOf(undefined), TypeError)
})

test('equal values have the same canonical form, different ones do not', () => {
  const same = [
    [set(['b', 'a']), set(['a', 'b'])],
    [set(['a']), 'a'],
    [set([uuid(ID)]), uuid(ID)],
    [set(['a', 'a']), 'a'],
    [map({ a: '1', b: '2' }), map({ b: '2', a: '1' })],
  ] as const
  for (const [one, other] of same) assert.equal(canonical(one), canonical(other))
  const different = ['', 'a', 1, '1', true, 'true', uuid(ID), ID, set([]), map({}), set(['a', 'b'])]
  different.push('["set",["a","b"]]', 'a,b', map({ a: 'b' }), map({ a: 'b', c: 'd' }))
  assert.equal(new Set(different.map(canonical)).size, different.length)
})
