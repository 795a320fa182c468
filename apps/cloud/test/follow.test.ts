// Goal: the status of a VM is what its host reports, and unknown states are not guessed. Method: the followers themselves, on a real
// Postgres, with simulated hosts whose links can be cut; once over real mTLS.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'

import type { Fault } from '@skerry/fault'
import { connectHost, hostServer, type Goal, type HostApi } from '@skerry/host-api'
import { startIssuer, until, type Postgres } from '@skerry/lab'
import { simulatedHost } from '@skerry/lab/simulated-host'
import { raiseAbove } from '@skerry/postgres'
import type { HostId, TaskId, VmId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import type { RequestContext } from '../src/context.ts'
import type { CloudTables } from '../src/database/tables.ts'
import { operationNamed } from '../src/operations/vm-operations.ts'
import { finishRecovery, waiveHost } from '../src/recovery/recovery.ts'
import { claimTask, isOpen } from '../src/tasks/claim-task.ts'
import { deferUndo } from '../src/tasks/pending-undo.ts'
import { submitTask } from '../src/tasks/submit-task.ts'
import { submit } from '../src/tasks/submit.ts'
import { CutHost, followed, vmAt } from './away-host.ts'
import {
  kindsOf,
  openCloudDatabase,
  startDatabases,
  vmOf,
  type CloudDatabase,
} from './cloud-database.ts'

let postgres: Postgres
before(async () => {
  postgres = await startDatabases()
})
after(() => postgres[Symbol.asyncDispose]())

const off: Goal = { goal: 'power', to: 'off' }
const task = '00000000-0000-4000-8000-000000000009' as TaskId

const hostOf = (db: Kysely<CloudTables>, id: HostId) =>
  db.selectFrom('host').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

/** Fencing tokens are strings here, of which '9' would sort after '10'. */
async function untilNextSession(db: Kysely<CloudTables>, id: HostId): Promise<void> {
  const sessionNow = async () => BigInt((await hostOf(db, id)).session)
  const first = await sessionNow()
  await until('a new session is open', async () => (await sessionNow()) > first)
}

async function oneVm(cloud: CloudDatabase, power: 'on' | 'off' | 'suspended' = 'on') {
  const status = ({ on: 'POWERED_ON', off: 'POWERED_OFF', suspended: 'SUSPENDED' } as const)[power]
  const [vm] = (await cloud.addVms(1, status)).vms as [VmId]
  await cloud.db.updateTable('vm').set({ desired_power: status }).execute()
  const host = simulatedHost({ vms: [vmAt(vm, power)] })
  const link = new CutHost(host)
  const shows = (word: string) =>
    until(`the VM is ${word}`, async () => (await vmOf(cloud.db, vm)).displayed_status === word)
  return { vm, host, link, shows }
}

test('hello, then pending undos, then the list: only then does a host accept work, and a new one is enabled', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { db, host: id } = cloud
  await db
    .updateTable('host')
    .set({ enabled: false, first_list_read: false, list_session: '0' })
    .execute()
  const { vm, host, link } = await oneVm(cloud)
  await deferUndo(db, { host: id, vm, incarnation: '1', goal: off, task })
  const whenPaid: boolean[] = []
  const watched: HostApi = {
    ...link.api,
    async step(...requested) {
      whenPaid.push(await isOpen(db, id))
      return link.api.step(...requested)
    },
  }
  await using _ = await followed(db, id, new CutHost(watched))
  assert.deepEqual(whenPaid, [false], 'the host accepts no work before its pending undos are done')
  assert.equal(host.find(vm)?.power, 'off')
  assert.equal((await vmOf(db, vm)).displayed_status, 'POWERED_OFF')
  assert.deepEqual(await db.selectFrom('pending_undo').selectAll().execute(), [])
  const row = await hostOf(db, id)
  assert.deepEqual([row.enabled, row.first_list_read, row.boot], [true, true, 'kernel-1'])
  assert.deepEqual([row.cpus, row.memory_mib], [64, 256 * 1024])
})

test('a host that an administrator has disabled stays disabled when it reconnects', async () => {
  await using cloud = await openCloudDatabase(postgres)
  await cloud.db.updateTable('host').set({ enabled: false }).execute()
  await using _ = await followed(cloud.db, cloud.host, new CutHost(simulatedHost()))
  assert.equal((await hostOf(cloud.db, cloud.host)).enabled, false)
})

test('a pending undo that a host rejects for good emits an event and blocks nothing', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { vm, link } = await oneVm(cloud, 'off')
  const goal = { goal: 'power', to: 'suspended' } as const
  await deferUndo(cloud.db, { host: cloud.host, vm, incarnation: '1', goal, task })
  await using _ = await followed(cloud.db, cloud.host, link)
  assert.deepEqual(await kindsOf(cloud.db), ['undo.refused'])
  assert.deepEqual(await cloud.db.selectFrom('pending_undo').selectAll().execute(), [])
})

test('a broken link makes its VMs UNKNOWN, never off; the next session reports their state', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { vm, host, link, shows } = await oneVm(cloud)
  await using following = await followed(cloud.db, cloud.host, link)
  await shows('POWERED_ON')
  await following.goAway()
  await shows('UNKNOWN')
  const row = await vmOf(cloud.db, vm)
  assert.equal(row.status, 'POWERED_ON', 'the last observed state is kept')
  assert.ok(row.seen_at, 'and when')
  host.reboot()
  await following.comeBack()
  await shows('POWERED_OFF')
  assert.equal(
    (await vmOf(cloud.db, vm)).desired_power,
    'POWERED_ON',
    'a reboot does not change the desired power',
  )
})

test('the desired power of a guest that shuts itself down becomes off; after a crash it does not', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { vm, host, link, shows } = await oneVm(cloud)
  const want = (wanted: 'POWERED_ON') =>
    cloud.db.updateTable('vm').set({ desired_power: wanted }).execute()
  const wanted = async () => (await vmOf(cloud.db, vm)).desired_power
  await using following = await followed(cloud.db, cloud.host, link)
  host.crash(vm)
  await shows('POWERED_OFF')
  assert.equal(await wanted(), 'POWERED_ON')
  host.changePower(vm, 'on')
  await shows('POWERED_ON')
  host.changePower(vm, 'off')
  await shows('POWERED_OFF')
  assert.equal(await wanted(), 'POWERED_OFF')

  await want('POWERED_ON')
  host.changePower(vm, 'on')
  await shows('POWERED_ON')
  await following.goAway()
  host.changePower(vm, 'off')
  await following.comeBack()
  await shows('POWERED_OFF')
  assert.equal(await wanted(), 'POWERED_OFF', 'also if it happened while the host was unreachable')

  await want('POWERED_ON')
  host.changePower(vm, 'on')
  await shows('POWERED_ON')
  await cloud.as(cloud.principal, (tx) =>
    submitTask(tx, operationNamed('suspend'), { vm, owner: 'alice' }),
  )
  host.changePower(vm, 'off')
  await shows('POWERED_OFF')
  assert.equal(
    await wanted(),
    'POWERED_ON',
    'while a task is open, the task sets the desired power',
  )
})

test('the next request is checked against the state that a guest reached by itself', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { vm, host, link, shows } = await oneVm(cloud)
  await using _ = await followed(cloud.db, cloud.host, link)
  host.changePower(vm, 'off')
  await shows('POWERED_OFF')
  const requested = cloud.as(cloud.principal, (tx) =>
    submitTask(tx, operationNamed('delete'), { vm, owner: 'alice' }),
  )
  assert.equal((await requested).state, 'queued')
})

test('a host that lost fencing tokens is quarantined with one event, and its reports are ignored', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { db, host: id } = cloud
  const { vm, link } = await oneVm(cloud, 'off')
  await db.updateTable('vm').set({ status: 'POWERED_ON' }).execute()
  await db.updateTable('host').set({ highest: '1099511627778' }).execute()
  await sql`select next_fence(), next_fence(), next_fence(), next_fence()`.execute(db)
  const following = followed(db, id, link).catch((error: Error) => error)
  await until('it is in quarantine', async () => (await hostOf(db, id)).quarantine !== null)
  await untilNextSession(db, id)
  await cloud.as(cloud.principal, (tx) =>
    submitTask(tx, operationNamed('powerOff'), { vm, owner: 'alice' }),
  )
  const rules = { perHost: 10, perOrg: 10, within: () => 60 }
  assert.equal(await claimTask(db, vm, 'run', rules), undefined, 'no task starts there')
  assert.deepEqual(await kindsOf(db), ['host.quarantined', 'task.queued'])
  assert.equal((await vmOf(db, vm)).displayed_status, 'UNKNOWN')
  await db.updateTable('host').set({ quarantine: null, highest: '0' }).execute()
  const opened = await following
  assert.ok(!(opened instanceof Error), 'an administrator has decided')
  await opened[Symbol.asyncDispose]()
})

test('a host with higher fencing tokens than the database starts a recovery', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { db, host: id } = cloud
  const { vm } = await oneVm(cloud)
  const link = new CutHost(simulatedHost({ hello: { highest: '2000000000000000000' } }))
  const following = followed(db, id, link).catch((error: Error) => error)
  const recovering = () => db.selectFrom('cloud').select('recovering').executeTakeFirstOrThrow()
  await until('the recovery has started', async () => (await recovering()).recovering)
  await untilNextSession(db, id)
  assert.deepEqual(await kindsOf(db), ['cloud.recovering'], 'said once')
  const as: RequestContext['as'] = (principal, work) => cloud.as(principal, work)
  const context = { as, wake: () => undefined } as unknown as RequestContext
  const requested = submit(
    context,
    { principal: cloud.principal, request: undefined },
    async (tx, taskId) => ({
      task: await submitTask(tx, operationNamed('powerOff'), { vm, owner: 'alice', id: taskId }),
      vms: [vm],
      operations: [operationNamed('powerOff')],
    }),
  )
  await assert.rejects(requested, (fault: Fault) => fault.kind === 'unavailable')
  // The tokens of a waived host do not count: it is still ahead, so here the database is set to its token.
  await waiveHost(db, id)
  await raiseAbove(db, '2000000000000000000')
  assert.ok(await finishRecovery(db, 1))
  const opened = await following
  assert.ok(!(opened instanceof Error))
  await opened[Symbol.asyncDispose]()
})

test('a thousand VMs are listed in a few statements', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { vms } = await cloud.addVms(1000, 'POWERED_OFF')
  let statements = 0
  const counting = cloud.db.withPlugin({
    transformQuery: ({ node }) => {
      statements += 1
      return node
    },
    transformResult: async ({ result }) => result,
  })
  const host = simulatedHost({ vms: vms.map((vm) => vmAt(vm, 'on')) })
  await using _ = await followed(cloud.db, cloud.host, new CutHost(host), counting)
  const requested = statements
  const on = await cloud.db
    .selectFrom('vm')
    .select('id')
    .where('displayed_status', '=', 'POWERED_ON')
    .execute()
  assert.equal(on.length, 1000)
  assert.ok(requested <= 30, `${requested} statements`)
})

test('over real mTLS: reports of the host are recorded, and a broken link leads to a new session', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { vm, host, shows } = await oneVm(cloud)
  await using control = await startIssuer('control')
  await using hosts = await startIssuer('hosts')
  const pair = await hosts.issue(`URI:skerry://lab/host/${cloud.host}`)
  const cell = await control.issue('URI:skerry://lab/cell/c1')
  const epochs = { highest: 0, raise: async () => undefined }
  const server = hostServer({ ...pair, ca: control.cert }, host, { cloud: 'lab', epochs })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  using link = connectHost({
    address: '127.0.0.1',
    port,
    hostId: cloud.host,
    tls: { ...cell, ca: hosts.cert },
  })
  const cut = new CutHost(link)
  const following = await followed(cloud.db, cloud.host, cut)
  await shows('POWERED_ON')
  host.changePower(vm, 'off')
  await shows('POWERED_OFF')
  assert.equal((await vmOf(cloud.db, vm)).desired_power, 'POWERED_OFF', 'the reason was reported')
  const { session } = await hostOf(cloud.db, cloud.host)
  server.closeAllConnections()
  await until('a new session is open', async () => {
    const row = await hostOf(cloud.db, cloud.host)
    return BigInt(row.session) > BigInt(session) && row.list_session === row.session
  })
  await shows('POWERED_OFF')
  await following[Symbol.asyncDispose]()
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
})
