// Goal: after a restore nothing is done that was done already, and every VM is accounted for. Method: followers and recovery on a
// real Postgres, with simulated hosts that were ordered things this database has never heard of.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { simulatedHost, until, type Postgres } from '@skerry/lab'
import type { HostId, TaskId, VmId } from '@skerry/vm'
import { sql } from 'kysely'

import { operationNamed } from '../src/operations.ts'
import { reconcilePower } from '../src/reconcile/power.ts'
import { claimTask, isOpen } from '../src/store/claim-task.ts'
import { owe } from '../src/store/debts.ts'
import { waiveHost } from '../src/store/recovery.ts'
import { submitTask } from '../src/store/submit-task.ts'
import { takeUnattended } from '../src/store/unattended.ts'
import {
  addHost,
  openCloudDatabase,
  startDatabases,
  taskOf,
  vmOf,
  type CloudDatabase,
} from './cloud-database.ts'
import {
  cloudOf,
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

const rules = { perHost: 10, perOrg: 10, within: () => 60 }
const stray = '01980000-0000-7000-8000-00000000abcd' as VmId
const debtor = '01980000-0000-7000-8000-00000000dddd' as VmId

const hostOf = (db: CloudDatabase['db'], id: HostId) =>
  db.selectFrom('host').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

const ask = (cloud: CloudDatabase, name: string, vm: VmId) =>
  cloud.as(cloud.who, (tx) => submitTask(tx, operationNamed(name), { vm, owner: 'alice' }))

const allOpen = (cloud: CloudDatabase, hosts: readonly HostId[]) =>
  until('all hosts are open', async () => {
    const open = await Promise.all(hosts.map((id) => isOpen(cloud.db, id)))
    return open.every(Boolean)
  })

test('every row and every VM of a host is accounted for, and nothing is sent to any host', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { db, host } = cloud
  const second = await addHost(db, 'host-2')
  const { vms } = await cloud.addVms(6, 'POWERED_ON')
  const [sound, deleted, lost, relived, moved, other] = vms as [VmId, VmId, VmId, VmId, VmId, VmId]
  const [unmade] = (await cloud.addVms(1, 'UNRESOLVED')).vms as [VmId]
  await db.updateTable('vm').set({ wanted: 'POWERED_ON' }).execute()
  await db.updateTable('vm').set({ host: second }).where('id', '=', other).execute()
  const asked = [
    await ask(cloud, 'powerOff', sound),
    await ask(cloud, 'create', unmade),
    await ask(cloud, 'reset', other),
  ]
  const task = asked[0]?.id as TaskId
  await owe(db, { host, vm: sound, incarnation: '1', goal: { be: 'power', to: 'off' }, task })
  await owe(db, { host, vm: debtor, incarnation: '1', goal: { be: 'gone' }, task })

  const one = new LaterHost()
  const two = new LaterHost(7000)
  await one.make(sound, 'on')
  await one.make(deleted)
  await one.order(deleted, { be: 'gone' })
  await one.make(relived, 'on', numbered(5100))
  await one.make(stray, 'on', numbered(5200), deedOf('grown'))
  await one.make(debtor)
  await one.make(moved)
  await one.order(moved, { be: 'gone' })
  await two.make(moved, 'on', numbered(7100))
  await two.make(other)
  const before = [...one.host.done, ...two.host.done]

  const shown = async (vm: VmId) => {
    const { shown: word, wanted, deleted_at } = await vmOf(db, vm)
    return deleted_at === null ? [word, wanted] : 'deleted'
  }
  const seen = new Map<VmId, unknown>()
  await unfollow(db)
  const hosts = new Map([
    [host, one],
    [second, two],
  ])
  {
    await using _ = startRecovering(db, 'a', hosts)
    await untilRecovered(db)
    await allOpen(cloud, [...hosts.keys()])
    assert.equal(one.host.find(debtor), undefined, 'what is owed for ever was paid')
    assert.deepEqual(await reconcilePower(db), [], 'nothing is started for what was wanted once')
    for (const vm of [sound, relived, other]) seen.set(vm, await shown(vm))
  }
  const since = [...one.host.done, ...two.host.done].filter((key) => !before.includes(key))
  assert.deepEqual(
    since.filter((key) => !key.startsWith('debt-')),
    [],
    'nothing was done again',
  )
  const look = async (vm: VmId) => (await shown(vm))[0]
  assert.deepEqual(seen.get(sound), ['POWERED_ON', 'POWERED_ON'])
  assert.deepEqual(seen.get(relived), ['POWERED_ON', 'POWERED_ON'])
  assert.deepEqual(seen.get(other), ['POWERED_OFF', 'POWERED_OFF'], 'as it is, it is wanted')
  assert.equal(await shown(deleted), 'deleted')
  assert.equal(await look(lost), 'MISSING')
  assert.equal(await look(moved), 'MISSING', 'a tombstone does not count where another host has it')
  assert.equal(await look(unmade), 'FAILED_CREATION')
  for (const { id } of asked) {
    const ended = await taskOf(db, id)
    assert.deepEqual([ended.state, ended.fault], ['error', 'unavailable'])
    assert.match(ended.message ?? '', /restored from a backup.*ask again/)
  }
  const strays = await db.selectFrom('stray').select(['host', 'vm']).orderBy('vm').execute()
  assert.deepEqual(
    new Map(strays.map((each) => [each.vm, each.host])),
    new Map([
      [stray, host],
      [moved, second],
    ]),
  )
  assert.deepEqual(await toldOf(db), ['cloud.recovering', 'cloud.recovered'])
  assert.deepEqual(await toldOf(db, stray), ['vm.stray'])
  assert.deepEqual((await toldOf(db, deleted)).at(-1), 'vm.deleted')
  assert.deepEqual((await toldOf(db, lost)).at(-1), 'vm.missing')
  const { recovered } = await cloudOf(db)
  assert.deepEqual(recovered, {
    ...{ 'vm.relived': 1, 'vm.deleted': 1, 'vm.unmade': 1, 'vm.missing': 2 },
    ...{ 'debt.dropped': 1, 'vm.stray': 2 },
  })
  assert.ok((await highestNumber(db)) > BigInt(numbered(7100 + 2 ** 20)), 'numbers are above all')
})

test('while a host cannot be read nothing is begun or accepted; it is waited for, or done without', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { db, host } = cloud
  const away = await addHost(db, 'host-2')
  const [vm, far] = (await cloud.addVms(2, 'POWERED_ON')).vms as [VmId, VmId]
  await db.updateTable('vm').set({ wanted: 'POWERED_ON' }).execute()
  await db.updateTable('vm').set({ host: away }).where('id', '=', far).execute()
  const [one, two] = [new LaterHost(), new LaterHost()]
  await one.make(vm, 'on')
  await two.make(far, 'off')
  two.link.cut()
  await unfollow(db)
  await using _ = startRecovering(
    db,
    'a',
    new Map([
      [host, one],
      [away, two],
    ]),
  )
  await until('one host is read', async () => (await hostOf(db, host)).read_in === 1)
  const task = await ask(cloud, 'powerOff', vm)
  assert.equal(await claimTask(db, vm, 'run', rules), undefined)
  assert.deepEqual(await takeUnattended(db, 10), [])
  assert.ok((await cloudOf(db)).recovering, 'nobody guesses what a host has')
  await until(
    'what slipped in has ended',
    async () => (await taskOf(db, task.id)).state === 'error',
  )

  await waiveHost(db, away)
  await untilRecovered(db)
  assert.equal((await vmOf(db, far)).shown, 'UNKNOWN')
  two.link.mend()
  await until('it is seen', async () => (await vmOf(db, far)).shown === 'POWERED_OFF')
  assert.equal((await vmOf(db, far)).wanted, 'POWERED_OFF', 'what it is seen as is wanted')
  assert.equal((await cloudOf(db)).recovery, 1, 'it comes too late to stop the cloud again')
  assert.deepEqual(await reconcilePower(db), [])
  assert.ok(await ask(cloud, 'powerOff', vm), 'everything is accepted again')
})

test('two cells read their hosts; one that dies in the middle leaves the rest to the other', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { db, host } = cloud
  const ids = [host]
  for (let n = 2; n <= 6; n += 1) ids.push(await addHost(db, `host-${n}`))
  const hosts = new Map(ids.map((id, at) => [id, new LaterHost(5000 + at)]))
  for (const each of hosts.values()) {
    await each.make(stray, 'off', numbered(4000))
    each.link.cut()
  }
  hosts.get(host)?.link.mend()
  await unfollow(db)
  await using _ = startRecovering(db, 'a', hosts)
  {
    await using dying = startRecovering(db, 'b', hosts)
    assert.ok(dying)
    await until('the cloud recovers', async () => (await cloudOf(db)).recovering)
    const held = async () =>
      (await db.selectFrom('host').select('id').where('follower', '=', 'b').execute()).length
    await until('they share the hosts', async () => (await held()) === 3)
  }
  for (const each of hosts.values()) each.link.mend()
  await untilRecovered(db)
  await allOpen(cloud, ids)
  assert.equal((await cloudOf(db)).recovered?.['vm.stray'], 6)
})

test('a standby that was promoted without the last of it is found out by its counter', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { db, host } = cloud
  const [vm] = (await cloud.addVms(1, 'POWERED_ON')).vms as [VmId]
  // The timeline of a promoted standby: its numbers are above all of the old primary's.
  await sql`update number_era set raised = raised + 1`.execute(db)
  const later = new LaterHost()
  await later.make(vm, 'on')
  assert.ok((await highestNumber(db)) > BigInt(numbered(6000)))
  await unfollow(db)
  await using _ = startRecovering(db, 'a', new Map([[host, later]]))
  await untilRecovered(db)
  await allOpen(cloud, [host])
  assert.ok((await highestNumber(db)) % 2n ** 40n > 5000n + 2n ** 20n)
})

test('a cell that is started again opens no host before it has heard it, whatever its rows say', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { db, host } = cloud
  // As a backup has it, or a killed cell of the same name has left it.
  const left = { follower: 'again', follow_until: sql<Date>`clock_timestamp() - interval '1 h'` }
  await db
    .updateTable('host')
    .set({ ...left, session: '5', listed: '5' })
    .execute()
  const whenAsked: boolean[] = []
  const simulated = simulatedHost()
  const follow = simulated.follow.bind(simulated)
  simulated.follow = async function* watched(...asked) {
    whenAsked.push(await isOpen(db, host))
    yield* follow(...asked)
  }
  await using _ = startRecovering(db, 'again', new Map([[host, new LaterHost(5000, simulated)]]))
  await allOpen(cloud, [host])
  assert.deepEqual(whenAsked, [false])
})
