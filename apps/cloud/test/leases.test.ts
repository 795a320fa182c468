// Goal: vApps with expired leases are stopped, marked and finally deleted, with events before and after, never in masses,
// and never if a user has renewed the lease.
// Method: the sections over HTTP, the pass itself on a real Postgres; stored times are moved into the past.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'

import type { VmId } from '@skerry/vm'
import { text } from '@skerry/xml'
import { sql } from 'kysely'

import type { VappId } from '../src/domain/ids.ts'
import type { Status } from '../src/domain/vm-status.ts'
import { reconcileLeases } from '../src/reconcile/leases.ts'
import { schedules } from '../src/reconcile/schedules.ts'
import { find, openTenantsApi, read, type TenantsApi } from './tenants-api.ts'

let api: TenantsApi
let system: string
before(async () => {
  api = await openTenantsApi()
  system = await api.enter(api.ops.org, 'system administrator')
})
after(() => api[Symbol.asyncDispose]())
beforeEach(async () => {
  const { db } = api.cloud
  await sql`update vapp set deleted_at = clock_timestamp()`.execute(db)
  await sql`update vm set deleted_at = clock_timestamp()`.execute(db)
  await sql`update cloud set expiry_asked_at = null, expiry_allowed_until = null`.execute(db)
  await sql`delete from lease_policy`.execute(db)
})

const HOUR = 3600
const pass = () => reconcileLeases(api.cloud.db)
const add = (count: number, status: Status) => api.cloud.addVms(count, status)
const put = (vapp: VappId, inside: string) =>
  api.ask('PUT', `/api/vApp/vapp-${vapp}/leaseSettingsSection`, {
    token: api.eng.token,
    body: `<LeaseSettingsSection>${inside}</LeaseSettingsSection>`,
  })
const rule = (attributes: string) =>
  api.ask('PUT', `/api/admin/org/${api.eng.org}`, {
    token: system,
    body: `<AdminOrg><Leases ${attributes}/></AdminOrg>`,
  })
const seconds = (deployment: number, storage: number) =>
  `<DeploymentLeaseInSeconds>${deployment}</DeploymentLeaseInSeconds><StorageLeaseInSeconds>${storage}</StorageLeaseInSeconds>`
async function section(vapp: VappId) {
  const answer = await api.ask('GET', `/api/vApp/vapp-${vapp}/leaseSettingsSection`, {
    token: api.eng.token,
  })
  const root = read(answer)
  const inside = (name: string) => text(find(root, name)[0])
  return {
    deployment: Number(inside('DeploymentLeaseInSeconds')),
    storage: Number(inside('StorageLeaseInSeconds')),
    ends: inside('DeploymentLeaseExpiration') ?? inside('StorageLeaseExpiration'),
  }
}
/** As if this many seconds had passed since the last pass. */
const later = (vapp: VappId, secs: number) =>
  sql`update vapp set deployed_since = deployed_since - make_interval(secs => ${secs}),
    stored_since = stored_since - make_interval(secs => ${secs}),
    expired_at = expired_at - make_interval(secs => ${secs}) where id = ${vapp}`.execute(
    api.cloud.db,
  )
const tasksOf = async (vapp: VappId) =>
  (
    await api.cloud.db
      .selectFrom('task')
      .select(['operation', 'owner'])
      .where('vapp', '=', vapp)
      .where('parent', 'is', null)
      .where('owner', '=', 'system')
      .orderBy('id')
      .execute()
  ).map(({ operation }) => operation)
const eventsOf = async (vapp: VappId) =>
  (
    await api.cloud.db
      .selectFrom('event')
      .select(['kind', 'details'])
      .where('vapp', '=', vapp)
      .where('kind', 'like', 'vapp.expir%')
      .orderBy('seq')
      .execute()
  ).map(({ kind, details }) => `${kind} ${String(details['what'])}`)
/** The tasks are done: the VMs have this status, and no task is open. */
const becomes = async (vms: readonly VmId[], status: Status) => {
  const { db } = api.cloud
  await sql`update task set state = 'success', ended_at = clock_timestamp() where ended_at is null`.execute(
    db,
  )
  await db.updateTable('vm').set({ status, queue_target: null }).where('id', 'in', vms).execute()
}

test('without a lease policy and without a lease nothing ever expires', async () => {
  const { vapp } = await add(2, 'POWERED_ON')
  assert.deepEqual(await pass(), [])
  assert.deepEqual(await section(vapp), { deployment: 0, storage: 0, ends: undefined })
})

test('a vApp that runs longer than its lease gets a warning event, then is suspended, once', async () => {
  const { vapp, vms } = await add(2, 'POWERED_ON')
  assert.equal((await put(vapp, seconds(10 * HOUR, 0))).status, 202)
  assert.deepEqual(await pass(), [])
  assert.ok((await section(vapp)).ends, 'it counts from the first report that it runs')
  await later(vapp, 8.5 * HOUR)
  assert.deepEqual(await pass(), [])
  assert.deepEqual(await eventsOf(vapp), [])
  await later(vapp, 0.6 * HOUR)
  await pass()
  await pass()
  assert.deepEqual(await eventsOf(vapp), ['vapp.expiring suspend'], 'a tenth before the end, once')
  await later(vapp, HOUR)
  assert.deepEqual((await pass()).toSorted(), [...vms].toSorted())
  assert.deepEqual(await pass(), [], 'a task is open')
  assert.deepEqual(await tasksOf(vapp), ['suspend'])
  assert.deepEqual(await eventsOf(vapp), ['vapp.expiring suspend', 'vapp.expired suspend'])
  await becomes(vms, 'SUSPENDED')
  assert.deepEqual(await pass(), [])
  assert.equal((await section(vapp)).ends, undefined, 'it may be kept forever')

  await becomes(vms, 'POWERED_ON')
  assert.deepEqual(await pass(), [], 'after a restart it has a new lease')
  await later(vapp, 11 * HOUR)
  assert.equal((await pass()).length, 2)
})

test('a stopped vApp is marked when its lease expires, and deleted after a second one', async () => {
  const { vapp, vms } = await add(1, 'POWERED_OFF')
  assert.equal((await put(vapp, seconds(0, 10 * HOUR))).status, 202)
  await pass()
  await later(vapp, 10.5 * HOUR)
  assert.deepEqual(await pass(), [])
  assert.deepEqual(await tasksOf(vapp), [], 'nothing is deleted yet')
  const query = await api.ask('GET', '/api/query?type=vApp&filter=isExpired==true', {
    token: api.eng.token,
  })
  assert.match(query.text, /total="1"/)
  await later(vapp, 9.5 * HOUR)
  await pass()
  assert.deepEqual(await eventsOf(vapp), ['vapp.expired expire', 'vapp.expiring delete'])
  await later(vapp, HOUR)
  assert.deepEqual(await pass(), vms)
  assert.deepEqual(await tasksOf(vapp), ['delete'])
})

test('setting a lease, or starting the vApp, renews it', async () => {
  const { vapp, vms } = await add(1, 'POWERED_OFF')
  await put(vapp, seconds(0, HOUR))
  await pass()
  await later(vapp, 2 * HOUR)
  await pass()
  await put(vapp, '')
  assert.deepEqual((await section(vapp)).storage, HOUR, 'omitted values stay')
  await later(vapp, 0.5 * HOUR)
  assert.deepEqual(await pass(), [], 'it is no longer expired')
  await later(vapp, HOUR)
  await pass()
  await becomes(vms, 'POWERED_ON')
  await pass()
  await later(vapp, 9 * HOUR)
  assert.deepEqual(await pass(), [])
  await becomes(vms, 'POWERED_OFF')
  assert.deepEqual(await pass(), [], 'its storage lease restarts')
  assert.deepEqual(await tasksOf(vapp), [])
})

test('an organisation has default leases and maximum leases', async () => {
  const shown = read(await rule(`deploymentDefault="${HOUR}" storageMax="${8 * HOUR}"`))
  const [leases] = find(shown, 'Leases')
  assert.deepEqual(
    { ...leases?.attributes },
    {
      deploymentDefault: '3600',
      deploymentMax: '0',
      storageDefault: '0',
      storageMax: '28800',
    },
  )
  const { vapp } = await add(1, 'POWERED_ON')
  const { deployment, storage } = await section(vapp)
  assert.deepEqual([deployment, storage], [HOUR, 8 * HOUR])
  for (const storageSeconds of [0, 9 * HOUR]) {
    const refused = await put(vapp, seconds(0, storageSeconds))
    assert.equal(refused.status, 400)
    assert.match(refused.text, /between 1 and 28800/)
  }
  assert.equal((await put(vapp, seconds(0, HOUR))).status, 202)
  assert.deepEqual((await section(vapp)).deployment, 0)
  for (const wrong of ['-1', 'long', '1.5', '99999999999']) {
    const inside = `<StorageLeaseInSeconds>${wrong}</StorageLeaseInSeconds>`
    assert.equal((await put(vapp, inside)).status, 400, wrong)
  }
  const vm = await api.ask('GET', `/api/vApp/${api.eng.ids['entity']}/leaseSettingsSection`, {
    token: api.eng.token,
  })
  assert.ok([400, 404].includes(vm.status))
})

test('deploy starts with a lease', async () => {
  const { vapp, vms } = await add(1, 'POWERED_OFF')
  const deploy = (secs: string) =>
    api.ask('POST', `/api/vApp/vapp-${vapp}/action/deploy`, {
      token: api.eng.token,
      body: `<DeployVAppParams deploymentLeaseSeconds="${secs}"/>`,
    })
  assert.equal((await deploy('soon')).status, 400)
  assert.equal((await deploy('7200')).status, 202)
  assert.equal((await section(vapp)).deployment, 7200)
  await becomes(vms, 'POWERED_ON')
  await pass()
  await later(vapp, 7201)
  assert.deepEqual(await pass(), vms)
})

test('a pass that would stop many VMs emits an event, once an hour, and waits for an operator', async () => {
  await rule(`deploymentDefault="${HOUR}"`)
  const { vapp } = await add(6, 'POWERED_ON')
  await add(94, 'POWERED_OFF')
  await pass()
  await later(vapp, 2 * HOUR)
  assert.deepEqual(await pass(), [])
  assert.deepEqual(await pass(), [])
  const asks = () =>
    api.cloud.db.selectFrom('event').select('details').where('kind', '=', 'leases.held').execute()
  assert.deepEqual(await asks(), [{ details: { vms: 6, most: 5 } }])
  await sql`update cloud set expiry_allowed_until = clock_timestamp() + interval '1 hour'`.execute(
    api.cloud.db,
  )
  assert.equal((await pass()).length, 6)

  const { vapp: few } = await add(5, 'POWERED_ON')
  await sql`update cloud set expiry_allowed_until = null`.execute(api.cloud.db)
  await pass()
  await later(few, 2 * HOUR)
  assert.equal((await pass()).length, 5, '5 % of them, and no more')
})

test('while many hosts become silent nothing is stopped', async () => {
  await rule(`deploymentDefault="${HOUR}"`)
  const { vapp } = await add(1, 'POWERED_ON')
  await pass()
  await later(vapp, 2 * HOUR)
  const { db } = api.cloud
  await sql`update host set follow_until = clock_timestamp() - interval '1 s', seen_at = clock_timestamp()`.execute(
    db,
  )
  assert.deepEqual(await pass(), [])
  await sql`update host set follow_until = clock_timestamp() + interval '1 h'`.execute(db)
  assert.equal((await pass()).length, 1)
})

test('leases are checked each minute', () => {
  const found = schedules.find(({ workflow }) => workflow === 'reconcileLeases')
  assert.equal(found?.everyMs, 60_000)
})
