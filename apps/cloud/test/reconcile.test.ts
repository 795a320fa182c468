// Goal: a VM that should be on is started again, once per cause, and no other VM is started. Method: the passes
// themselves on a real Postgres, with a simulated host that is followed.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { until, type Postgres } from '@skerry/lab'
import { simulatedHost } from '@skerry/lab/simulated-host'
import type { VmId } from '@skerry/vm'
import { sql, type RawBuilder } from 'kysely'

import { reconcileCounts } from '../src/reconcile/counts.ts'
import { deleteExpired } from '../src/reconcile/delete-expired.ts'
import { reconcilePower } from '../src/reconcile/power.ts'
import { reconcilers } from '../src/reconcile/reconcilers.ts'
import { schedules } from '../src/reconcile/schedules.ts'
import { claimTask, turnBack } from '../src/tasks/claim-task.ts'
import { endTask } from '../src/tasks/end-task.ts'
import { CutHost, followed, vmAt } from './away-host.ts'
import {
  openCloudDatabase,
  seal,
  startDatabases,
  vmOf,
  type CloudDatabase,
} from './cloud-database.ts'

let postgres: Postgres
before(async () => {
  postgres = await startDatabases()
})
after(() => postgres[Symbol.asyncDispose]())

const running = () => ({ signal: new AbortController().signal })
const rules = { perHost: 10, perOrg: 10, within: () => 60 }

/** The submitted start fails: the VM stays off. */
async function failStart({ db }: CloudDatabase, vm: VmId): Promise<void> {
  const claimed = await claimTask(db, vm, 'run', rules)
  assert.ok(claimed)
  const claim = { task: claimed.task.id, fence: claimed.fence }
  const number = await turnBack(db, claim, { kind: 'interrupted', message: 'it did not start' })
  await endTask(db, { ...claim, fence: number })
  assert.equal(await claimTask(db, vm, 'run', rules), undefined)
}

/** VMs that should be on and are observed as off. */
async function fallen(cloud: CloudDatabase, count: number): Promise<readonly VmId[]> {
  const { vms } = await cloud.addVms(count, 'POWERED_OFF')
  await cloud.db
    .updateTable('vm')
    .set({ desired_power: 'POWERED_ON', last_boot: 'life-1', seen_session: '1' })
    .where('id', 'in', vms)
    .execute()
  return vms
}

test('a VM that went off is started once for each of its boots and each boot of its host', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const [vm] = (await cloud.addVms(1, 'POWERED_ON')).vms as [VmId]
  await cloud.db.updateTable('vm').set({ desired_power: 'POWERED_ON' }).execute()
  const host = simulatedHost({ vms: [vmAt(vm, 'on')] })
  const shows = (word: string) =>
    until(`the VM is ${word}`, async () => (await vmOf(cloud.db, vm)).displayed_status === word)
  await using following = await followed(cloud.db, cloud.host, new CutHost(host))
  assert.deepEqual(await reconcilePower(cloud.db), [], 'it has the desired state')

  host.crash(vm)
  await shows('POWERED_OFF')
  assert.deepEqual(await reconcilePower(cloud.db), [vm])
  const task = await cloud.db.selectFrom('task').selectAll().executeTakeFirstOrThrow()
  assert.deepEqual([task.operation, task.owner, task.state], ['powerOn', 'system', 'queued'])
  assert.deepEqual(await reconcilePower(cloud.db), [], 'a task is open')
  await failStart(cloud, vm)
  assert.deepEqual(await reconcilePower(cloud.db), [], 'it was tried for this boot')

  host.changePower(vm, 'on')
  await shows('POWERED_ON')
  host.crash(vm)
  await shows('POWERED_OFF')
  assert.deepEqual(await reconcilePower(cloud.db), [vm], 'another boot has ended')
  await failStart(cloud, vm)

  await following.goAway()
  host.reboot()
  assert.deepEqual(await reconcilePower(cloud.db), [], 'an unreachable VM does not count as off')
  await following.comeBack()
  await shows('POWERED_OFF')
  assert.deepEqual(await reconcilePower(cloud.db), [vm], 'the host was down')
})

test('a guest that shut itself down stays off', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const [vm] = (await cloud.addVms(1, 'POWERED_ON')).vms as [VmId]
  await cloud.db.updateTable('vm').set({ desired_power: 'POWERED_ON' }).execute()
  const host = simulatedHost({ vms: [vmAt(vm, 'on')] })
  await using _ = await followed(cloud.db, cloud.host, new CutHost(host))
  host.changePower(vm, 'off')
  await until(
    'it is off',
    async () => (await vmOf(cloud.db, vm)).displayed_status === 'POWERED_OFF',
  )
  assert.deepEqual(await reconcilePower(cloud.db), [])
})

const reasons: Readonly<Record<string, RawBuilder<unknown>>> = {
  'it should be off': sql`update vm set desired_power = 'POWERED_OFF'`,
  'it is suspended': sql`update vm set status = 'SUSPENDED'`,
  'it is not observed': sql`update vm set host_silent = true`,
  'it is being deleted': sql`update vm set closed = true`,
  'it was deleted': sql`update vm set deleted_at = clock_timestamp()`,
  'it has no host': sql`update vm set host = null`,
  'its host is away': sql`update host set list_session = 0`,
  'its host is in quarantine': sql`update host set quarantine = 'it forgot'`,
  'its host was revoked': sql`update host set state = 'revoked'`,
  'the cloud recovers': sql`update cloud set recovering = true`,
  'something is owed for it': sql`insert into pending_undo (host, vm, incarnation, goal, task)
    select host, id, 1, '{"goal": "power", "to": "off"}', id from vm`,
}

for (const [why, statement] of Object.entries(reasons)) {
  test(`no VM is started when ${why}`, async () => {
    await using cloud = await openCloudDatabase(postgres)
    await fallen(cloud, 1)
    await statement.execute(cloud.db)
    assert.deepEqual(await reconcilePower(cloud.db), [])
    assert.deepEqual(await cloud.db.selectFrom('task').select('id').execute(), [])
  })
}

test('concurrent passes submit one task for each VM, and each queue gets a wake-up', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const vms = await fallen(cloud, 20)
  const woken: VmId[] = []
  const passes = reconcilers(
    {
      db: cloud.db,
      wake: (vm) => woken.push(vm),
      hosts: () => assert.fail('no order is sent to a host'),
      seal,
    },
    running,
  )
  const counts = await Promise.all(Array.from({ length: 4 }, () => passes.reconcilePower()))
  assert.equal(
    counts.reduce((sum, each) => sum + each, 0),
    20,
  )
  assert.deepEqual(woken.toSorted(), vms.toSorted())
  const tasks = await cloud.db.selectFrom('task').select('vm').execute()
  assert.equal(new Set(tasks.map(({ vm }) => vm)).size, 20)
  assert.equal(tasks.length, 20)
})

test('pending undos at a reachable host are executed without a new session', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { db } = cloud
  const [vm, other] = (await cloud.addVms(2, 'POWERED_ON')).vms as [VmId, VmId]
  const host = simulatedHost({ vms: [vmAt(vm, 'on'), vmAt(other, 'on')] })
  const woken: VmId[] = []
  const passes = reconcilers({ db, wake: (id) => woken.push(id), hosts: () => host, seal }, running)
  const owe = (id: VmId, seconds: number) =>
    sql`
    insert into pending_undo (host, vm, incarnation, goal, task, made_at) select host, id, 1,
      '{"goal": "power", "to": "off"}', id, clock_timestamp() - make_interval(secs => ${seconds})
    from vm where id = ${id}`.execute(db)
  await owe(vm, 0)
  assert.equal(await passes.reconcilePendingUndo(), 0, 'a hello may be executing it')
  await owe(other, 60)
  await sql`update host set list_session = 0`.execute(db)
  assert.equal(
    await passes.reconcilePendingUndo(),
    0,
    'an unreachable host executes it at its next hello',
  )
  await sql`update host set list_session = session`.execute(db)
  assert.equal(await passes.reconcilePendingUndo(), 1)
  assert.deepEqual([host.find(other)?.power, woken], ['off', [other]])
  const left = await db.selectFrom('pending_undo').select('vm').where('vm', '=', other).execute()
  assert.deepEqual(left, [])
})

test('wrong sums are corrected once, with an event', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { db, host } = cloud
  await cloud.addVms(3, 'POWERED_OFF')
  assert.deepEqual(await reconcileCounts(db), [])
  await sql`update host set placed_cpus = 40, placed_memory_mib = placed_memory_mib - 1`.execute(db)
  const passes = await Promise.all(Array.from({ length: 4 }, () => reconcileCounts(db)))
  assert.deepEqual(passes.flat(), [host])
  const row = await db.selectFrom('host').selectAll().executeTakeFirstOrThrow()
  assert.deepEqual([row.placed_cpus, row.placed_memory_mib, row.placed_disk_mib], [3, 192, 192])
  const reported = await db.selectFrom('event').select(['kind', 'details']).execute()
  const [kept, found] = [
    { cpus: 40, memoryMiB: 191, diskMiB: 192 },
    { cpus: 3, memoryMiB: 192, diskMiB: 192 },
  ]
  assert.deepEqual(reported, [{ kind: 'host.recounted', details: { kept, found } }])
})

test('sums stay right during concurrent placements and removals', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { db } = cloud
  const { vms } = await cloud.addVms(20, 'POWERED_OFF')
  const moving = vms.map(async (id) => {
    for (let n = 0; n < 6; n += 1) {
      const host = n % 2 === 0 ? null : cloud.host
      await db.updateTable('vm').set({ host }).where('id', '=', id).execute()
    }
  })
  let wrong = 0
  const looking = (async () => {
    for (let n = 0; n < 20; n += 1) wrong += (await reconcileCounts(db)).length
  })()
  await Promise.all([...moving, looking])
  assert.equal(wrong, 0, 'no sum was wrong, and none was changed')
  assert.deepEqual(await reconcileCounts(db), [])
})

test('idempotency keys are kept for 30 days, sessions for one day', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { db, principal } = cloud
  const { org, account } = principal
  await sql`insert into account (org, id, name, role, password)
    values (${org}, ${account}, 'alice', 'author', '')`.execute(db)
  await sql`insert into request_key (org, account, key, body_hash, task, made_at)
    select ${org}, ${account}, 'k-' || n, '', gen_random_uuid(), clock_timestamp() - n * interval '1 h'
    from generate_series(1, 5000) n`.execute(db)
  await sql`insert into session (token_hash, org, account, began_at)
    select sha256(n::text::bytea), ${org}, ${account}, clock_timestamp() - n * interval '1 h'
    from generate_series(1, 30) n`.execute(db)
  assert.equal(await deleteExpired(db), 5000 - 719 + 30 - 23)
  const keys = await db.selectFrom('request_key').select('key').execute()
  assert.equal(keys.length, 719, 'those of less than 30 days')
  assert.equal((await db.selectFrom('session').selectAll().execute()).length, 23)
  assert.equal(await deleteExpired(db), 0)
})

test('every pass has a schedule, and every schedule a pass', () => {
  const none = undefined as never
  const passes = reconcilers({ db: none, wake: () => undefined, hosts: () => none, seal }, running)
  assert.deepEqual(
    schedules.map(({ workflow }) => workflow).toSorted(),
    Object.keys(passes).toSorted(),
  )
})
