// Goal: no address of the cloud is tried by nobody. Method: the route table against the one by which every credential is tried at it.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { routes } from '../apps/cloud/src/routes.ts'
import { rows } from '../apps/cloud/test/rights-table.ts'

test('every address of the cloud has its line in the table of rights, and every line its address', () => {
  const names = routes.map(({ name }) => name)
  assert.deepEqual(names.toSorted(), Object.keys(rows).toSorted())
  assert.equal(new Set(names).size, names.length, 'names are told apart')
})
