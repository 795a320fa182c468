import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'

import type { Fuzzed } from './fuzz-worker.ts'

const GROWTH_BYTES_MAX = 24 * 1024 * 1024

test('100,000 mutated messages neither break the client nor hold a call nor fill memory', async (t) => {
  const worker = new Worker(new URL('fuzz-worker.ts', import.meta.url))
  const [{ counts, growth }] = (await once(worker, 'message')) as [Fuzzed]
  t.diagnostic(`${JSON.stringify(counts)}, memory grew by ${growth} bytes`)
  assert.ok(counts.sent >= 100_000)
  assert.ok(growth < GROWTH_BYTES_MAX, `memory grew by ${growth} bytes`)
  // A fuzzer that always or never ends the link tests nothing.
  for (const [outcome, count] of Object.entries(counts)) {
    assert.ok(count > 1_000, `only ${count} times: ${outcome}`)
  }
})
