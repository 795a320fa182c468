import assert from 'node:assert/strict'
import { test } from 'node:test'

import {
  HEIGHT_MAX,
  scaledOffset,
  scaledScrollTop,
  scrollHeightOf,
  visibleRange,
} from '../src/components/grid/row-window.ts'

test('a short list is not scaled', () => {
  assert.deepEqual(scrollHeightOf(1000, 34), { height: 34_000, isScaled: false })
})

test('a million rows are scaled, and the scrollbar reaches the first and the last', () => {
  const { height, isScaled } = scrollHeightOf(1_000_000, 34)
  assert.equal(height, HEIGHT_MAX)
  assert.ok(isScaled)
  const scale = { height, viewHeight: 680, total: 1_000_000, rowsInView: 20 }
  assert.equal(scaledOffset(0, scale), 0)
  assert.equal(scaledOffset(height - 680, scale), 999_980)
  assert.equal(Math.round(scaledOffset(scaledScrollTop(618_034, scale), scale)), 618_034)
})

test('rows above and below the visible ones are drawn too', () => {
  assert.deepEqual(visibleRange(100, { total: 1000, rowsInView: 20 }), { first: 92, last: 128 })
  assert.deepEqual(visibleRange(0, { total: 5, rowsInView: 20 }), { first: 0, last: 4 })
})
