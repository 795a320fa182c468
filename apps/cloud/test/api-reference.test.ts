// Goal: docs/reference/api/cloud.md matches the cloud. Method: it is generated again from the route table and from recorded requests.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { before, test } from 'node:test'

import { apiReference, type RequestSample } from '../src/reference/api-reference.ts'
import { routes } from '../src/routes.ts'
import { recordSamples } from './samples.ts'

const PAGE = join(import.meta.dirname, '../../../docs/reference/api/cloud.md')

let samples: Map<string, RequestSample>
before(async () => {
  samples = await recordSamples()
})

test('the API reference matches the routes and their samples', async () => {
  const page = apiReference(routes, samples)
  assert.equal(await readFile(PAGE, 'utf8'), page, 'npm run reference generates it again')
})

test('it has a request and a response for every route, and no secret', () => {
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
