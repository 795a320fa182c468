import assert from 'node:assert/strict'
import { test } from 'node:test'

import { noneChosen, toggleRow, type Chosen } from '../src/model/selection.ts'

interface Row {
  readonly id: string
}

const ids = ({ rows }: Chosen<Row>): readonly string[] => [...rows.keys()]

test('a row is selected, and the second time it is not', () => {
  const one = toggleRow<Row>(noneChosen, { id: 'a' }, '')
  const two = toggleRow(one, { id: 'b' }, '')
  assert.deepEqual(ids(two), ['a', 'b'])
  assert.deepEqual(ids(toggleRow(two, { id: 'a' }, '')), ['b'])
})

test('a row that is unchecked while all are selected is not selected by that', () => {
  const all: Chosen<Row> = { rows: new Map(), allOf: 'name==web*' }
  const after = toggleRow(all, { id: 'a' }, 'name==web*')
  assert.deepEqual(ids(after), [])
  assert.equal(after.allOf, undefined)
  assert.deepEqual(ids(toggleRow(all, { id: 'a' }, 'another filter')), ['a'])
})
