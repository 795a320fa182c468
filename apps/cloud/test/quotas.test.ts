// Goal: an organisation never has more than its quota, however many ask at once, and is never hindered from having less.
// Method: over HTTP, with a real Postgres, many requests at the same moment.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'

import type { VmId } from '@skerry/vm'
import { attribute } from '@skerry/xml'
import { sql } from 'kysely'

import { find, instantiate, openDoor, read, type Door } from './tenants-door.ts'

let door: Door
let system: string
before(async () => {
  door = await openDoor()
  system = await door.enter(door.ops.org, 'system administrator')
})
after(() => door[Symbol.asyncDispose]())
beforeEach(async () => {
  await sql`update vm set deleted_at = clock_timestamp() where org = ${door.eng.org}`.execute(
    door.cloud.db,
  )
  await sql`update vapp set deleted_at = clock_timestamp() where org = ${door.eng.org}`.execute(
    door.cloud.db,
  )
})

const path = () => `/api/admin/org/${door.eng.org}`
const set = (attributes: string) =>
  door.ask('PUT', path(), { token: system, body: `<AdminOrg><Quota ${attributes}/></AdminOrg>` })

let made = 0
const make = (powerOn = false, { token, ids } = door.eng) => {
  const body = instantiate(
    `q-${(made += 1)}`,
    (ids['template'] ?? '').replace('vappTemplate-', ''),
    powerOn,
  )
  return door.ask('POST', `/api/vdc/${ids['vdc']}/action/instantiateVAppTemplate`, { token, body })
}

test('many at once make exactly as many as there may be, and nobody else is bounded by it', async () => {
  read(await set('vms="5"'))
  const answers = await Promise.all(Array.from({ length: 30 }, () => make()))
  const statuses = answers.map(({ status }) => status)
  assert.equal(statuses.filter((status) => status === 201).length, 5)
  assert.equal(statuses.filter((status) => status === 409).length, 25)
  assert.match(answers.find(({ status }) => status === 409)?.text ?? '', /may have 5 VMs/)
  const { rows } = await sql<{ count: number }>`select count(*)::integer as count from vapp
    where org = ${door.eng.org} and deleted_at is null`.execute(door.cloud.db)
  assert.equal(rows[0]?.count, 5, 'nothing is left of those that were refused')
  assert.equal((await make(false, door.ops)).status, 201)
})

test('processors, memory and storage are counted as they are made', async () => {
  for (const bound of ['cpus="1"', 'memoryMB="127"', 'storageMB="127"']) {
    await sql`update vm set deleted_at = clock_timestamp() where org = ${door.eng.org}`.execute(
      door.cloud.db,
    )
    read(await set(bound))
    assert.equal((await make()).status, 201, bound)
    assert.equal((await make()).status, 409, bound)
  }
})

test('running VMs are counted when they are asked to start, and stopping is always allowed', async () => {
  const { vms, vapp } = await door.cloud.addVms(8, 'POWERED_OFF')
  read(await set('runningVms="3"'))
  const power = (vm: VmId, word: string) =>
    door.ask('POST', `/api/vApp/vm-${vm}/power/action/${word}`, { token: door.eng.token })
  const all = await Promise.all(vms.map((vm) => power(vm, 'powerOn')))
  assert.equal(all.filter(({ status }) => status === 202).length, 3)
  const whole = `/api/vApp/vapp-${vapp}/power/action`
  const { token } = door.eng
  assert.equal((await door.ask('POST', `${whole}/powerOn`, { token })).status, 409)
  assert.equal((await make(true)).status, 409)
  assert.equal((await make(false)).status, 201)
  read(await set('runningVms="0"'))
  const on = vms[all.findIndex(({ status }) => status === 202)] as VmId
  assert.equal((await power(on, 'powerOff')).status, 202)
})

test('a quota is shown to its administrators, changed as a whole, and set by those who run the cloud', async () => {
  read(await set('vms="7" cpus="9"'))
  const local = await door.enter(door.eng.org, 'organisation administrator')
  const [quota] = find(read(await door.ask('GET', path(), { token: local })), 'Quota')
  assert.deepEqual([attribute(quota, 'vms'), attribute(quota, 'cpus')], ['7', '9'])
  const body = '<AdminOrg><Quota vms="1000"/></AdminOrg>'
  assert.equal((await door.ask('PUT', path(), { token: local, body })).status, 403)
  for (const wrong of ['vms="-1"', 'vms="many"', 'cpus="1.5"']) {
    assert.equal((await set(wrong)).status, 400, wrong)
  }
  read(await set(''))
  assert.equal((await make()).status, 201)
  await assert.rejects(
    door.cloud.as(door.cloud.who, (tx) => sql`update quota set vms = 1000`.execute(tx)),
    /permission denied/,
  )
})
