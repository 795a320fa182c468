// Goal: the reference matches the server. Method: it is generated from the route table and compared with it.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'

import { apiReference } from '../src/http/api-reference.ts'
import { routes } from '../src/routes.ts'

const FILE = join(import.meta.dirname, '../../../docs/reference/api/workflow.md')

test('docs/reference/api/workflow.md is up to date and lists every route', async () => {
  const text = await readFile(FILE, 'utf8')
  assert.equal(text, apiReference(routes), 'run npm run reference')
  for (const { name } of routes) assert.ok(text.includes(`\n### ${name}\n`), name)
})
