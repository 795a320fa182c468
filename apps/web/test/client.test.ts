import assert from 'node:assert/strict'
import { test } from 'node:test'

import { pathOf } from '../src/api/client.ts'

test('an href becomes a path of this origin', () => {
  assert.equal(pathOf('https://cloud.example/api/vApp/vm-1?x=1'), '/api/vApp/vm-1?x=1')
  assert.equal(
    pathOf('/api/workflow/workflows/a.b/runs/..c'),
    '/api/workflow/workflows/a.b/runs/..c',
  )
})

test('an id cannot lead to another resource', () => {
  for (const id of ['..', '../../vApp/vm-1', '%2e%2E/x', '.%2e', 'x/../..', '..?a', '..\\x']) {
    assert.throws(() => pathOf(`/api/workflow/workflows/${id}`), /no such address/, id)
  }
})
