// Goal: orphan VMs, VMs whose orders were lost, and VMs of lost hosts are repaired by an administrator, and never automatically.
// Method: real Postgres, simulated hosts that are followed, the same Activities that Temporal runs.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import type { Fault } from '@skerry/fault'
import { until, type Postgres } from '@skerry/lab'
import { simulatedHost } from '@skerry/lab/simulated-host'
import type { HostId, TaskId, VmId } from '@skerry/vm'

import { adoptHost, adoptVm } from '../src/hosts/adopt.ts'
import { declareLost } from '../src/hosts/host-states.ts'
import { nextSession } from '../src/hosts/hosts.ts'
import { operationNamed, operations } from '../src/operations/vm-operations.ts'
import { beginNewEra, recoveryStatus } from '../src/recovery/recovery-status.ts'
import { isOpen } from '../src/tasks/claim-task.ts'
import { deferUndo } from '../src/tasks/pending-undo.ts'
import { submitTask } from '../src/tasks/submit-task.ts'
import { Activities } from '../src/worker/activities.ts'
import { CutHost, followed, vmAt } from './away-host.ts'
import {
  addHost,
  openCloudDatabase,
  seal,
  startDatabases,
  taskOf,
  vmOf,
  type CloudDatabase,
} from './cloud-database.ts'
import {
  specOf,
  highestNumber,
  LaterHost,
  numbered,
  startRecovering,
  toldOf,
  unfollow,
  untilRecovered,
} from './recovering-cell.ts'

let postgres: Postgres
before(async () => {
  postgres = await startDatabases()
})
after(() => postgres[Symbol.asyncDispose]())

const orphan = '01980000-0000-7000-8000-00000000abcd' as VmId
const grown = '01980000-0000-7000-8000-00000000eeee'

const ask = (cloud: CloudDatabase, name: string, vm: VmId) =>
  cloud.as(cloud.principal, (tx) => submitTask(tx, operationNamed(name), { vm, owner: 'alice' }))

const recordOf = async ({ host }: LaterHost, vm: VmId) =>
  (await Array.fromAsync(host.records())).find((each) => each.vm === vm)

/** Two hosts whose state was read after a restore; they are followed until the test ends. */
async function recovered(
  prepare: (cloud: CloudDatabase, one: LaterHost, two: LaterHost, second: HostId) => Promise<void>,
) {
  await using stack = new AsyncDisposableStack()
  const cloud = stack.use(await openCloudDatabase(postgres))
  const second = await addHost(cloud.db, 'host-2')
  const [one, two] = [new LaterHost(), new LaterHost(6000)]
  await prepare(cloud, one, two, second)
  await unfollow(cloud.db)
  const hosts = new Map([
    [cloud.host, one],
    [second, two],
  ])
  stack.use(startRecovering(cloud.db, 'a', hosts))
  await untilRecovered(cloud.db)
  for (const id of hosts.keys()) await until('it is open', () => isOpen(cloud.db, id))
  const connect = ({ id }: { readonly id: HostId }) => (hosts.get(id) as LaterHost).link.api
  const moved = stack.move()
  return {
    cloud,
    db: cloud.db,
    one,
    two,
    second,
    context: { db: cloud.db, connect },
    [Symbol.asyncDispose]: () => moved.disposeAsync(),
  }
}

test('an orphan VM is adopted unchanged from its VM spec, and accepts orders again', async () => {
  const incarnation = numbered(5500)
  await using site = await recovered(async ({ principal }, one) => {
    await one.make(orphan, 'on', incarnation, specOf('grown', principal.org, grown))
  })
  const { cloud, db, one, context } = site
  const boot = one.host.find(orphan)?.boot
  assert.deepEqual((await adoptVm(context, { vm: orphan })).vapp, grown)
  const row = await vmOf(db, orphan)
  assert.deepEqual(
    [row.displayed_status, row.desired_power, row.name, row.host, row.incarnation, row.vapp],
    ['POWERED_ON', 'POWERED_ON', 'grown', cloud.host, incarnation, grown],
  )
  assert.equal(one.host.find(orphan)?.boot, boot, 'its guest was not changed')
  assert.equal((await recordOf(one, orphan))?.highest, row.fence)
  assert.deepEqual(await db.selectFrom('orphan').selectAll().execute(), [])
  assert.deepEqual(await toldOf(db, orphan), ['vm.orphaned', 'vm.adopted'])
  await adoptVm(context, { vm: orphan })
  assert.ok(
    (await ask(cloud, 'powerOff', orphan)).id,
    'a second adoption changes nothing, and the VM accepts operations',
  )
})

test('the organisation can be given if the original one no longer exists; it is never guessed', async () => {
  await using site = await recovered(async (_, one) => {
    await one.make(orphan, 'off', '7', specOf('lonely', grown, grown))
  })
  const { context, cloud, db } = site
  await assert.rejects(adoptVm(context, { vm: orphan }), (fault: Fault) => {
    assert.equal(fault.kind, 'conflict')
    assert.match(fault.hint ?? '', /--org/)
    return true
  })
  await assert.rejects(adoptVm(context, { vm: orphan, org: 'nobody' }), { kind: 'not-found' })
  await adoptVm(context, { vm: orphan, org: 'eng', vapp: 'found', name: 'kept' })
  const row = await vmOf(db, orphan)
  assert.deepEqual(
    [row.org, row.name, row.displayed_status],
    [cloud.principal.org, 'kept', 'POWERED_OFF'],
  )
  const unknown = '01980000-0000-7000-8000-000000001111' as VmId
  await assert.rejects(adoptVm(context, { vm: unknown }), { kind: 'not-found' })
})

test('a VM that is missing on its host can be adopted on another; a VM that is not missing cannot', async () => {
  let [missing, sound] = ['', ''] as [VmId | '', VmId | '']
  await using site = await recovered(async (cloud, one, two) => {
    const made = (await cloud.addVms(2, 'POWERED_ON')).vms as [VmId, VmId]
    ;[missing, sound] = made
    await one.make(made[1], 'on')
    await two.make(made[0], 'on', numbered(5600))
    await two.make(made[1], 'on', numbered(5700))
  })
  const { db, context, second } = site
  const vm = missing as VmId
  assert.equal((await vmOf(db, vm)).displayed_status, 'MISSING')
  await assert.rejects(ask(site.cloud, 'powerOff', vm), /can only be deleted/)
  await adoptVm(context, { vm })
  assert.deepEqual(
    [(await vmOf(db, vm)).displayed_status, (await vmOf(db, vm)).host],
    ['POWERED_ON', second],
  )
  const taken = adoptVm(context, { vm: sound as VmId, host: second })
  await assert.rejects(taken, /has not lost it/)
})

test('a VM whose orders were lost is rejected until it is adopted with a new fencing token', async () => {
  let vm = '' as VmId
  await using site = await recovered(async (cloud, one) => {
    ;[vm] = (await cloud.addVms(1, 'POWERED_ON')).vms as [VmId]
    await one.make(vm, 'on')
    one.host.loseRecord(vm)
  })
  const { db, one, context } = site
  const order = (number: string) => ({
    vm,
    task: 't' as TaskId,
    key: `t:${number}`,
    fencingToken: number,
    incarnation: '1',
  })
  const off = { goal: 'power', to: 'off' } as const
  const refused = one.host.step(order(numbered(2 ** 30)), off)
  await assert.rejects(refused, { kind: 'wrong-state', detail: 'quarantined' })
  await adoptVm(context, { vm })
  const { fence: number } = await vmOf(db, vm)
  assert.deepEqual((await recordOf(one, vm))?.highest, number)
  await assert.rejects(one.host.step(order(numbered(9000)), off), { kind: 'stale' })
  assert.equal((await vmOf(db, vm)).displayed_status, 'POWERED_ON')
})

test('a host that lost its fencing tokens is accepted as it is by an administrator', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { db, host } = cloud
  const [here, gone] = (await cloud.addVms(2, 'POWERED_ON')).vms as [VmId, VmId]
  await nextSession(db, host, 'test')
  await db
    .updateTable('host')
    .set({ highest: String(await highestNumber(db)) })
    .execute()
  const old = simulatedHost({ vms: [vmAt(here, 'on')] })
  const following = followed(db, host, new CutHost(old)).catch((error: Error) => error)
  const row = () =>
    db.selectFrom('host').selectAll().where('id', '=', host).executeTakeFirstOrThrow()
  await until('it is in quarantine', async () => (await row()).quarantine !== null)
  assert.equal(await adoptHost({ db, connect: () => old }, host), 1)
  const opened = await following
  assert.ok(!(opened instanceof Error))
  assert.equal((await vmOf(db, here)).displayed_status, 'POWERED_ON')
  assert.equal((await vmOf(db, gone)).displayed_status, 'MISSING')
  await assert.rejects(adoptHost({ db, connect: () => old }, host), /not in quarantine/)
  await opened[Symbol.asyncDispose]()
})

test('VMs of a lost host are LOST: their tasks end, deletion needs no host, and the host is never used again', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { db, host } = cloud
  const [on, going, later] = (await cloud.addVms(3)).vms as [VmId, VmId, VmId]
  await unfollow(db)
  const start = await ask(cloud, 'powerOn', on)
  const remove = await ask(cloud, 'delete', going)
  const goal = { goal: 'gone' } as const
  await deferUndo(db, { host, vm: later, incarnation: '1', goal, task: start.id })
  assert.equal(await declareLost(db, host), 3)
  assert.equal((await taskOf(db, start.id)).state, 'error')
  assert.deepEqual(await db.selectFrom('pending_undo').selectAll().execute(), [])
  assert.equal((await vmOf(db, on)).displayed_status, 'LOST')
  await assert.rejects(ask(cloud, 'powerOn', on), /lost with its host; it can only be deleted/)

  const away = () => assert.fail('no order is sent to a lost host')
  const context = { db, wake: () => undefined, hosts: away, seal }
  const running = () => ({ signal: new AbortController().signal })
  const verbs = new Activities(context, operations, { perHost: 10, perOrg: 10 }, running)
  const removed = [remove, await ask(cloud, 'delete', on)]
  for (const { id, vm } of removed) {
    const plan = await verbs.claimTask(vm as VmId, 'run')
    assert.ok(plan)
    for (const { name } of plan.steps) await verbs.runStep(plan, name)
    await verbs.endTask(plan)
    assert.equal((await taskOf(db, id)).state, 'success')
    assert.notEqual((await vmOf(db, vm as VmId)).deleted_at, null)
  }
  const row = await db.selectFrom('host').selectAll().executeTakeFirstOrThrow()
  assert.deepEqual(
    [row.placed_cpus, row.state, row.enabled],
    [1, 'lost', false],
    'its capacity is free again',
  )
  assert.equal(await nextSession(db, host, 'test'), undefined)
})

test('a dump restored in a new cluster: the era rises above all seen ones, and recorded events remain', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { db, host } = cloud
  const [vm] = (await cloud.addVms(1, 'POWERED_ON')).vms as [VmId]
  await ask(cloud, 'powerOff', vm)
  // From a cluster with a higher transaction counter, on its fourth timeline.
  await db
    .updateTable('event')
    .set({ tx: '99999999' as never })
    .execute()
  const later = new LaterHost(5000 + 3 * 2 ** 40)
  await later.make(vm, 'on')
  assert.equal(await beginNewEra(db), true)
  assert.equal(await beginNewEra(db), false, 'said once')
  assert.deepEqual(
    (await recoveryStatus(db)).hosts.map(({ is }) => is),
    ['waited for'],
  )
  await unfollow(db)
  await using _ = startRecovering(db, 'a', new Map([[host, later]]))
  await untilRecovered(db)
  assert.ok(
    (await highestNumber(db)) >> 40n > 4n,
    'also above the numbers that the old database may still issue',
  )
  const reported = await db
    .selectFrom('event')
    .select('kind')
    .orderBy('tx')
    .orderBy('seq')
    .execute()
  assert.deepEqual(
    reported.slice(0, 2).map(({ kind }) => kind),
    ['task.queued', 'cloud.recovering'],
  )
})
