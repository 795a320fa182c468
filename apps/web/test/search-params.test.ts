import assert from 'node:assert/strict'
import { test } from 'node:test'

import {
  choiceParam,
  integerParam,
  readSearch,
  textParam,
  writeSearch,
} from '../src/model/search-params.ts'

const schema = {
  q: textParam(),
  status: choiceParam(['', 'on', 'off'], ''),
  sort: textParam('name'),
  row: integerParam(0),
}

test('an address without parameters has the defaults', () => {
  const search = readSearch(schema, new URLSearchParams())
  assert.deepEqual(search, { q: '', status: '', sort: 'name', row: 0 })
  assert.equal(writeSearch(schema, search), '')
})

test('what is written is read again', () => {
  const search = { q: 'shop mem>4g', status: 'on', sort: '-memoryMB', row: 640 } as const
  const text = writeSearch(schema, search)
  assert.equal(text, '?q=shop+mem%3E4g&status=on&sort=-memoryMB&row=640')
  assert.deepEqual(readSearch(schema, new URLSearchParams(text)), search)
})

test('invalid values are the default', () => {
  const search = readSearch(schema, new URLSearchParams('?status=flying&row=-1'))
  assert.equal(search.status, '')
  assert.equal(search.row, 0)
})
