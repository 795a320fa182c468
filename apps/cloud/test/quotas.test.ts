// Goal: an organisation never exceeds its quota with any number of concurrent requests, and can always reduce its usage.
// Method: over HTTP, with a real Postgres, many concurrent requests.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'

import { until } from '@skerry/lab'
import type { VmId } from '@skerry/vm'
import { attribute } from '@skerry/xml'
import { sql } from 'kysely'

import { find, instantiate, openTenantsApi, read, type TenantsApi } from './tenants-api.ts'

let api: TenantsApi
let system: string
before(async () => {
  api = await openTenantsApi()
  system = await api.enter(api.ops.org, 'system administrator')
})
after(() => api[Symbol.asyncDispose]())
beforeEach(async () => {
  await sql`update vm set deleted_at = clock_timestamp() where org = ${api.eng.org}`.execute(
    api.cloud.db,
  )
  await sql`update vapp set deleted_at = clock_timestamp() where org = ${api.eng.org}`.execute(
    api.cloud.db,
  )
})

const path = () => `/api/admin/org/${api.eng.org}`
const set = (attributes: string) =>
  api.ask('PUT', path(), { token: system, body: `<AdminOrg><Quota ${attributes}/></AdminOrg>` })

let made = 0
const make = (powerOn = false, { token, ids } = api.eng) => {
  const body = instantiate(
    `q-${(made += 1)}`,
    (ids['template'] ?? '').replace('vappTemplate-', ''),
    powerOn,
  )
  return api.ask('POST', `/api/vdc/${ids['vdc']}/action/instantiateVAppTemplate`, { token, body })
}

test('concurrent requests create exactly the quota, and other organisations are not affected', async () => {
  read(await set('vms="5"'))
  // On a busy machine, so many at once may wait longer for a connection to the database than a request does.
  const answered = () =>
    until('the cloud answers', async () => {
      const answer = await make()
      return answer.status !== 503 && answer
    })
  const answers = await Promise.all(Array.from({ length: 30 }, answered))
  const statuses = answers.map(({ status }) => status)
  assert.equal(statuses.filter((status) => status === 201).length, 5)
  assert.equal(statuses.filter((status) => status === 409).length, 25)
  assert.match(answers.find(({ status }) => status === 409)?.text ?? '', /may have 5 VMs/)
  const { rows } = await sql<{ count: number }>`select count(*)::integer as count from vapp
    where org = ${api.eng.org} and deleted_at is null`.execute(api.cloud.db)
  assert.equal(rows[0]?.count, 5, 'rejected requests leave nothing behind')
  assert.equal((await make(false, api.ops)).status, 201)
})

test('processors, memory and storage are counted at creation', async () => {
  for (const bound of ['cpus="1"', 'memoryMB="127"', 'storageMB="127"']) {
    await sql`update vm set deleted_at = clock_timestamp() where org = ${api.eng.org}`.execute(
      api.cloud.db,
    )
    read(await set(bound))
    assert.equal((await make()).status, 201, bound)
    assert.equal((await make()).status, 409, bound)
  }
})

test('running VMs are counted when their start is requested, and stopping is always allowed', async () => {
  const { vms, vapp } = await api.cloud.addVms(8, 'POWERED_OFF')
  read(await set('runningVms="3"'))
  const power = (vm: VmId, word: string) =>
    api.ask('POST', `/api/vApp/vm-${vm}/power/action/${word}`, { token: api.eng.token })
  const all = await Promise.all(vms.map((vm) => power(vm, 'powerOn')))
  assert.equal(all.filter(({ status }) => status === 202).length, 3)
  const whole = `/api/vApp/vapp-${vapp}/power/action`
  const { token } = api.eng
  assert.equal((await api.ask('POST', `${whole}/powerOn`, { token })).status, 409)
  assert.equal((await make(true)).status, 409)
  assert.equal((await make(false)).status, 201)
  read(await set('runningVms="0"'))
  const on = vms[all.findIndex(({ status }) => status === 202)] as VmId
  assert.equal((await power(on, 'powerOff')).status, 202)
})

test('organisation administrators see the quota; only system administrators set it, as a whole', async () => {
  read(await set('vms="7" cpus="9"'))
  const local = await api.enter(api.eng.org, 'organisation administrator')
  const [quota] = find(read(await api.ask('GET', path(), { token: local })), 'Quota')
  assert.deepEqual([attribute(quota, 'vms'), attribute(quota, 'cpus')], ['7', '9'])
  const body = '<AdminOrg><Quota vms="1000"/></AdminOrg>'
  assert.equal((await api.ask('PUT', path(), { token: local, body })).status, 403)
  for (const wrong of ['vms="-1"', 'vms="many"', 'cpus="1.5"']) {
    assert.equal((await set(wrong)).status, 400, wrong)
  }
  read(await set(''))
  assert.equal((await make()).status, 201)
  await assert.rejects(
    api.cloud.as(api.cloud.principal, (tx) => sql`update quota set vms = 1000`.execute(tx)),
    /permission denied/,
  )
})
