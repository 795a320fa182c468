// Goal: docs/api/cloud.md is what the cloud does. Method: it is made anew, of the route table and of requests that are answered.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { before, test } from 'node:test'

import { apiReference, type Sample } from '../src/api-reference.ts'
import { routes } from '../src/routes.ts'
import { recordSamples } from './samples.ts'

const PAGE = join(import.meta.dirname, '../../../docs/api/cloud.md')

let samples: Map<string, Sample>
before(async () => {
  samples = await recordSamples()
})

test('the reference of the API is what the routes and their samples say', async () => {
  const page = apiReference(routes, samples)
  assert.equal(await readFile(PAGE, 'utf8'), page, 'npm run reference makes it anew')
})

test('it has every route with a request and an answer, and no secret', () => {
  const page = apiReference(routes, samples)
  for (const { name, doc } of routes) {
    const [, part = ''] = page.split(`### ${name}\n`)
    assert.ok(part.includes(doc), name)
    assert.match(part, /^```http\n(GET|POST|PUT|DELETE) [^]*?^```\n\n```http\nHTTP\/1\.1 2\d\d\n/m)
  }
  assert.doesNotMatch(page, /skat_(?!TOKEN)|ticket=(?!TICKET)/)
})

test('it is the same for another run', async () => {
  assert.equal(apiReference(routes, await recordSamples()), apiReference(routes, samples))
})
