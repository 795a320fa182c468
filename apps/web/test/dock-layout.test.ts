import assert from 'node:assert/strict'
import { test } from 'node:test'

import {
  dragged,
  formatLayout,
  movedByKey,
  parseLayout,
  PERCENT_MAX,
  PERCENT_MIN,
} from '../src/model/dock-layout.ts'

test('a layout is remembered as text, and any other text is the default', () => {
  const layout = { side: 'bottom', percent: 33 } as const
  assert.deepEqual(parseLayout(formatLayout(layout)), layout)
  for (const text of [null, '', 'left 40', 'end', 'end -5', '{"side":"end"}'])
    assert.deepEqual(parseLayout(text), { side: 'end', percent: 40 }, String(text))
  assert.equal(parseLayout('end 99').percent, PERCENT_MAX)
  assert.equal(parseLayout('end 0').percent, PERCENT_MIN)
})

test('the edge follows the pointer, in both directions of writing', () => {
  const size = { width: 1000, height: 500, isRightToLeft: false }
  const side = { side: 'end', percent: 40 } as const
  const bottom = { side: 'bottom', percent: 40 } as const
  assert.equal(dragged(side, { x: 700, y: 0 }, size).percent, 30)
  assert.equal(dragged(side, { x: 300, y: 0 }, { ...size, isRightToLeft: true }).percent, 30)
  assert.equal(dragged(bottom, { x: 0, y: 250 }, size).percent, 50)
  assert.equal(dragged(side, { x: -50, y: 0 }, size).percent, PERCENT_MAX)
})

test('arrow keys move the edge in their direction; other keys do nothing', () => {
  const side = { side: 'end', percent: 40 } as const
  assert.equal(movedByKey(side, 'ArrowLeft', false)?.percent, 42)
  assert.equal(movedByKey(side, 'ArrowRight', false)?.percent, 38)
  assert.equal(movedByKey(side, 'ArrowRight', true)?.percent, 42)
  assert.equal(movedByKey({ ...side, side: 'bottom' }, 'ArrowUp', false)?.percent, 42)
  assert.equal(movedByKey(side, 'Home', false)?.percent, PERCENT_MIN)
  assert.equal(movedByKey(side, 'End', false)?.percent, PERCENT_MAX)
  for (const key of ['ArrowUp', 'Tab', 'a']) assert.equal(movedByKey(side, key, false), undefined)
})
