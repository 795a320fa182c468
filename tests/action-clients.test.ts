// Goal: no action of the cloud API is forgotten by our own clients. Method: the path and rel of each action, in the sources of the
// workflow functions and of the command line.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

import { operations } from '../apps/cloud/src/operations/vm-operations.ts'

const sources = globSync('{apps/workflow/src/functions,apps/cli/src}/**/*.ts')
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n')

test('every action has a workflow function or a command, or says why it has none', () => {
  for (const { name, action } of operations) {
    if (!action) continue
    const isCalled = sources.includes(action.path) || sources.includes(`'${action.rel}'`)
    const why = `${name}: call ${action.path} in apps/workflow/src/functions or apps/cli/src, or declare noClient`
    assert.equal(isCalled, action.noClient === undefined, why)
  }
})
