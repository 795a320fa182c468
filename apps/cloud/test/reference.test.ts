import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'

import { operations } from '../src/operations/vm-operations.ts'
import { operationsReference } from '../src/reference/operations-reference.ts'

const PAGE = join(import.meta.dirname, '../../../docs/reference/operations.md')

test('the operations reference matches the table of operations', async () => {
  assert.equal(
    await readFile(PAGE, 'utf8'),
    operationsReference(),
    'npm run reference generates it again',
  )
})

test('the operations reference has every operation with its steps', () => {
  const page = operationsReference()
  for (const { name, steps } of operations) {
    const [, part = ''] = page.split(`## ${name}\n`)
    for (const step of steps) assert.match(part, new RegExp(`^\\| ${step.name}\\b`, 'm'))
  }
})
