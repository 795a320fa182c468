// Goal: the reference is what the server does. Method: it is made of the table of routes, and held against it.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'

import { apiReference } from '../src/api-reference.ts'
import { routes } from '../src/routes.ts'

const FILE = join(import.meta.dirname, '../../../docs/api/workflow.md')

test('docs/api/workflow.md is as npm run reference writes it, and names every address', async () => {
  const text = await readFile(FILE, 'utf8')
  assert.equal(text, apiReference(routes), 'npm run reference writes it anew')
  for (const { name } of routes) assert.ok(text.includes(`\n### ${name}\n`), name)
})
