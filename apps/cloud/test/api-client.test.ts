// Goal: a program can use a cloud by the client alone, with types. Method: a real API with PostgreSQL; the same steps as a program.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'

import { CloudApi, CloudApiError } from '../../../packages/api-client/src/index.ts'
import { clientTypes } from '../../../tools/client-types.ts'
import { ours } from '../src/dialect/dialect.ts'
import { cloudOpenApi } from '../src/documents/openapi.ts'
import { routes } from '../src/routes.ts'
import { BASE, openTenantsApi, type TenantsApi } from './tenants-api.ts'

const CLIENT = join(import.meta.dirname, '../../../packages/api-client')

let api: TenantsApi
let cloud: CloudApi
before(async () => {
  api = await openTenantsApi()
  // Documents have the public address.
  const local: typeof fetch = (href, init) =>
    fetch(new Request(href, init).url.replace(BASE, `http://127.0.0.1:${api.port}`), init)
  const user = { user: 'alice@eng', password: 'secret' }
  cloud = await CloudApi.logIn({ url: BASE, fetch: local, newKey: randomUUID }, user)
})
after(() => api[Symbol.asyncDispose]())

test('documents.gen.ts matches the OpenAPI document', async () => {
  const file = join(CLIENT, 'src/documents.gen.ts')
  const document = cloudOpenApi(routes, { dialect: ours, base: new URL(BASE) })
  assert.equal(await readFile(file, 'utf8'), clientTypes(document), 'npm run reference writes it')
})

test('a program logs in, creates a vApp, follows its links and describes its VM', async () => {
  const { user, org } = await cloud.call('readSession')
  assert.deepEqual([user, org], ['alice', 'eng'])
  const { vAppTemplateRecord } = await cloud.call('runQuery', { query: { type: 'vAppTemplate' } })
  const href = vAppTemplateRecord[0]?.href ?? assert.fail()
  const { ids } = api.eng
  const body = { name: 'by-client', powerOn: false, source: { href } }
  const params = { vdc: ids['vdc'] ?? '' }
  const made = await cloud.call('instantiate', { params, body, key: 'once' })
  const again = await cloud.call('instantiate', { params, body, key: 'once' })
  assert.equal(again.id, made.id)
  const vm = made.children?.vm[0] ?? assert.fail()
  const entity = vm.href?.split('/').at(-1) ?? ''
  const value = { typedValue: { kind: 'MetadataNumberValue', value: 7 } } as const
  const written = await cloud.call('writeMetadataValue', {
    params: { entity, key: 'priority' },
    body: value,
  })
  assert.equal((await cloud.waitTask(written)).status, 'success')
  const read = await cloud.call('readMetadataValue', { params: { entity, key: 'priority' } })
  assert.deepEqual(read.typedValue, value.typedValue)
  const { total, vmRecord } = await cloud.call('queryVms', {
    query: { filter: 'containerName==by-client' },
  })
  assert.deepEqual([total, vmRecord[0]?.name], [1, vm.name])
  assert.equal(await cloud.call('deleteSession'), undefined)
})

test('an error has its status, code and message', async () => {
  await assert.rejects(cloud.call('readSession'), (error) => {
    assert.ok(error instanceof CloudApiError)
    assert.deepEqual([error.status, error.code], [401, 'UNAUTHENTICATED'])
    assert.ok(error.requestId)
    return true
  })
})
