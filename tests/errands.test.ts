// Goal: no change of a VM is left out of the tests that kill processes. Method: the routes of vmd's local API that declare a change,
// against the calls in the errands of these tests.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

import { routes } from '../apps/vmd/src/local/routes.ts'

/** Routes whose verb of the engine has another name. */
const verbs: Readonly<Record<string, string>> = { resetVm: 'changePower' }

test('every route of vmd that changes VMs is among the errands that run while processes are killed', () => {
  const faults = join(import.meta.dirname, 'faults')
  const errands = globSync('*errands.ts', { cwd: faults })
    .map((file) => readFileSync(join(faults, file), 'utf8'))
    .join('\n')
  const changing = routes.filter(({ changes = [] }) => changes.length > 0)
  assert.ok(changing.length > 10, `${changing.length} routes`)
  const missing = changing
    .map(({ name }) => verbs[name] ?? name)
    .filter((verb) => !new RegExp(`\\.${verb}\\(`).test(errands))
  assert.deepEqual(missing, [], 'write an errand in tests/faults/errands.ts or vmd-errands.ts')
})
