// Goal: what clients see of a VM or a task changes with an event, and only then. Method: the statements themselves, on a real Postgres.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { until, type Postgres } from '@skerry/lab'
import { simulatedHost } from '@skerry/lab/simulated-host'
import { networkOf, type TaskId, type Vm, type VmId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import type { CloudTables } from '../src/database/tables.ts'
import { loseSight, recordSeen } from '../src/inventory/vms.ts'
import { operationNamed } from '../src/operations/vm-operations.ts'
import { claimTask } from '../src/tasks/claim-task.ts'
import { cancelTask, endTask } from '../src/tasks/end-task.ts'
import { submitTask } from '../src/tasks/submit-task.ts'
import { CutHost, followed, vmAt } from './away-host.ts'
import { openCloudDatabase, startDatabases, type CloudDatabase } from './cloud-database.ts'

let postgres: Postgres
before(async () => {
  postgres = await startDatabases()
})
after(() => postgres[Symbol.asyncDispose]())

const eventsOf = ({ db }: CloudDatabase) =>
  db.selectFrom('event').select(['kind', 'org', 'vm', 'task', 'details']).orderBy('seq').execute()

const submit = (cloud: CloudDatabase, vm: VmId, name: string) =>
  cloud.as(cloud.principal, (tx) => submitTask(tx, operationNamed(name), { vm, owner: 'alice' }))

const rules = { perHost: 10, perOrg: 10, within: () => 60 }

let seq = 0
const see = (
  db: Kysely<CloudTables>,
  { host }: CloudDatabase,
  vms: readonly VmId[],
  more: Partial<Vm>,
) =>
  recordSeen(
    db,
    host,
    vms.map((id) => ({ id, session: '9', seq: (seq += 1), vm: { ...vmAt(id, 'on'), ...more } })),
  )

/** Counts the statements that are sent. */
function counted(db: Kysely<CloudTables>) {
  let sent = 0
  const counting = db.withPlugin({
    transformQuery: ({ node }) => {
      sent += 1
      return node
    },
    transformResult: async ({ result }) => result,
  })
  const statementsOf = async (work: (db: Kysely<CloudTables>) => Promise<unknown>) => {
    const before = sent
    await work(counting)
    return sent - before
  }
  return { statementsOf }
}

test('a power operation reports its start, the new status with the address, and its end; only the start costs a statement', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const [vm] = (await cloud.addVms(1)).vms as [VmId]
  const address = '10.84.0.77'
  const network = networkOf(cloud.principal.org)
  const card = { network, mac: '52:01:02:03:04:05', address }
  const { id: task } = await submit(cloud, vm, 'powerOn')
  const { statementsOf } = counted(cloud.db)
  let claim = { task: '' as TaskId, fence: '' }
  const claiming = await statementsOf(async (db) => {
    const claimed = (await claimTask(db, vm, 'run', rules)) ?? assert.fail('nothing to claim')
    claim = { task: claimed.task.id, fence: claimed.fence }
  })
  const seeing = await statementsOf((db) => see(db, cloud, [vm], { card }))
  const ending = await statementsOf((db) => endTask(db, claim))
  // The event of the start is the fifth of the claim; a trigger writes the one of the status.
  assert.deepEqual({ claiming, seeing, ending }, { claiming: 5, seeing: 1, ending: 7 })
  const org = cloud.principal.org
  const operation = { operation: 'powerOn' }
  assert.deepEqual(await eventsOf(cloud), [
    { kind: 'task.queued', org, vm, task, details: operation },
    { kind: 'task.running', org, vm, task, details: operation },
    { kind: 'vm.status', org, vm, task: null, details: { status: 'POWERED_ON', address } },
    { kind: 'task.success', org, vm, task, details: { ...operation, message: null } },
  ])
})

test('an observation that changes neither status nor address reports nothing; a new address is reported', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { vms } = await cloud.addVms(3, 'POWERED_ON')
  await see(cloud.db, cloud, vms, { boot: 'one' })
  await see(cloud.db, cloud, vms, { boot: 'two' })
  assert.deepEqual(await eventsOf(cloud), [])
  const card = { network: networkOf(cloud.principal.org), mac: '52:01:02:03:04:05' }
  const [vm] = vms as [VmId]
  await see(cloud.db, cloud, [vm], { card: { ...card, address: '10.84.0.78' } })
  await see(cloud.db, cloud, [vm], { card: { ...card, address: '10.84.0.78' } })
  const found = (await eventsOf(cloud)).map(({ kind, details }) => [kind, details])
  assert.deepEqual(found, [['vm.status', { status: 'POWERED_ON', address: '10.84.0.78' }]])
})

test('a task that starts again after a crash reports its start once', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const [vm] = (await cloud.addVms(1)).vms as [VmId]
  await submit(cloud, vm, 'powerOn')
  await claimTask(cloud.db, vm, 'run-1', rules)
  await sql`update vm set lease_until = clock_timestamp()`.execute(cloud.db)
  assert.ok(await claimTask(cloud.db, vm, 'run-2', rules))
  const kinds = (await eventsOf(cloud)).map(({ kind }) => kind)
  assert.deepEqual(kinds, ['task.queued', 'task.running'])
})

test('a lost host is one event for each organisation, with the number of its VMs; those that return are reported', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { db, host: id } = cloud
  const { vms } = await cloud.addVms(3, 'POWERED_ON')
  const other = await db
    .insertInto('org')
    .values({ name: 'ops' })
    .returning('id')
    .executeTakeFirstOrThrow()
  const { vms: theirs } = await cloud.addVms(2, 'POWERED_ON')
  // The VMs of another organisation on the same host.
  await sql`with centre as (insert into vdc (org, name) values (${other.id}, 'main') returning id),
    app as (insert into vapp (org, vdc, name, owner) select ${other.id}, id, 'app', 'bob' from centre returning id)
    update vm set org = ${other.id}, vapp = app.id from app where vm.id = any(${theirs}::uuid[])`.execute(
    db,
  )
  const simulated = simulatedHost({ vms: [...vms, ...theirs].map((vm) => vmAt(vm, 'on')) })
  await using following = await followed(db, id, new CutHost(simulated))
  assert.deepEqual(await eventsOf(cloud), [])
  await following.goAway()
  const told = async () =>
    (await eventsOf(cloud)).filter(({ kind }) => kind === 'vms.unknown').length === 2
  await until('it is reported', told)
  const lost = await eventsOf(cloud)
  const counts = new Map(lost.map(({ org, details }) => [org, details]))
  assert.deepEqual(
    counts,
    new Map([
      [cloud.principal.org, { count: 3 }],
      [other.id, { count: 2 }],
    ]),
  )
  assert.equal(lost.length, 2)
  // Those that are unknown already are not counted again.
  await loseSight(db, id)
  assert.equal((await eventsOf(cloud)).length, 2)
  await following.comeBack()
  const back = async () => (await eventsOf(cloud)).length === 7
  await until('the return of each VM is reported', back)
  const returned = (await eventsOf(cloud)).slice(2)
  assert.deepEqual(new Set(returned.map(({ kind }) => kind)), new Set(['vm.status']))
  assert.deepEqual(new Set(returned.map(({ vm }) => vm)), new Set([...vms, ...theirs]))
})

test('the end of a task that changes the status reports the status', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const [vm] = (await cloud.addVms(1, 'UNRESOLVED')).vms as [VmId]
  const { id } = await submit(cloud, vm, 'create')
  await cancelTask(cloud.db, id)
  const found = (await eventsOf(cloud)).map(({ kind, details }) => [kind, details['status']])
  assert.deepEqual(found, [
    ['task.queued', undefined],
    ['vm.status', 'FAILED_CREATION'],
    ['task.canceled', undefined],
  ])
})
