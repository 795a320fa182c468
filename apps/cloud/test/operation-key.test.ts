// Goal: what a client calls a request means one, wherever it says so. Method: a real HTTP server and a real Postgres.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { hrefOf, instantiate, openDoor, read, type Ask, type Door } from './tenants-door.ts'

let door: Door
before(async () => {
  door = await openDoor()
})
after(() => door[Symbol.asyncDispose]())

const ask: Ask = (method, path, asked) => door.ask(method, path, asked)

test('operationKey, in a document or as a parameter, is such a key too', async () => {
  const { token, ids } = door.eng
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
  const { vapp } = await door.cloud.addVms(1, 'POWERED_OFF')
  const remove = (key: string) =>
    ask('DELETE', `/api/vApp/vapp-${vapp}?operationKey=${key}`, { token })
  assert.equal(hrefOf(read(await remove('k-7'), 202)), hrefOf(read(await remove('k-7'), 202)))
  assert.equal((await remove('k-5')).status, 409, 'the key of another request')
  assert.equal((await remove('k'.repeat(256))).status, 400)
  const body = '<Broken operationKey="k-8"'
  assert.equal((await ask('POST', path, { token, body })).status, 400)
})
