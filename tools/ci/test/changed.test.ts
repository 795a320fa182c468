// Goal: `--changed` runs every job that a change can affect. Method: changes of this repository's own files.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'

import { touchedFiles } from '../changed.ts'
import { testFiles } from '../jobs.ts'
import { readSources } from '../sources.ts'

const root = join(import.meta.dirname, '../../..')
const files = testFiles(root)
const sources = readSources(root)
const touchedBy = (...changed: string[]) => touchedFiles(files, changed, sources)

test('no change runs only the tests of the repository itself', () => {
  const own = files.filter((file) => /^tests\/[^/]+$/.test(file))
  assert.ok(own.includes('tests/architecture.test.ts'))
  assert.deepEqual(touchedBy(), own)
})

for (const [changed, wanted] of [
  ['packages/xml/src/read.ts', 'packages/xml/test/read.test.ts'],
  ['packages/xml/test/hostile-documents.ts', 'packages/xml/test/hostile.test.ts'],
  // Started by the lab by its path.
  ['apps/vmd/src/main.ts', 'tests/accept/local.test.ts'],
  ['apps/cloud/src/main.ts', 'tests/accept/cloud.test.ts'],
  // Read, not imported.
  ['docs/guides/workflow.md', 'tests/accept/workflow-docs.test.ts'],
  ['tests/accept/clients/requirements.txt', 'tests/accept/clients.test.ts'],
] as const) {
  test(`a change of ${changed} runs ${wanted}`, () => {
    assert.ok(touchedBy(changed).includes(wanted))
  })
}

test('an unaffected test is not run; a change that all tests depend on runs all', () => {
  const touched = touchedBy('apps/egress/src/main.ts')
  assert.ok(touched.includes('apps/egress/test/egress.test.ts'))
  assert.equal(touched.includes('packages/xml/test/read.test.ts'), false)
  assert.deepEqual(touchedBy('package-lock.json'), files)
  assert.deepEqual(touchedBy('tools/run-tests.ts'), files)
})
