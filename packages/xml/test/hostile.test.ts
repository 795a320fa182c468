import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'

import type { HostileOutcome } from './hostile-reader.ts'

const MS_MAX = 50
// The documents themselves take about 30 MiB of it.
const HEAP_MEBIBYTES_MAX = 96

test('every hostile document is rejected at once and in little memory', async () => {
  const reader = `${import.meta.dirname}/hostile-reader.ts`
  const { stdout } = await promisify(execFile)(process.execPath, [
    `--max-old-space-size=${HEAP_MEBIBYTES_MAX}`,
    reader,
  ])
  const outcomes: HostileOutcome[] = JSON.parse(stdout)
  assert(outcomes.length >= 300, `${outcomes.length} documents`)
  assert.deepEqual(
    outcomes.filter(({ outcome }) => outcome !== 'refused'),
    [],
  )
  assert.deepEqual(
    outcomes.filter(({ ms }) => ms >= MS_MAX),
    [],
  )
})
