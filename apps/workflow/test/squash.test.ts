// Goal: migrations/0001-workflow.sql makes the same database as all migrations before 0.1.0 together. Method: apply those, which
// are kept in squash/, and compare everything that the system catalog knows with a new database.
// If you are here because this failed: a later change belongs into a migration of its own, 0002 or higher.
import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'

import { catalogAfter } from '../../../packages/postgres/test/catalog.ts'
import { startDatabases } from '../../cloud/test/cloud-database.ts'

const BEFORE = join(import.meta.dirname, 'squash')
const NOW = join(import.meta.dirname, '../migrations/0001-workflow.sql')

test('the squashed migration makes what the migrations before it made', async () => {
  await using postgres = await startDatabases('nothing')
  const files = (await readdir(BEFORE)).sort().map((name) => join(BEFORE, name))
  assert.equal(files.length, 3)
  const [old, now] = [await catalogAfter(postgres, files), await catalogAfter(postgres, [NOW])]
  assert.ok(now.length > 150, String(now.length))
  assert.deepEqual(now.toSorted(), old.toSorted())
})
