// Goal: no change of a VM is left out of the tests that kill processes. Method: the routes of vmd's local API that declare a change,
// against the calls in the errands of these tests.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

import { routes } from '../apps/vmd/src/local/routes.ts'

/** Routes whose verb of the engine has another name. */
const verbs: Readonly<Record<string, string>> = { resetVm: 'changePower' }

test('every errand is part of a round', () => {
  const faults = join(import.meta.dirname, 'faults')
  const read = (file: string) => readFileSync(join(faults, file), 'utf8')
  const users = globSync('*.ts', { cwd: faults })
    .filter((file) => file !== 'errands.ts')
    .map(read)
  const errands = [...read('errands.ts').matchAll(/^export const (\w+) = .*: Errand\b/gm)]
  assert.ok(errands.length > 10, `${errands.length} errands`)
  const unused = errands
    .map(([, name = '']) => name)
    .filter((name) => !users.some((text) => new RegExp(`\\b${name}\\(`).test(text)))
  assert.deepEqual(unused, [], 'add it to a round in tests/faults/lane.ts')
})

/** Routes that no test of tests/accept requests, and why. */
const notRequested: Readonly<Record<string, string>> = {
  '/api/guests/stop': 'npm run prove:package shuts a machine down with it',
  '/api/machine': 'for the web UI, in tests/web/machine.test.ts',
  '/api/ui/session': 'for the web UI, in apps/vmd/test/web-ui.test.ts',
  '/api/ui/ticket': 'the same',
}

test('every route of vmd is requested in tests/accept, or says why it is not', () => {
  const text = globSync('accept/**/*.ts', { cwd: import.meta.dirname })
    .map((file) => readFileSync(join(import.meta.dirname, file), 'utf8'))
    .join('\n')
  const missing = routes.filter(({ path }) => {
    const form = path.replaceAll('.', '[.]').replaceAll(/:\w+/g, "[^/'`\\s]+")
    return !new RegExp(`${form}(?![\\w/])`).test(text)
  })
  const paths = new Set(missing.map(({ path }) => path))
  assert.deepEqual([...paths].toSorted(), Object.keys(notRequested))
})

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
