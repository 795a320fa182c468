// Goal: a run started by an older release continues under this one. Method: replay every stored history with the current code. If
// this fails, the code must keep the old behaviour beside the new one (Temporal's `patched`), or runs are lost on upgrade.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { test } from 'node:test'

import { replayHistory } from '@skerry/temporal'

import { workflowIdOf } from '../src/durable/run-activities.ts'
import { constructs } from './constructs.ts'
import { testConverter as dataConverter, WORKFLOWS } from './test-key.ts'

const files = globSync(`${import.meta.dirname}/histories/*/*.json`).sort()

test('each construct has a stored history', () => {
  const stored = new Set(files.map((file) => basename(file, '.json')))
  assert.deepEqual([...stored].sort(), Object.keys(constructs).sort())
})

test('every stored history replays on this code', { timeout: 120_000 }, async (t) => {
  for (const file of files) {
    await t.test(file.split('/').slice(-2).join('/'), async () => {
      const history: unknown = JSON.parse(readFileSync(file, 'utf8'))
      const workflowId = workflowIdOf(basename(file, '.json'))
      await replayHistory({ path: WORKFLOWS, dataConverter, history, workflowId })
    })
  }
})

test('a history that does not match the code is detected', { timeout: 60_000 }, async () => {
  const [file = ''] = files.filter((each) => each.endsWith('/call.json'))
  const text = readFileSync(file, 'utf8').replaceAll('"callFunction"', '"anotherFunction"')
  const history: unknown = JSON.parse(text)
  await assert.rejects(
    replayHistory({ path: WORKFLOWS, dataConverter, history, workflowId: workflowIdOf('call') }),
  )
})
