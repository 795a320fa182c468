// Goal: what a VM used is read through the cell, in both formats, and every reason for which there is nothing has its own answer. Method: HTTP
// against the tenant API, with hosts that answer or do not.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { attribute, childrenByLocalName, readXml } from '@skerry/xml'
import { sql } from 'kysely'

import type { Status } from '../src/domain/vm-status.ts'
import { openTenantsApi, XML, type TenantsApi } from './tenants-api.ts'

let api: TenantsApi
before(async () => {
  api = await openTenantsApi()
})
after(() => api[Symbol.asyncDispose]())

const JSON_51 = 'application/*+json;version=5.1'

async function add(status: Status): Promise<{ readonly vm: string; readonly path: string }> {
  const [vm = ''] = (await api.cloud.addVms(1, status)).vms
  return { vm, path: `/api/vApp/vm-${vm}/metrics` }
}
const get = (path: string, accept = JSON_51) =>
  api.ask('GET', path, { headers: { accept, authorization: `Bearer ${api.eng.token}` } })
const last = {
  cpuPercent: 12,
  memoryMB: 512,
  diskRead: 0,
  diskWrite: 81_920,
  netIn: 2048,
  netOut: 1024,
}
const keys = Object.keys(last) as (keyof typeof last)[]

test('a running VM has as many values as wanted, and a gap is null in JSON and nil in XML', async () => {
  const { path } = await add('POWERED_ON')
  const { status, headers, text } = await get(`${path}?step=15&points=3`)
  assert.equal(status, 200, text)
  assert.deepEqual(
    [headers['content-type'], headers['cache-control']],
    ['application/vnd.skerry.cloud.metrics+json;version=5.1', 'no-store'],
  )
  assert.deepEqual(JSON.parse(text), {
    step: 15,
    until: '2026-11-15T12:00:00.000Z',
    ...Object.fromEntries(keys.map((key) => [key, [null, null, last[key]]])),
  })
  const root = readXml((await get(`${path}?step=60&points=2`, XML)).text)
  const cpu = childrenByLocalName(root, 'CpuPercent')
  assert.equal(attribute(root, 'step'), '60')
  assert.deepEqual(
    cpu.map((each) => [each.attributes['xsi:nil'], ...each.children]),
    [['true'], [undefined, '12']],
  )
  const whole = JSON.parse((await get(path)).text) as { readonly netIn: readonly unknown[] }
  assert.equal(whole.netIn.length, 240, 'by default the last hour')
})

test('a VM that is not running has no values, and its host is not asked', async () => {
  api.screens.away = true
  for (const status of ['POWERED_OFF', 'SUSPENDED', 'UNRESOLVED'] as const) {
    const { path } = await add(status)
    const answer = await get(path)
    assert.equal(answer.status, 200, answer.text)
    const { until, step, ...series } = JSON.parse(answer.text) as Record<string, unknown>
    assert.deepEqual([step, !Number.isNaN(Date.parse(String(until)))], [15, true])
    assert.deepEqual(series, Object.fromEntries(keys.map((key) => [key, []])), status)
  }
  api.screens.away = false
})

test('a host that does not answer is 503, with what to do next', async () => {
  const { vm, path } = await add('POWERED_ON')
  const isRefused = async () => {
    const { status, headers, text } = await get(path)
    assert.deepEqual([status, headers['retry-after']], [503, '2'], text)
    const { message } = JSON.parse(text) as { readonly message: string }
    assert.match(
      message,
      /^the host of VM \S+ does not answer; retry in a minute; if it still does/,
    )
  }
  api.screens.away = true
  await isRefused()
  api.screens.away = false
  assert.equal((await get(path)).status, 200)
  await sql`update vm set host_silent = true where id = ${vm}`.execute(api.cloud.db)
  await isRefused()
})

test('a wrong window, a vApp and a VM of others are rejected in words', async () => {
  const { path } = await add('POWERED_ON')
  const wrong: readonly (readonly [string, RegExp])[] = [
    ['step=10', /^step must be a multiple of 15 seconds, at most 3600/],
    ['step=0', /^step must be/],
    ['step=15&step=30', /^query: step/],
    ['points=0', /^points must be a whole number from 1/],
    ['points=many', /^points must be/],
    ['step=30&points=240', /^step times points must be at most 3600 seconds/],
  ]
  for (const [query, expected] of wrong) {
    const { status, text } = await get(`${path}?${query}`)
    assert.equal(status, 400, query)
    assert.match((JSON.parse(text) as { readonly message: string }).message, expected)
  }
  assert.equal((await get(`/api/vApp/${api.eng.vapp}/metrics`)).status, 400)
  const others = await api.ask('GET', path, {
    headers: { accept: JSON_51, authorization: `Bearer ${api.ops.token}` },
  })
  assert.ok([403, 404].includes(others.status), others.text)
})
