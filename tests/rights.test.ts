// Goal: every address of the cloud is covered by the rights test. Method: the route table against the table of rights that the
// test uses.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { routes } from '../apps/cloud/src/routes.ts'
import { rows } from '../apps/cloud/test/rights-table.ts'

test('every address of the cloud has its line in the table of rights, and every line its address', () => {
  const names = routes.map(({ name }) => name)
  assert.deepEqual(names.toSorted(), Object.keys(rows).toSorted())
  assert.equal(new Set(names).size, names.length, 'names are unique')
})
