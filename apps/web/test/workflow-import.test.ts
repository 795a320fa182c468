import assert from 'node:assert/strict'
import { test } from 'node:test'

import { isImportReport, markedLines, rangeOf } from '../src/model/workflows/workflow-import.ts'

const text = 'document:\n  dsl: 1\n  name: x'

test('the place of an error is the rest of its line, also where the text has become shorter', () => {
  const at = (line?: number, column?: number) => {
    const [start, end] = rangeOf(text, {
      ...(line !== undefined && { line }),
      ...(column !== undefined && { column }),
    })
    return text.slice(start, end)
  }
  assert.equal(at(2, 3), 'dsl: 1')
  assert.equal(at(3), '  name: x')
  assert.equal(at(1, 99), '')
  assert.equal(at(99), '  name: x')
  assert.equal(at(), 'document:')
})

test('a rejection with a list of errors is a report, and marks their lines', () => {
  const complaints = [
    { line: 2, message: 'a' },
    { at: '/do', message: 'b' },
    { line: 2, message: 'c' },
  ]
  assert.deepEqual([...markedLines(complaints)], [2])
  assert.equal(isImportReport({ result: 'refused', complaints }), true)
  for (const other of [undefined, null, 'text', { message: 'it exists' }]) {
    assert.equal(isImportReport(other), false)
  }
})
