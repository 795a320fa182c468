import assert from 'node:assert/strict'
import { test } from 'node:test'

import { fittingColumns } from '../src/components/grid/fitting-columns.ts'

test('columns are left out until the rest fits, the least important first', () => {
  const columns = [
    { key: 'name', width: 'minmax(11rem, 1.6fr)' },
    { key: 'cpus', width: '4.25rem' },
    { key: 'disk', width: '6rem' },
    { key: 'tools', width: '4.75rem' },
  ]
  const keysAt = (px: number) => fittingColumns(columns, ['disk', 'cpus'], px).map(({ key }) => key)
  assert.deepEqual(keysAt(Number.POSITIVE_INFINITY), ['name', 'cpus', 'disk', 'tools'])
  assert.deepEqual(keysAt(416), ['name', 'cpus', 'disk', 'tools'])
  assert.deepEqual(keysAt(415), ['name', 'cpus', 'tools'])
  assert.deepEqual(keysAt(300), ['name', 'tools'])
  assert.deepEqual(keysAt(0), ['name', 'tools'])
})
