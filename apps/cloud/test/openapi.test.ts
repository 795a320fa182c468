// Goal: the OpenAPI document of the cloud is valid, complete and the same in the docs and over HTTP. Method: a document of each dialect
// over HTTP, without credentials; the routes, one by one.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'

import { requireOpenApi, type Content } from '../../../packages/service/test/valid-openapi.ts'
import { ours } from '../src/dialect/dialect.ts'
import { cloudOpenApi } from '../src/documents/openapi.ts'
import { routes } from '../src/routes.ts'
import { BASE, openTenantsApi, type TenantsApi } from './tenants-api.ts'

const FILE = join(import.meta.dirname, '../../../docs/reference/api/cloud.openapi.json')

const renamed: Readonly<Record<string, string>> = {
  delete: 'deleteEntity',
  upload: 'startUpload',
  createSnapshot: 'takeSnapshot',
}

let api: TenantsApi
before(async () => {
  api = await openTenantsApi()
})
after(() => api[Symbol.asyncDispose]())

test('any caller gets it without credentials and without a version, in the names of the dialect', async () => {
  for (const { ask, dialect } of api.spoken) {
    const answer = await ask('GET', '/api/openapi.json', { headers: { accept: '*/*' } })
    assert.equal(answer.status, 200)
    assert.equal(answer.headers['content-type'], 'application/json')
    const { components, paths } = requireOpenApi(answer.text)
    assert.deepEqual(components['securitySchemes']?.['token'], {
      type: 'apiKey',
      in: 'header',
      name: dialect.tokenHeader,
    })
    const { content = {} } = paths['/api/query']?.['get']?.responses['200'] ?? {}
    assert.deepEqual(Object.keys(content), ['application/json'])
    const xsd = paths['/api/v{version}/schema/{file}']?.['get']?.responses['200'] ?? {}
    assert.deepEqual(Object.keys(xsd.content ?? {}), [dialect.media('schema')])
    for (const [name, document] of [
      ['VApp', 'vApp'],
      ['Vm', 'vm'],
      ['VAppTemplate', 'vAppTemplate'],
    ] as const) {
      const schema = (components['schemas']?.[name] ?? assert.fail(name)) as {
        readonly properties: Readonly<Record<string, object>>
      }
      const media = dialect.media(document).replace('+xml', '+json')
      assert.deepEqual(schema.properties['type'], { type: 'string', const: media }, name)
    }
  }
})

test('docs/reference/api/cloud.openapi.json is what a cell serves', async () => {
  const { text } = await api.ask('GET', '/api/openapi.json')
  assert.equal(await readFile(FILE, 'utf8'), text, 'npm run reference generates it again')
})

test('no parameter has the name of a schema: generators make a type of each', () => {
  const written = JSON.stringify(cloudOpenApi(routes, { dialect: ours, base: new URL(BASE) }))
  const { components } = requireOpenApi(written)
  const { parameters = {}, schemas = {} } = components
  assert.ok(Object.keys(parameters).length > 1)
  assert.deepEqual(
    Object.keys(parameters).filter((name) => name in schemas),
    [],
  )
})

test('it has every route with its parameters, body, responses and credentials', () => {
  const began = process.threadCpuUsage()
  const written = JSON.stringify(cloudOpenApi(routes, { dialect: ours, base: new URL(BASE) }))
  const { user, system } = process.threadCpuUsage(began)
  const took = (user + system) / 1000
  assert.ok(took < 1000, `made in ${took.toFixed(0)} ms`)
  const { paths } = requireOpenApi(written)
  for (const { name, method, path, takes, answers, permission, query } of routes) {
    const operation = paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()]
    assert.ok(operation, name)
    assert.equal(operation.operationId, renamed[name] ?? name)
    assert.equal(operation.requestBody !== undefined, takes !== undefined, name)
    assert.equal(
      operation.security?.length,
      { anyone: 0, login: 1 }[permission as string] ?? 2,
      name,
    )
    for (const [status, document] of Object.entries(answers)) {
      const response: { readonly content?: Content } | undefined = operation.responses[status]
      assert.ok(response, `${name} ${status}`)
      assert.equal(response.content !== undefined, document !== 'nothing', `${name} ${status}`)
    }
    const named = (operation.parameters ?? []).filter((each) => each.in === 'query')
    assert.equal(named.length, Object.keys(query?.properties ?? {}).length, name)
  }
})

test('no document has a name that a generated client gives to a type of an operation', () => {
  const written = JSON.stringify(cloudOpenApi(routes, { dialect: ours, base: new URL(BASE) }))
  const { components, paths } = requireOpenApi(written)
  const operations = Object.values(paths).flatMap((each) => Object.values(each))
  const made = operations.flatMap(({ operationId: id }) =>
    ['Params', 'Response', 'JSONBody', 'JSONRequestBody'].map(
      (end) => `${id.charAt(0).toUpperCase()}${id.slice(1)}${end}`,
    ),
  )
  assert.ok(made.length > 200, `${made.length} names`)
  const schemas = components['schemas'] ?? {}
  assert.deepEqual(
    made.filter((name) => Object.hasOwn(schemas, name)),
    [],
  )
})
