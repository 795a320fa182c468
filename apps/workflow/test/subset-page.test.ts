import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

import { subsetPage } from './subset-page.ts'

test('the page of the subset is up to date', () => {
  const page = readFileSync(
    `${import.meta.dirname}/../../../docs/reference/workflow-subset.md`,
    'utf8',
  )
  assert.equal(page, subsetPage(), 'run npm run reference')
})
