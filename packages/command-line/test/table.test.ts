import assert from 'node:assert/strict'
import { test } from 'node:test'

import { mebibytes, renderTable, width, type TableColumn } from '../src/table.ts'

interface Row {
  readonly name: string
  readonly size: number
}
const columns: readonly TableColumn<Row>[] = [
  { head: 'NAME', cell: ({ name }) => name },
  { head: 'SIZE', align: 'right', cell: ({ size }) => mebibytes(size) },
  { head: 'NOTE', cell: () => '' },
]

test('columns are as wide as their widest cell, and numbers are right-aligned', () => {
  const text = renderTable(columns, [
    { name: 'a', size: 512 },
    { name: 'longer', size: 10240 },
  ])
  assert.deepEqual(text.split('\n'), [
    'NAME       SIZE  NOTE',
    'a       512 MiB  -',
    'longer   10 GiB  -',
  ])
})

test('a table without rows is only its heading', () => {
  assert.equal(renderTable(columns, []), 'NAME  SIZE  NOTE')
})

test('a name cannot contain terminal control characters or newlines', () => {
  const text = renderTable(columns, [{ name: 'a\u001B[31m\nb', size: 1 }])
  assert.equal(text.split('\n').length, 2)
  assert.ok(!text.includes('\u001B'))
})

test('wide characters take two columns', () => {
  assert.deepEqual(['abc', 'é', '機械', '🙂'].map(width), [3, 1, 4, 2])
})

test('the heading is bold and columns are coloured only on request, and blanks have no colour', () => {
  assert.equal(renderTable(columns, [], true), '\u001B[1mNAME  SIZE  NOTE\u001B[22m')
  const coloured = columns.map((each) => ({ ...each, colour: () => 'green' as const }))
  const rows = [{ name: 'a b', size: 512 }]
  assert.equal(
    renderTable(coloured.slice(0, 2), rows, true).split('\n')[1],
    '\u001B[32ma b\u001B[39m   \u001B[32m512 MiB\u001B[39m',
  )
  assert.equal(renderTable(coloured, rows), renderTable(columns, rows))
})

test('sizes are printed in a readable unit', () => {
  assert.deepEqual([undefined, 1, 1023, 1536, 2 ** 20, 3 * 2 ** 30].map(mebibytes), [
    '',
    '1 MiB',
    '1023 MiB',
    '1.5 GiB',
    '1 TiB',
    '3072 TiB',
  ])
})
