// Goal: administrators of the cloud see which cells are alive and fit, what each of them checked, and which hosts it follows.
// Method: heartbeats of two cells on a real Postgres; the documents over HTTP.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import type { Condition } from '@skerry/service'
import { attribute, text, type Element } from '@skerry/xml'
import { sql } from 'kysely'

import { releaseHosts, renewHosts } from '../src/hosts/host-leases.ts'
import { find, openTenantsApi, read, type TenantsApi } from './tenants-api.ts'

let api: TenantsApi
let root: string
before(async () => {
  api = await openTenantsApi()
  root = await api.enter(api.eng.org, 'system administrator')
  await sql`update host set follower = null, follow_until = null`.execute(api.cloud.db)
})
after(() => api[Symbol.asyncDispose]())

const since = new Date('2026-11-15T12:00:00.000Z')
const database: Condition = { name: 'database', ok: true, since, message: 'PostgreSQL answers' }
const temporal: Condition = { name: 'temporal', ok: false, since, message: 'it does not answer' }

const beat = (cell: string, fit: boolean, conditions: readonly Condition[]) =>
  renewHosts(api.cloud.db, {
    cell,
    fit,
    silent: new Set(),
    report: { version: '0.1.0', conditions },
  })

async function cells(): Promise<ReadonlyMap<string, Element>> {
  const found = find(read(await api.ask('GET', '/api/admin/cells', { token: root })), 'Cell')
  return new Map(found.map((each) => [attribute(each, 'name') ?? '', each]))
}

const shown = (cell: Element | undefined) =>
  ['isAlive', 'isFit', 'version', 'numberOfHosts'].map((name) => attribute(cell, name))

test('a cell is listed with what it reported at its last heartbeat and the hosts that it follows', async () => {
  await beat('cell-1', true, [database, temporal])
  await beat('cell-2', false, [])
  const all = await cells()
  assert.deepEqual([...all.keys()], ['cell-1', 'cell-2'])
  assert.deepEqual(shown(all.get('cell-1')), ['true', 'true', '0.1.0', '1'])
  assert.deepEqual(shown(all.get('cell-2')), ['true', 'false', '0.1.0', '0'])
  const first = all.get('cell-1')
  assert.ok(first)
  const conditions = find(first, 'Condition').map((each) => [
    attribute(each, 'name'),
    attribute(each, 'isOk'),
    attribute(each, 'since'),
    text(each),
  ])
  assert.deepEqual(conditions, [
    ['database', 'true', since.toISOString(), database.message],
    ['temporal', 'false', since.toISOString(), temporal.message],
  ])
  const query = '/api/query?type=host&filter=cellName==cell-1'
  const hosts = find(read(await api.ask('GET', query, { token: root })), 'HostRecord')
  assert.deepEqual(
    hosts.map((each) => attribute(each, 'cellName')),
    ['cell-1'],
  )
})

test('a cell whose heartbeats end is not alive, and follows nothing; one that stops properly is not listed', async () => {
  await beat('cell-1', true, [database])
  await beat('cell-2', true, [database])
  const over = sql`clock_timestamp() - interval '1 s'`
  await sql`update cell set alive_until = ${over} where id = 'cell-1'`.execute(api.cloud.db)
  await sql`update host set follow_until = ${over} where follower = 'cell-1'`.execute(api.cloud.db)
  const dead = (await cells()).get('cell-1')
  assert.deepEqual(shown(dead), ['false', 'true', '0.1.0', '0'])
  const seen = Date.parse(attribute(dead, 'lastSeen') ?? '')
  assert.ok(seen < Date.now() - 10_000, 'its last heartbeat, not the end of its lease')
  await releaseHosts(api.cloud.db, 'cell-2')
  assert.deepEqual([...(await cells()).keys()], ['cell-1'])
})

test('no one else sees the cells', async () => {
  const local = await api.enter(api.eng.org, 'organisation administrator')
  assert.equal((await api.ask('GET', '/api/admin/cells', { token: local })).status, 403)
})
