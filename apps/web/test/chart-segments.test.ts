import assert from 'node:assert/strict'
import { test } from 'node:test'

import { segmentsOf } from '../src/components/chart-segments.ts'

test('a line is drawn through each run of known values, and none across a gap', () => {
  assert.deepEqual(segmentsOf([]), [])
  assert.deepEqual(segmentsOf([null, null]), [])
  assert.deepEqual(segmentsOf([0, 1]), [{ start: 0, values: [0, 1] }])
  assert.deepEqual(segmentsOf([null, 5, null, 0, 7, null]), [
    { start: 1, values: [5] },
    { start: 3, values: [0, 7] },
  ])
})
