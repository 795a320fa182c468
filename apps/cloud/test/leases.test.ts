// Goal: what was lent for a time is stopped, marked and at last deleted when that is over; told before and after, never in masses,
// and never of what somebody still wants.
// Method: the sections over HTTP, the pass itself on a real Postgres; time passes by moving what is written down into the past.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'

import type { VmId } from '@skerry/vm'
import { text } from '@skerry/xml'
import { sql } from 'kysely'

import type { VappId } from '../src/ids.ts'
import { reconcileLeases } from '../src/reconcile/leases.ts'
import { schedules } from '../src/reconcile/schedules.ts'
import type { Status } from '../src/vm-status.ts'
import { find, openDoor, read, type Door } from './tenants-door.ts'

let door: Door
let system: string
before(async () => {
  door = await openDoor()
  system = await door.enter(door.ops.org, 'system administrator')
})
after(() => door[Symbol.asyncDispose]())
beforeEach(async () => {
  const { db } = door.cloud
  await sql`update vapp set deleted_at = clock_timestamp()`.execute(db)
  await sql`update vm set deleted_at = clock_timestamp()`.execute(db)
  await sql`update cloud set expiry_asked_at = null, expiry_allowed_until = null`.execute(db)
  await sql`delete from lease_rule`.execute(db)
})

const HOUR = 3600
const pass = () => reconcileLeases(door.cloud.db)
const add = (count: number, status: Status) => door.cloud.addVms(count, status)
const put = (vapp: VappId, inside: string) =>
  door.ask('PUT', `/api/vApp/vapp-${vapp}/leaseSettingsSection`, {
    token: door.eng.token,
    body: `<LeaseSettingsSection>${inside}</LeaseSettingsSection>`,
  })
const rule = (attributes: string) =>
  door.ask('PUT', `/api/admin/org/${door.eng.org}`, {
    token: system,
    body: `<AdminOrg><Leases ${attributes}/></AdminOrg>`,
  })
const seconds = (deployment: number, storage: number) =>
  `<DeploymentLeaseInSeconds>${deployment}</DeploymentLeaseInSeconds><StorageLeaseInSeconds>${storage}</StorageLeaseInSeconds>`
async function section(vapp: VappId) {
  const answer = await door.ask('GET', `/api/vApp/vapp-${vapp}/leaseSettingsSection`, {
    token: door.eng.token,
  })
  const root = read(answer)
  const inside = (name: string) => text(find(root, name)[0])
  return {
    deployment: Number(inside('DeploymentLeaseInSeconds')),
    storage: Number(inside('StorageLeaseInSeconds')),
    ends: inside('DeploymentLeaseExpiration') ?? inside('StorageLeaseExpiration'),
  }
}
/** As if so many seconds had passed since it was last looked at. */
const later = (vapp: VappId, secs: number) =>
  sql`update vapp set deployed_since = deployed_since - make_interval(secs => ${secs}),
    stored_since = stored_since - make_interval(secs => ${secs}),
    expired_at = expired_at - make_interval(secs => ${secs}) where id = ${vapp}`.execute(
    door.cloud.db,
  )
const tasksOf = async (vapp: VappId) =>
  (
    await door.cloud.db
      .selectFrom('task')
      .select(['operation', 'owner'])
      .where('vapp', '=', vapp)
      .where('parent', 'is', null)
      .where('owner', '=', 'system')
      .orderBy('id')
      .execute()
  ).map(({ operation }) => operation)
const told = async (vapp: VappId) =>
  (
    await door.cloud.db
      .selectFrom('event')
      .select(['kind', 'what'])
      .where('vapp', '=', vapp)
      .where('kind', 'like', 'vapp.expir%')
      .orderBy('seq')
      .execute()
  ).map(({ kind, what }) => `${kind} ${String(what['what'])}`)
/** What was asked is done: the VMs are so, and no task is open. */
const becomes = async (vms: readonly VmId[], status: Status) => {
  const { db } = door.cloud
  await sql`update task set state = 'success', ended_at = clock_timestamp() where ended_at is null`.execute(
    db,
  )
  await db.updateTable('vm').set({ status, leads: null }).where('id', 'in', vms).execute()
}

test('without a rule and without a wish nothing ever ends', async () => {
  const { vapp } = await add(2, 'POWERED_ON')
  assert.deepEqual(await pass(), [])
  assert.deepEqual(await section(vapp), { deployment: 0, storage: 0, ends: undefined })
})

test('what runs longer than its lease is told so, then suspended, once', async () => {
  const { vapp, vms } = await add(2, 'POWERED_ON')
  assert.equal((await put(vapp, seconds(10 * HOUR, 0))).status, 202)
  assert.deepEqual(await pass(), [])
  assert.ok((await section(vapp)).ends, 'it is counted from when it was seen to run')
  await later(vapp, 8.5 * HOUR)
  assert.deepEqual(await pass(), [])
  assert.deepEqual(await told(vapp), [])
  await later(vapp, 0.6 * HOUR)
  await pass()
  await pass()
  assert.deepEqual(await told(vapp), ['vapp.expiring suspend'], 'a tenth before the end, once')
  await later(vapp, HOUR)
  assert.deepEqual((await pass()).toSorted(), [...vms].toSorted())
  assert.deepEqual(await pass(), [], 'a task is open')
  assert.deepEqual(await tasksOf(vapp), ['suspend'])
  assert.deepEqual(await told(vapp), ['vapp.expiring suspend', 'vapp.expired suspend'])
  await becomes(vms, 'SUSPENDED')
  assert.deepEqual(await pass(), [])
  assert.equal((await section(vapp)).ends, undefined, 'it may be kept for ever')

  await becomes(vms, 'POWERED_ON')
  assert.deepEqual(await pass(), [], 'started again it has a new lease')
  await later(vapp, 11 * HOUR)
  assert.equal((await pass()).length, 2)
})

test('what does not run is marked when its lease is over, and deleted after a second one', async () => {
  const { vapp, vms } = await add(1, 'POWERED_OFF')
  assert.equal((await put(vapp, seconds(0, 10 * HOUR))).status, 202)
  await pass()
  await later(vapp, 10.5 * HOUR)
  assert.deepEqual(await pass(), [])
  assert.deepEqual(await tasksOf(vapp), [], 'nothing is deleted yet')
  const query = await door.ask('GET', '/api/query?type=vApp&filter=isExpired==true', {
    token: door.eng.token,
  })
  assert.match(query.text, /total="1"/)
  await later(vapp, 9.5 * HOUR)
  await pass()
  assert.deepEqual(await told(vapp), ['vapp.expired expire', 'vapp.expiring delete'])
  await later(vapp, HOUR)
  assert.deepEqual(await pass(), vms)
  assert.deepEqual(await tasksOf(vapp), ['delete'])
})

test('whoever sets a lease, or starts the vApp, still wants it', async () => {
  const { vapp, vms } = await add(1, 'POWERED_OFF')
  await put(vapp, seconds(0, HOUR))
  await pass()
  await later(vapp, 2 * HOUR)
  await pass()
  await put(vapp, '')
  assert.deepEqual((await section(vapp)).storage, HOUR, 'what is not named stays')
  await later(vapp, 0.5 * HOUR)
  assert.deepEqual(await pass(), [], 'it is not expired any more')
  await later(vapp, HOUR)
  await pass()
  await becomes(vms, 'POWERED_ON')
  await pass()
  await later(vapp, 9 * HOUR)
  assert.deepEqual(await pass(), [])
  await becomes(vms, 'POWERED_OFF')
  assert.deepEqual(await pass(), [], 'its storage lease begins anew')
  assert.deepEqual(await tasksOf(vapp), [])
})

test('an organisation has what is usual, and the most that there may be', async () => {
  const shown = read(await rule(`deploymentDefault="${HOUR}" storageMax="${8 * HOUR}"`))
  const [leases] = find(shown, 'Leases')
  assert.deepEqual(
    { ...leases?.attributes },
    {
      ...{ deploymentDefault: '3600', deploymentMax: '0' },
      ...{ storageDefault: '0', storageMax: '28800' },
    },
  )
  const { vapp } = await add(1, 'POWERED_ON')
  const { deployment, storage } = await section(vapp)
  assert.deepEqual([deployment, storage], [HOUR, 8 * HOUR])
  for (const storageSeconds of [0, 9 * HOUR]) {
    const refused = await put(vapp, seconds(0, storageSeconds))
    assert.equal(refused.status, 400)
    assert.match(refused.text, /from 1 to 28800/)
  }
  assert.equal((await put(vapp, seconds(0, HOUR))).status, 202)
  assert.deepEqual((await section(vapp)).deployment, 0)
  for (const wrong of ['-1', 'long', '1.5', '99999999999']) {
    const inside = `<StorageLeaseInSeconds>${wrong}</StorageLeaseInSeconds>`
    assert.equal((await put(vapp, inside)).status, 400, wrong)
  }
  const vm = await door.ask('GET', `/api/vApp/${door.eng.ids['entity']}/leaseSettingsSection`, {
    token: door.eng.token,
  })
  assert.ok([400, 404].includes(vm.status))
})

test('deploy starts for a time', async () => {
  const { vapp, vms } = await add(1, 'POWERED_OFF')
  const deploy = (secs: string) =>
    door.ask('POST', `/api/vApp/vapp-${vapp}/action/deploy`, {
      token: door.eng.token,
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

test('a pass that would stop many asks first, once an hour, and waits for a person', async () => {
  await rule(`deploymentDefault="${HOUR}"`)
  const { vapp } = await add(6, 'POWERED_ON')
  await add(94, 'POWERED_OFF')
  await pass()
  await later(vapp, 2 * HOUR)
  assert.deepEqual(await pass(), [])
  assert.deepEqual(await pass(), [])
  const asks = () =>
    door.cloud.db.selectFrom('event').select('what').where('kind', '=', 'leases.held').execute()
  assert.deepEqual(await asks(), [{ what: { vms: 6, most: 5 } }])
  await sql`update cloud set expiry_allowed_until = clock_timestamp() + interval '1 hour'`.execute(
    door.cloud.db,
  )
  assert.equal((await pass()).length, 6)

  const { vapp: few } = await add(5, 'POWERED_ON')
  await sql`update cloud set expiry_allowed_until = null`.execute(door.cloud.db)
  await pass()
  await later(few, 2 * HOUR)
  assert.equal((await pass()).length, 5, '5 % of them, and no more')
})

test('while hosts fall silent nothing is stopped', async () => {
  await rule(`deploymentDefault="${HOUR}"`)
  const { vapp } = await add(1, 'POWERED_ON')
  await pass()
  await later(vapp, 2 * HOUR)
  const { db } = door.cloud
  await sql`update host set follow_until = clock_timestamp() - interval '1 s', seen_at = clock_timestamp()`.execute(
    db,
  )
  assert.deepEqual(await pass(), [])
  await sql`update host set follow_until = clock_timestamp() + interval '1 h'`.execute(db)
  assert.equal((await pass()).length, 1)
})

test('leases are looked at each minute', () => {
  const found = schedules.find(({ workflow }) => workflow === 'reconcileLeases')
  assert.equal(found?.everyMs, 60_000)
})
