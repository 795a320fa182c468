// Goal: work at an interval never overlaps itself, survives its failures and ends with its signal. Method: mocked timers. The engine
// may not import packages/service, so each has the function, with the same text.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'

import { every } from '@skerry/service'

const read = (file: string) => readFileSync(join(import.meta.dirname, '..', file), 'utf8')

test('the engine and the servers have the same interval', () => {
  assert.equal(read('packages/engine/src/every.ts'), read('packages/service/src/process/every.ts'))
})

test('a run that takes longer than the interval is not overlapped, and one that fails is followed by the next', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const ended = new AbortController()
  const runs: PromiseWithResolvers<void>[] = []
  const failures: unknown[] = []
  const work = () => {
    const run = Promise.withResolvers<void>()
    runs.push(run)
    return run.promise
  }
  every(100, ended.signal, work, (error) => failures.push(error))
  t.mock.timers.tick(350)
  assert.equal(runs.length, 1, 'the first is not done')
  runs[0]?.reject(new Error('no database'))
  await turn()
  assert.equal(failures.length, 1)
  t.mock.timers.tick(100)
  assert.equal(runs.length, 2)
  runs[1]?.resolve()
  await turn()
  ended.abort()
  t.mock.timers.tick(1000)
  assert.equal(runs.length, 2, 'none after the end')
  every(100, ended.signal, work, (error) => failures.push(error))
  t.mock.timers.tick(1000)
  assert.equal(runs.length, 2, 'none if it has ended before')
})
