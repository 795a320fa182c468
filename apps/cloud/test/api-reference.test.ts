// Goal: docs/reference/api/cloud.md matches the cloud, and so do JSON and OpenAPI. Method: the page is generated again from the route
// table and from recorded requests; every recorded document is converted to JSON and back, and compared with its operation.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { before, test } from 'node:test'

import { fromJson, readJson, readXml, renderElement, toJson, type Element } from '@skerry/xml'

import { checkerOf, requireOpenApi } from '../../../packages/service/test/valid-openapi.ts'
import { original, ours } from '../src/dialect/dialect.ts'
import { shapeOf } from '../src/dialect/shapes.ts'
import { cloudOpenApi } from '../src/documents/openapi.ts'
import { apiReference, JSON_SAMPLE, type RequestSample } from '../src/reference/api-reference.ts'
import { routes } from '../src/routes.ts'
import { jsonOf } from './json-documents.ts'
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

/** Without declarations of namespaces, which JSON does not have, and with attributes in order of their names. */
const bare = (node: Element): Element => ({
  name: node.name,
  attributes: Object.fromEntries(
    Object.entries(node.attributes)
      .filter(([name]) => !name.startsWith('xmlns'))
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  ),
  children: node.children.map((each) => (typeof each === 'string' ? each : bare(each))),
})

const isDocument = (text: string): boolean =>
  text.startsWith('<?xml') && !text.includes('<xs:schema')

test('every recorded document is the same after a round trip from XML to JSON and back', async () => {
  for (const dialect of [ours, original]) {
    const recorded = dialect === ours ? samples : await recordSamples(original)
    let documents = 0
    for (const [name, { answer }] of recorded) {
      if (!isDocument(answer.text)) continue
      const root = readXml(answer.text)
      const shape = shapeOf(root.name)
      const json = JSON.stringify(toJson(root, shape))
      const back = fromJson(root.name, shape, readJson(json))
      assert.equal(renderElement(bare(back)), renderElement(bare(root)), name)
      documents += 1
    }
    assert.ok(documents > 70, `${dialect.name}: ${documents}`)
  }
})

test('every recorded request and response fits its operation in the OpenAPI document', () => {
  const base = new URL('https://cloud.example')
  const document = requireOpenApi(JSON.stringify(cloudOpenApi(routes, { dialect: ours, base })))
  for (const { name, path, method, takes } of routes) {
    const { body, answer } = samples.get(name) ?? assert.fail(name)
    const operation = document.paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()]
    const { content = {} } = operation?.responses[answer.status] ?? assert.fail(name)
    const [type = ''] = (answer.headers['content-type'] ?? '').split(';')
    if (isDocument(answer.text)) {
      assert.deepEqual(Object.keys(content), ['application/json'], name)
      const { schema } = content['application/json'] ?? assert.fail(name)
      assert.equal(checkerOf(document, schema)(JSON.parse(jsonOf(answer.text))), undefined, name)
    } else if (type !== '') assert.ok(content[type], `${name}: ${type}`)
    if (typeof takes?.shape !== 'string' || takes.open || body === undefined) continue
    const { schema } = operation?.requestBody?.content['application/json'] ?? assert.fail(name)
    const check = checkerOf(document, schema)
    assert.equal(check(JSON.parse(jsonOf(body))), undefined, name)
    assert.notEqual(check({ nothing: 1 }), undefined, name)
  }
})

test('the section about JSON shows a request and a response', () => {
  const { body, answer } = samples.get(JSON_SAMPLE) ?? assert.fail()
  assert.match(body ?? '', /^\{"name":"shop-2"/)
  assert.match(answer.headers['content-type'] ?? '', /vApp\+json;version=5\.1$/)
  const [, part = ''] = apiReference(routes, samples).split('\n## JSON\n')
  assert.match(part, /^```http\nPOST [^]*?^```\n\n```http\nHTTP\/1\.1 201\n[^]*?"name": "shop-2"/m)
})
