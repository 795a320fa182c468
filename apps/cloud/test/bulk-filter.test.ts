// Goal: which VMs the filter of a bulk action means, and what becomes of one that is slow. Method: a real HTTP server and a real
// Postgres without workers; a lock on the table makes every filter slow.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'

import type { VmId } from '@skerry/vm'
import { sql } from 'kysely'

import { ours } from '../src/dialect/dialect.ts'
import { parseQuery, typeNamed } from '../src/query/query.ts'
import { countRecords } from '../src/query/records.ts'
import { hrefOf, openTenantsApi, read, type TenantsApi } from './tenants-api.ts'

let api: TenantsApi
before(async () => {
  api = await openTenantsApi()
})
after(() => api[Symbol.asyncDispose]())
// Each test has the VMs that it adds, and no others.
beforeEach(() => sql`update vm set deleted_at = clock_timestamp()`.execute(api.cloud.db))

const powerOn = (expect: number, filter = 'status==POWERED_OFF') => {
  const query = new URLSearchParams({ type: 'vm', filter, expect: String(expect) })
  return api.ask('POST', `/api/query/action/powerOn?${query.toString()}`, { token: api.eng.token })
}
const addOff = async (count: number): Promise<readonly VmId[]> =>
  (await api.cloud.addVms(count, 'POWERED_OFF')).vms
const countTasks = async (): Promise<number> =>
  (await api.cloud.db.selectFrom('task').select('id').execute()).length

test('a filter that takes longer than 2 s is 400 and says how to narrow it; nothing is changed', async () => {
  await addOff(1)
  const before = await countTasks()
  await api.cloud.db.transaction().execute(async (tx) => {
    await sql`lock table vm in access exclusive mode`.execute(tx)
    const { status, text } = await powerOn(1, 'name==*m*')
    assert.equal(status, 400, text)
    assert.match(text, /timed out after 2 s; narrow it: compare a whole name or its beginning/)
  })
  assert.equal(await countTasks(), before)
  assert.equal((await powerOn(1, 'name==*m*')).status, 202)
})

test('the rest of the request may take longer than the filter: it waits for the locks of VMs', async () => {
  const { principal } = api.cloud
  const timeouts = await api.cloud.as(principal, async (tx) => {
    const read = sql<{ now: string }>`select current_setting('statement_timeout') as now`
    const before = await read.execute(tx)
    const query = parseQuery(typeNamed('vm'), {}, { version: '5.1', dialect: ours })
    await countRecords(tx, query, { org: principal.org, limit: 1 })
    return [before, await read.execute(tx)].map(({ rows }) => rows[0]?.now)
  })
  assert.deepEqual(timeouts, ['10s', '10s'])
})

test('only the number is compared: a VM that takes the place of another is acted on; a filter by id means certain VMs', async () => {
  const [first, second] = (await addOff(2)) as [VmId, VmId]
  await sql`update vm set deleted_at = clock_timestamp() where id = ${first}`.execute(api.cloud.db)
  const [other] = (await addOff(1)) as [VmId]
  const parent = hrefOf(read(await powerOn(2), 202)).slice(-36)
  const { rows } = await sql<{ vm: VmId }>`select vm from task where parent = ${parent}`.execute(
    api.cloud.db,
  )
  assert.deepEqual(rows.map(({ vm }) => vm).toSorted(), [second, other].toSorted())
  const named = await powerOn(2, `id==${first},id==${second}`)
  assert.equal(named.status, 409, named.text)
})
