// Goal: what no row speaks of, what lost its orders and what was lost for good are put right by a person, and by nobody else.
// Method: real Postgres, simulated hosts that are followed, the same Activities that Temporal runs.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import type { Fault } from '@skerry/fault'
import { simulatedHost, until, type Postgres } from '@skerry/lab'
import type { HostId, TaskId, VmId } from '@skerry/vm'

import { adoptHost, adoptVm } from '../src/adopt.ts'
import { operationNamed, operations } from '../src/operations.ts'
import { isOpen } from '../src/store/claim-task.ts'
import { owe } from '../src/store/debts.ts'
import { declareLost } from '../src/store/host-states.ts'
import { nextSession } from '../src/store/hosts.ts'
import { beginNewEra, recoveryStatus } from '../src/store/recovery-status.ts'
import { submitTask } from '../src/store/submit-task.ts'
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
  deedOf,
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

const stray = '01980000-0000-7000-8000-00000000abcd' as VmId
const grown = '01980000-0000-7000-8000-00000000eeee'

const ask = (cloud: CloudDatabase, name: string, vm: VmId) =>
  cloud.as(cloud.who, (tx) => submitTask(tx, operationNamed(name), { vm, owner: 'alice' }))

const recordOf = async ({ host }: LaterHost, vm: VmId) =>
  (await Array.fromAsync(host.records())).find((each) => each.vm === vm)

/** Two hosts that have been read after a restore; they stay followed for as long as the test lasts. */
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
    ...{ cloud, db: cloud.db, one, two, second, world: { db: cloud.db, connect } },
    [Symbol.asyncDispose]: () => moved.disposeAsync(),
  }
}

test('a VM that no row speaks of is adopted from its deed, as it is, and can be ordered again', async () => {
  const incarnation = numbered(5500)
  await using site = await recovered(async ({ who }, one) => {
    await one.make(stray, 'on', incarnation, deedOf('grown', who.org, grown))
  })
  const { cloud, db, one, world } = site
  const boot = one.host.find(stray)?.boot
  assert.deepEqual((await adoptVm(world, { vm: stray })).vapp, grown)
  const row = await vmOf(db, stray)
  assert.deepEqual(
    [row.shown, row.wanted, row.name, row.host, row.incarnation, row.vapp],
    ['POWERED_ON', 'POWERED_ON', 'grown', cloud.host, incarnation, grown],
  )
  assert.equal(one.host.find(stray)?.boot, boot, 'its guest was not touched')
  assert.equal((await recordOf(one, stray))?.highest, row.number)
  assert.deepEqual(await db.selectFrom('stray').selectAll().execute(), [])
  assert.deepEqual(await toldOf(db, stray), ['vm.stray', 'vm.adopted'])
  await adoptVm(world, { vm: stray })
  assert.ok(
    (await ask(cloud, 'powerOff', stray)).id,
    'asked again it is the same; its owner has it',
  )
})

test('whose it is can be said where its organisation is no more; an unknown one is not guessed', async () => {
  await using site = await recovered(async (_, one) => {
    await one.make(stray, 'off', '7', deedOf('lonely', grown, grown))
  })
  const { world, cloud, db } = site
  await assert.rejects(adoptVm(world, { vm: stray }), (fault: Fault) => {
    assert.equal(fault.kind, 'conflict')
    assert.match(fault.hint ?? '', /--org/)
    return true
  })
  await assert.rejects(adoptVm(world, { vm: stray, org: 'nobody' }), { kind: 'not-found' })
  await adoptVm(world, { vm: stray, org: 'eng', vapp: 'found', name: 'kept' })
  const row = await vmOf(db, stray)
  assert.deepEqual([row.org, row.name, row.shown], [cloud.who.org, 'kept', 'POWERED_OFF'])
  const unknown = '01980000-0000-7000-8000-000000001111' as VmId
  await assert.rejects(adoptVm(world, { vm: unknown }), { kind: 'not-found' })
})

test('a VM that is missing where it was may be adopted where it is; one that is not cannot be taken', async () => {
  let [missing, sound] = ['', ''] as [VmId | '', VmId | '']
  await using site = await recovered(async (cloud, one, two) => {
    const made = (await cloud.addVms(2, 'POWERED_ON')).vms as [VmId, VmId]
    ;[missing, sound] = made
    await one.make(made[1], 'on')
    await two.make(made[0], 'on', numbered(5600))
    await two.make(made[1], 'on', numbered(5700))
  })
  const { db, world, second } = site
  const vm = missing as VmId
  assert.equal((await vmOf(db, vm)).shown, 'MISSING')
  await assert.rejects(ask(site.cloud, 'powerOff', vm), /can only be deleted/)
  await adoptVm(world, { vm })
  assert.deepEqual([(await vmOf(db, vm)).shown, (await vmOf(db, vm)).host], ['POWERED_ON', second])
  const taken = adoptVm(world, { vm: sound as VmId, host: second })
  await assert.rejects(taken, /has not lost it/)
})

test('a VM whose orders are lost is refused until it is adopted, under a new number', async () => {
  let vm = '' as VmId
  await using site = await recovered(async (cloud, one) => {
    ;[vm] = (await cloud.addVms(1, 'POWERED_ON')).vms as [VmId]
    await one.make(vm, 'on')
    one.host.loseRecord(vm)
  })
  const { db, one, world } = site
  const order = (number: string) => ({
    ...{ vm, task: 't' as TaskId, key: `t:${number}`, number, incarnation: '1' },
  })
  const off = { be: 'power', to: 'off' } as const
  const refused = one.host.step(order(numbered(2 ** 30)), off)
  await assert.rejects(refused, { kind: 'wrong-state', detail: 'quarantined' })
  await adoptVm(world, { vm })
  const { number } = await vmOf(db, vm)
  assert.deepEqual((await recordOf(one, vm))?.highest, number)
  await assert.rejects(one.host.step(order(numbered(9000)), off), { kind: 'stale' })
  assert.equal((await vmOf(db, vm)).shown, 'POWERED_ON')
})

test('a host that has forgotten numbers is taken as it is when a person says so', async () => {
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
  assert.equal((await vmOf(db, here)).shown, 'POWERED_ON')
  assert.equal((await vmOf(db, gone)).shown, 'MISSING')
  await assert.rejects(adoptHost({ db, connect: () => old }, host), /not in quarantine/)
  await opened[Symbol.asyncDispose]()
})

test('what a lost host had is LOST: tasks end, deletes need no host, and it never opens again', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { db, host } = cloud
  const [on, going, later] = (await cloud.addVms(3)).vms as [VmId, VmId, VmId]
  await unfollow(db)
  const start = await ask(cloud, 'powerOn', on)
  const remove = await ask(cloud, 'delete', going)
  const goal = { be: 'gone' } as const
  await owe(db, { host, vm: later, incarnation: '1', goal, task: start.id })
  assert.equal(await declareLost(db, host), 3)
  assert.equal((await taskOf(db, start.id)).state, 'error')
  assert.deepEqual(await db.selectFrom('debt').selectAll().execute(), [])
  assert.equal((await vmOf(db, on)).shown, 'LOST')
  await assert.rejects(ask(cloud, 'powerOn', on), /lost with its host: it can only be deleted/)

  const away = () => assert.fail('a lost host is asked nothing')
  const world = { db, ring: () => undefined, hosts: away, seal }
  const running = () => ({ signal: new AbortController().signal })
  const verbs = new Activities(world, operations, { perHost: 10, perOrg: 10 }, running)
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
    'room is free again',
  )
  assert.equal(await nextSession(db, host, 'test'), undefined)
})

test('a dump in a new cluster: the era rises above all that was seen, and what was told stays told', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { db, host } = cloud
  const [vm] = (await cloud.addVms(1, 'POWERED_ON')).vms as [VmId]
  await ask(cloud, 'powerOff', vm)
  // Of a cluster that has counted further, on its fourth timeline.
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
  assert.ok((await highestNumber(db)) >> 40n > 4n, 'also above what the old database may give out')
  const told = await db.selectFrom('event').select('kind').orderBy('tx').orderBy('seq').execute()
  assert.deepEqual(
    told.slice(0, 2).map(({ kind }) => kind),
    ['task.queued', 'cloud.recovering'],
  )
})
