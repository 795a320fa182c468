// Goal: after a restore nothing is done twice, and every VM is accounted for. Method: followers and recovery on a
// real Postgres, with simulated hosts that have orders unknown to this database.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { until, type Postgres } from '@skerry/lab'
import { simulatedHost } from '@skerry/lab/simulated-host'
import type { HostId, TaskId, VmId } from '@skerry/vm'
import { sql } from 'kysely'

import { operationNamed } from '../src/operations/vm-operations.ts'
import { reconcilePower } from '../src/reconcile/power.ts'
import { waiveHost } from '../src/recovery/recovery.ts'
import { claimTask, isOpen } from '../src/tasks/claim-task.ts'
import { deferUndo } from '../src/tasks/pending-undo.ts'
import { submitTask } from '../src/tasks/submit-task.ts'
import { takeUnattended } from '../src/tasks/unattended.ts'
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

const rules = { perHost: 10, perOrg: 10, within: () => 60 }
const orphan = '01980000-0000-7000-8000-00000000abcd' as VmId
const debtor = '01980000-0000-7000-8000-00000000dddd' as VmId

const hostOf = (db: CloudDatabase['db'], id: HostId) =>
  db.selectFrom('host').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

const ask = (cloud: CloudDatabase, name: string, vm: VmId) =>
  cloud.as(cloud.principal, (tx) => submitTask(tx, operationNamed(name), { vm, owner: 'alice' }))

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
  await db.updateTable('vm').set({ desired_power: 'POWERED_ON' }).execute()
  await db.updateTable('vm').set({ host: second }).where('id', '=', other).execute()
  const requested = [
    await ask(cloud, 'powerOff', sound),
    await ask(cloud, 'create', unmade),
    await ask(cloud, 'reset', other),
  ]
  const task = requested[0]?.id as TaskId
  await deferUndo(db, {
    host,
    vm: sound,
    incarnation: '1',
    goal: { goal: 'power', to: 'off' },
    task,
  })
  await deferUndo(db, { host, vm: debtor, incarnation: '1', goal: { goal: 'gone' }, task })

  const one = new LaterHost()
  const two = new LaterHost(7000)
  await one.make(sound, 'on')
  await one.make(deleted)
  await one.order(deleted, { goal: 'gone' })
  await one.make(relived, 'on', numbered(5100))
  await one.make(orphan, 'on', numbered(5200), specOf('grown'))
  await one.make(debtor)
  await one.make(moved)
  await one.order(moved, { goal: 'gone' })
  await two.make(moved, 'on', numbered(7100))
  await two.make(other)
  const before = [...one.host.done, ...two.host.done]

  const shown = async (vm: VmId) => {
    const { displayed_status: word, desired_power: wanted, deleted_at } = await vmOf(db, vm)
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
    assert.equal(one.host.find(debtor), undefined, 'the undo without an expiry was executed')
    assert.deepEqual(
      await reconcilePower(db),
      [],
      'nothing is started for an outdated desired state',
    )
    for (const vm of [sound, relived, other]) seen.set(vm, await shown(vm))
  }
  const since = [...one.host.done, ...two.host.done].filter((key) => !before.includes(key))
  assert.deepEqual(
    since.filter((key) => !key.startsWith('undo-')),
    [],
    'nothing was executed again',
  )
  const look = async (vm: VmId) => (await shown(vm))[0]
  assert.deepEqual(seen.get(sound), ['POWERED_ON', 'POWERED_ON'])
  assert.deepEqual(seen.get(relived), ['POWERED_ON', 'POWERED_ON'])
  assert.deepEqual(
    seen.get(other),
    ['POWERED_OFF', 'POWERED_OFF'],
    'the observed state becomes the desired state',
  )
  assert.equal(await shown(deleted), 'deleted')
  assert.equal(await look(lost), 'MISSING')
  assert.equal(
    await look(moved),
    'MISSING',
    'a tombstone does not count if another host has the VM',
  )
  assert.equal(await look(unmade), 'FAILED_CREATION')
  for (const { id } of requested) {
    const ended = await taskOf(db, id)
    assert.deepEqual([ended.state, ended.fault], ['error', 'unavailable'])
    assert.match(ended.message ?? '', /restored from a backup.*try again/)
  }
  const orphans = await db.selectFrom('orphan').select(['host', 'vm']).orderBy('vm').execute()
  assert.deepEqual(
    new Map(orphans.map((each) => [each.vm, each.host])),
    new Map([
      [orphan, host],
      [moved, second],
    ]),
  )
  assert.deepEqual(await toldOf(db), ['cloud.recovering', 'cloud.recovered'])
  assert.deepEqual(await toldOf(db, orphan), ['vm.orphaned'])
  assert.deepEqual((await toldOf(db, deleted)).at(-1), 'vm.deleted')
  assert.deepEqual((await toldOf(db, lost)).at(-1), 'vm.missing')
  const { recovered } = await cloudOf(db)
  assert.deepEqual(recovered, {
    'vm.relived': 1,
    'vm.deleted': 1,
    'vm.unmade': 1,
    'vm.missing': 2,
    'undo.dropped': 1,
    'vm.orphaned': 2,
  })
  assert.ok(
    (await highestNumber(db)) > BigInt(numbered(7100 + 2 ** 20)),
    'new numbers are above all',
  )
})

test('while a host cannot be read no task starts and no change is accepted; the cloud waits for it, unless it is waived', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { db, host } = cloud
  const away = await addHost(db, 'host-2')
  const [vm, far] = (await cloud.addVms(2, 'POWERED_ON')).vms as [VmId, VmId]
  await db.updateTable('vm').set({ desired_power: 'POWERED_ON' }).execute()
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
  await until('one host was read', async () => (await hostOf(db, host)).recovery_read === 1)
  const task = await ask(cloud, 'powerOff', vm)
  assert.equal(await claimTask(db, vm, 'run', rules), undefined)
  assert.deepEqual(await takeUnattended(db, 10), [])
  assert.ok((await cloudOf(db)).recovering, 'the state of a host is not guessed')
  await until(
    'the task that was queued meanwhile has ended',
    async () => (await taskOf(db, task.id)).state === 'error',
  )

  await waiveHost(db, away)
  await untilRecovered(db)
  assert.equal((await vmOf(db, far)).displayed_status, 'UNKNOWN')
  two.link.fix()
  await until('it is seen', async () => (await vmOf(db, far)).displayed_status === 'POWERED_OFF')
  assert.equal(
    (await vmOf(db, far)).desired_power,
    'POWERED_OFF',
    'the observed state becomes the desired state',
  )
  assert.equal((await cloudOf(db)).recovery, 1, 'it is too late to stop the cloud again')
  assert.deepEqual(await reconcilePower(db), [])
  assert.ok(await ask(cloud, 'powerOff', vm), 'everything is accepted again')
})

test('two cells read their hosts; if one dies in the middle, the other reads the rest', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { db, host } = cloud
  const ids = [host]
  for (let n = 2; n <= 6; n += 1) ids.push(await addHost(db, `host-${n}`))
  const hosts = new Map(ids.map((id, at) => [id, new LaterHost(5000 + at)]))
  for (const each of hosts.values()) {
    await each.make(orphan, 'off', numbered(4000))
    each.link.cut()
  }
  hosts.get(host)?.link.fix()
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
  for (const each of hosts.values()) each.link.fix()
  await untilRecovered(db)
  await allOpen(cloud, ids)
  assert.equal((await cloudOf(db)).recovered?.['vm.orphaned'], 6)
})

test('a promoted standby without the last transactions is detected by its counter', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { db, host } = cloud
  const [vm] = (await cloud.addVms(1, 'POWERED_ON')).vms as [VmId]
  // The timeline of a promoted standby: its fencing tokens are above all of the old primary's.
  await sql`update fence_era set raised = raised + 1`.execute(db)
  const later = new LaterHost()
  await later.make(vm, 'on')
  assert.ok((await highestNumber(db)) > BigInt(numbered(6000)))
  await unfollow(db)
  await using _ = startRecovering(db, 'a', new Map([[host, later]]))
  await untilRecovered(db)
  await allOpen(cloud, [host])
  assert.ok((await highestNumber(db)) % 2n ** 40n > 5000n + 2n ** 20n)
})

test('a restarted cell uses no host before it has heard from it, even if the rows say that it is open', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { db, host } = cloud
  // As in a backup, or as a killed cell of the same name has left it.
  const left = { follower: 'again', follow_until: sql<Date>`clock_timestamp() - interval '1 h'` }
  await db
    .updateTable('host')
    .set({ ...left, session: '5', list_session: '5' })
    .execute()
  const whenAsked: boolean[] = []
  const simulated = simulatedHost()
  const follow = simulated.follow.bind(simulated)
  simulated.follow = async function* watched(...requested) {
    whenAsked.push(await isOpen(db, host))
    yield* follow(...requested)
  }
  await using _ = startRecovering(db, 'again', new Map([[host, new LaterHost(5000, simulated)]]))
  await allOpen(cloud, [host])
  assert.deepEqual(whenAsked, [false])
})
