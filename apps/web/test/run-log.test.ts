// Goal: the page of a long run shows its newest lines and the times of all steps. Method: lines that come in parts, also twice.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { emptyLog, withLines } from '../src/model/workflows/run-log.ts'

const lines = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => ({
    number: from + at,
    'time-stamp': `t${from + at}`,
    severity: 'info',
    'short-description': '',
    origin: (from + at) % 2 === 0 ? '/do/even' : '/do/odd',
  }))

test('the newest lines are kept, the others are counted, and every step has its times', () => {
  let log = withLines(emptyLog, lines(1, 900))
  assert.deepEqual([log.lines.length, log.leftOut, log.newest], [900, 0, 900])
  log = withLines(log, lines(801, 1500))
  assert.deepEqual([log.lines.length, log.leftOut, log.newest], [1000, 500, 1500])
  assert.deepEqual([log.lines[0]?.number, log.lines.at(-1)?.number], [501, 1500])
  assert.deepEqual(
    [...log.times],
    [
      ['/do/odd', { began: 't1', ended: 't1499' }],
      ['/do/even', { began: 't2', ended: 't1500' }],
    ],
  )
})

test('lines that the log has change nothing', () => {
  const log = withLines(emptyLog, lines(1, 3))
  assert.equal(withLines(log, lines(2, 3)), log)
})
