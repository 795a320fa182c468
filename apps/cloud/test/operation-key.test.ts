// Goal: a request key identifies one request, in a header, document or parameter. Method: a real HTTP server and a real Postgres.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import {
  hrefOf,
  instantiate,
  openTenantsApi,
  read,
  type Ask,
  type TenantsApi,
} from './tenants-api.ts'

let api: TenantsApi
before(async () => {
  api = await openTenantsApi()
})
after(() => api[Symbol.asyncDispose]())

const ask: Ask = (method, path, requested) => api.ask(method, path, requested)

test('operationKey, in a document or as a parameter, is an idempotency key too', async () => {
  const { token, ids } = api.eng
  const uuid = (ids['template'] ?? '').replace('vappTemplate-', '')
  const path = `/api/vdc/${ids['vdc']}/action/instantiateVAppTemplate`
  const named = (name: string) =>
    instantiate(name, uuid, false).replace(' name=', ' operationKey="k-5" name=')
  const once = (name: string, headers = {}) =>
    ask('POST', path, { token, headers, body: named(name) })
  const made = hrefOf(read(await once('keyed'), 201))
  assert.equal(hrefOf(read(await once('keyed', { 'idempotency-key': 'k-5' }), 201)), made)
  assert.equal((await once('other')).status, 409)
  assert.equal((await once('keyed', { 'idempotency-key': 'k-6' })).status, 400, 'which of them?')
  const { vapp } = await api.cloud.addVms(1, 'POWERED_OFF')
  const remove = (key: string) =>
    ask('DELETE', `/api/vApp/vapp-${vapp}?operationKey=${key}`, { token })
  assert.equal(hrefOf(read(await remove('k-7'), 202)), hrefOf(read(await remove('k-7'), 202)))
  assert.equal((await remove('k-5')).status, 409, 'the key belongs to another request')
  assert.equal((await remove('k'.repeat(256))).status, 400)
  const body = '<Broken operationKey="k-8"'
  assert.equal((await ask('POST', path, { token, body })).status, 400)
})
