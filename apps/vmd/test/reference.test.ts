// Goal: the reference is complete and correct. Method: compare it with the served routes.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { curlLine } from '../src/local/reference/curl-line.ts'
import { referenceStyle } from '../src/local/reference/reference-style.ts'
import type { Local } from '../src/local/route.ts'
import { routes } from '../src/local/routes.ts'

interface Operation {
  readonly operationId: string
  readonly parameters?: readonly { readonly name: string; readonly in: string }[]
  readonly requestBody?: { readonly content: object }
  readonly responses: Readonly<Record<string, { readonly description?: string; $ref?: string }>>
}
interface Document {
  readonly openapi: string
  readonly info: { readonly version: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

const ask = async (name: string) => {
  const row = routes.find((each) => each.name === name)
  assert.ok(row, name)
  const nothing = { params: {}, query: {}, body: undefined, uid: 0 }
  return row.handle({} as Local, nothing)
}
const braced = (path: string) => path.replaceAll(/:(\w+)/g, '{$1}')

test('every route is an operation of the OpenAPI document, and every operation a route', async () => {
  // As on the wire: values that JSON cannot represent are dropped.
  const { body } = await ask('readOpenApi')
  const document = JSON.parse(JSON.stringify(body)) as Document
  assert.match(document.openapi, /^3\.1\.\d+$/)
  assert.equal(document.info.version, '1.0.0')
  const found = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, each]) => ({ path, method, each })),
  )
  const line = (method: string, path: string, name: string) => `${method} ${path} ${name}`
  assert.deepEqual(
    found.map(({ path, method, each }) => line(method, path, each.operationId)).sort(),
    routes.map((row) => line(row.method.toLowerCase(), braced(row.path), row.name)).sort(),
  )
  assert.equal(new Set(routes.map(({ name }) => name)).size, routes.length)
  for (const { path, method, each } of found) {
    const row = routes.find(({ name }) => name === each.operationId)
    const inPath = (each.parameters ?? []).filter((one) => one.in === 'path')
    assert.deepEqual(
      inPath.map(({ name }) => `{${name}}`),
      path.match(/\{\w+\}/g) ?? [],
    )
    assert.equal(each.requestBody !== undefined, row?.takes !== undefined, path)
    assert.ok(method !== 'get' || each.requestBody === undefined)
    for (const status of Object.keys(row?.answers ?? {})) assert.ok(each.responses[status], path)
    for (const response of Object.values(each.responses))
      assert.ok(response.description ?? response.$ref)
  }
})

test('every reference within the document resolves', async () => {
  const document = (await ask('readOpenApi')).body as Record<string, unknown>
  const refs = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)]
  assert.ok(refs.length > 0)
  for (const [, path = ''] of refs) {
    let at: unknown = document
    for (const part of path.split('/')) at = (at as Record<string, unknown> | undefined)?.[part]
    assert.ok(at, path)
  }
})

test('existing clients find the same document at the path they expect', async () => {
  assert.deepEqual((await ask('readSwagger')).body, (await ask('readOpenApi')).body)
})

test('the page shows every route with its curl command, runs no script and loads nothing', async () => {
  const { headers, body } = await ask('readReference')
  const page = String(body)
  const readable = page.replaceAll('&quot;', '"').replaceAll('&apos;', "'")
  for (const row of routes) {
    assert.ok(page.includes(`id="${row.name}"`), row.name)
    assert.ok(readable.includes(curlLine(row, 'http://127.0.0.1:8080')), row.name)
  }
  assert.doesNotMatch(page, /<script|<link|<img|@import|url\(|(href|src)="(?![#/])/)
  assert.ok(page.includes(referenceStyle), 'the style matches its hash')
  const policy = headers?.['content-security-policy'] ?? ''
  assert.match(policy, /^default-src 'none'; style-src 'sha256-[^']+';/)
  assert.doesNotMatch(policy, /unsafe|http|\*/)
})

test('a curl command is written as a person would type it', () => {
  const lineOf = (name: string) => {
    const row = routes.find((each) => each.name === name)
    return row && curlLine(row, 'http://h')
  }
  assert.equal(lineOf('createVm'), `curl -d '{"id":"vm-1"}' http://h/api/vms`)
  assert.equal(lineOf('changePower'), 'curl -X PATCH -d on http://h/api/vms/power/vm-1')
  assert.equal(lineOf('deleteVm'), 'curl -X DELETE http://h/api/vms/vm-1')
  assert.equal(lineOf('resetVm'), 'curl -X POST http://h/api/vms/vm-1/reset')
})

test('a route that is not a GET declares what events report of it, even if that is nothing', () => {
  const silent = routes.filter(({ method, changes }) => method !== 'GET' && changes === undefined)
  assert.deepEqual(
    silent.map(({ name }) => name),
    [],
  )
})
