import assert from 'node:assert/strict'
import { test } from 'node:test'

import { mayReload } from '../src/model/reload.ts'

test('a page reloads itself once, and again only much later', () => {
  const now = 1_000_000
  assert.ok(mayReload(null, now))
  assert.ok(!mayReload(String(now - 1000), now))
  assert.ok(mayReload(String(now - 61_000), now))
  assert.ok(mayReload('not a time', now))
})
