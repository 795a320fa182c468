// Goal: the OpenAPI document of the workflow server is valid, complete and the same in the docs and over HTTP, and describes what the
// server returns. Method: the document over HTTP; every route that returns JSON, whose responses held-to-openapi.ts checks.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'

import { requireOpenApi } from '../../../packages/service/test/valid-openapi.ts'
import { documentSchemas } from '../src/documents/schemas.ts'
import { workflowOpenApi } from '../src/http/openapi.ts'
import { offersOf } from '../src/http/route.ts'
import { routes } from '../src/routes.ts'
import { filled, openWorkflowApi, type WorkflowApi } from './workflow-api.ts'

const FILE = join(import.meta.dirname, '../../../docs/reference/api/workflow.openapi.json')

let api: WorkflowApi
before(async () => {
  api = await openWorkflowApi()
})
after(() => api[Symbol.asyncDispose]())

const isJson = (row: (typeof routes)[number]): boolean => offersOf(row).includes('json')

test('any caller gets it without credentials, and it is valid OpenAPI 3.1', async () => {
  const answer = await api.ask('GET', '/api/openapi.json')
  assert.equal(answer.status, 200)
  assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8')
  requireOpenApi(answer.text)
})

test('docs/reference/api/workflow.openapi.json is up to date', async () => {
  const document = workflowOpenApi(routes, new URL('https://workflow.example:8281'))
  const written = `${JSON.stringify(document, undefined, 2)}\n`
  assert.equal(await readFile(FILE, 'utf8'), written, 'npm run reference generates it again')
})

test('it has every route of the API, and a schema for every document', () => {
  const document = workflowOpenApi(routes, new URL('https://workflow.example:8281'))
  const { paths } = requireOpenApi(JSON.stringify(document))
  for (const row of routes.filter(({ path }) => path.startsWith('/api'))) {
    const operation = paths[row.path.replaceAll(/:(\w+)/g, '{$1}')]?.[row.method.toLowerCase()]
    assert.equal(operation?.operationId, row.name)
    assert.equal(operation.requestBody !== undefined, row.takes !== undefined, row.name)
    assert.equal(operation.security?.length, row.permission === 'anyone' ? 0 : 1, row.name)
    if (!isJson(row)) continue
    for (const said of Object.values(row.answers).map(String)) {
      const known = ['nothing', 'events', 'openapi'].includes(said) || said in documentSchemas
      assert.ok(known, `${row.name}: ${said} has no schema`)
    }
  }
})

test('every document that can be read in JSON has the described form', async () => {
  const { principal, ids } = api.eng
  let read = 0
  for (const row of routes.filter((each) => each.method === 'GET' && isJson(each))) {
    if (row.answers[200] === 'events') continue
    const path = filled(row.path, ids)
    const { status, text } = await api.ask('GET', path, {
      as: principal,
      accept: 'application/json',
    })
    // The run of this tenant waits for no answer.
    if (status !== 200) assert.match(row.name, /nteraction/, `${status} ${text}`)
    else read += 1
  }
  assert.ok(read > 15, `${read} documents`)
})
