// Goal: what is shown of a VM is what its host says, and nobody says more than they know. Method: the followers themselves, on a real
// Postgres, with simulated hosts whose links can be cut; once over real mTLS.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import type { Fault } from '@skerry/fault'
import { connectHost, hostServer, type Goal, type HostApi } from '@skerry/host-api'
import { simulatedHost, startIssuer, until, type Postgres } from '@skerry/lab'
import { raiseAbove } from '@skerry/postgres'
import type { HostId, TaskId, VmId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import { followHosts } from '../src/hosts/follow-hosts.ts'
import { operationNamed } from '../src/operations.ts'
import { claimTask, isOpen } from '../src/store/claim-task.ts'
import type { Database } from '../src/store/database.ts'
import { owe } from '../src/store/debts.ts'
import { finishRecovery, waiveHost } from '../src/store/recovery.ts'
import { submitTask } from '../src/store/submit-task.ts'
import { submit } from '../src/submit.ts'
import type { RequestWorld } from '../src/world.ts'
import { CutHost, followed, vmAt } from './away-host.ts'
import {
  addHost,
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

const off: Goal = { be: 'power', to: 'off' }
const task = '00000000-0000-4000-8000-000000000009' as TaskId

const hostOf = (db: Kysely<Database>, id: HostId) =>
  db.selectFrom('host').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

/** Numbers are text here, of which '9' is more than '10'. */
async function untilNextSession(db: Kysely<Database>, id: HostId): Promise<void> {
  const sessionNow = async () => BigInt((await hostOf(db, id)).session)
  const first = await sessionNow()
  await until('it has come again', async () => (await sessionNow()) > first)
}

async function oneVm(cloud: CloudDatabase, power: 'on' | 'off' | 'suspended' = 'on') {
  const status = ({ on: 'POWERED_ON', off: 'POWERED_OFF', suspended: 'SUSPENDED' } as const)[power]
  const [vm] = (await cloud.addVms(1, status)).vms as [VmId]
  await cloud.db.updateTable('vm').set({ wanted: status }).execute()
  const host = simulatedHost({ vms: [vmAt(vm, power)] })
  const link = new CutHost(host)
  const shows = (word: string) =>
    until(`the VM is ${word}`, async () => (await vmOf(cloud.db, vm)).shown === word)
  return { vm, host, link, shows }
}

test('hello, then debts, then the list: only then is a host open, a new one for the first time', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { db, host: id } = cloud
  await db.updateTable('host').set({ enabled: false, introduced: false, listed: '0' }).execute()
  const { vm, host, link } = await oneVm(cloud)
  await owe(db, { host: id, vm, incarnation: '1', goal: off, task })
  const whenPaid: boolean[] = []
  const watched: HostApi = {
    ...link.api,
    async step(...asked) {
      whenPaid.push(await isOpen(db, id))
      return link.api.step(...asked)
    },
  }
  await using _ = await followed(db, id, new CutHost(watched))
  assert.deepEqual(whenPaid, [false], 'nothing is open before its debts are paid')
  assert.equal(host.find(vm)?.power, 'off')
  assert.equal((await vmOf(db, vm)).shown, 'POWERED_OFF')
  assert.deepEqual(await db.selectFrom('debt').selectAll().execute(), [])
  const row = await hostOf(db, id)
  assert.deepEqual([row.enabled, row.introduced, row.boot], [true, true, 'kernel-1'])
  assert.deepEqual([row.cpus, row.memory_mib], [64, 256 * 1024])
})

test('a host that an administrator has disabled stays so when it comes back', async () => {
  await using cloud = await openCloudDatabase(postgres)
  await cloud.db.updateTable('host').set({ enabled: false }).execute()
  await using _ = await followed(cloud.db, cloud.host, new CutHost(simulatedHost()))
  assert.equal((await hostOf(cloud.db, cloud.host)).enabled, false)
})

test('a debt that a host refuses for good is told to people and keeps nobody waiting', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { vm, link } = await oneVm(cloud, 'off')
  const goal = { be: 'power', to: 'suspended' } as const
  await owe(cloud.db, { host: cloud.host, vm, incarnation: '1', goal, task })
  await using _ = await followed(cloud.db, cloud.host, link)
  assert.deepEqual(await kindsOf(cloud.db), ['debt.refused'])
  assert.deepEqual(await cloud.db.selectFrom('debt').selectAll().execute(), [])
})

test('a link that breaks makes its VMs UNKNOWN, never off; the next session brings the truth', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { vm, host, link, shows } = await oneVm(cloud)
  await using following = await followed(cloud.db, cloud.host, link)
  await shows('POWERED_ON')
  await following.goAway()
  await shows('UNKNOWN')
  const row = await vmOf(cloud.db, vm)
  assert.equal(row.status, 'POWERED_ON', 'what was last seen is kept')
  assert.ok(row.seen_at, 'and when')
  host.reboot()
  await following.comeBack()
  await shows('POWERED_OFF')
  assert.equal((await vmOf(cloud.db, vm)).wanted, 'POWERED_ON', 'a reboot is nobody’s wish')
})

test('a guest that shuts itself down is wanted off; one that crashes is not', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { vm, host, link, shows } = await oneVm(cloud)
  const want = (wanted: 'POWERED_ON') => cloud.db.updateTable('vm').set({ wanted }).execute()
  const wanted = async () => (await vmOf(cloud.db, vm)).wanted
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
  assert.equal(await wanted(), 'POWERED_OFF', 'also when it happened out of sight')

  await want('POWERED_ON')
  host.changePower(vm, 'on')
  await shows('POWERED_ON')
  await cloud.as(cloud.who, (tx) =>
    submitTask(tx, operationNamed('suspend'), { vm, owner: 'alice' }),
  )
  host.changePower(vm, 'off')
  await shows('POWERED_OFF')
  assert.equal(await wanted(), 'POWERED_ON', 'while a task is open the task says what is wanted')
})

test('what a guest does by itself is what the next request is judged by', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { vm, host, link, shows } = await oneVm(cloud)
  await using _ = await followed(cloud.db, cloud.host, link)
  host.changePower(vm, 'off')
  await shows('POWERED_OFF')
  const asked = cloud.as(cloud.who, (tx) =>
    submitTask(tx, operationNamed('delete'), { vm, owner: 'alice' }),
  )
  assert.equal((await asked).state, 'queued')
})

test('a host that forgot numbers is put in quarantine, said once, and nothing it says counts', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { db, host: id } = cloud
  const { vm, link } = await oneVm(cloud, 'off')
  await db.updateTable('vm').set({ status: 'POWERED_ON' }).execute()
  await db.updateTable('host').set({ highest: '1099511627778' }).execute()
  await sql`select next_number(), next_number(), next_number(), next_number()`.execute(db)
  const following = followed(db, id, link).catch((error: Error) => error)
  await until('it is in quarantine', async () => (await hostOf(db, id)).quarantine !== null)
  await untilNextSession(db, id)
  await cloud.as(cloud.who, (tx) =>
    submitTask(tx, operationNamed('powerOff'), { vm, owner: 'alice' }),
  )
  const rules = { perHost: 10, perOrg: 10, within: () => 60 }
  assert.equal(await claimTask(db, vm, 'run', rules), undefined, 'nothing is begun there')
  assert.deepEqual(await kindsOf(db), ['host.quarantined', 'task.queued'])
  assert.equal((await vmOf(db, vm)).shown, 'UNKNOWN')
  await db.updateTable('host').set({ quarantine: null, highest: '0' }).execute()
  const opened = await following
  assert.ok(!(opened instanceof Error), 'a person has decided')
  await opened[Symbol.asyncDispose]()
})

test('a host that knows higher numbers than the database stops the cloud: recovering', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { db, host: id } = cloud
  const { vm } = await oneVm(cloud)
  const link = new CutHost(simulatedHost({ hello: { highest: '2000000000000000000' } }))
  const following = followed(db, id, link).catch((error: Error) => error)
  const recovering = () => db.selectFrom('cloud').select('recovering').executeTakeFirstOrThrow()
  await until('it is found out', async () => (await recovering()).recovering)
  await untilNextSession(db, id)
  assert.deepEqual(await kindsOf(db), ['cloud.recovering'], 'said once')
  const as: RequestWorld['as'] = (who, work) => cloud.as(who, work)
  const world = { as, ring: () => undefined } as unknown as RequestWorld
  const asked = submit(world, { who: cloud.who, request: undefined }, async (tx, taskId) => ({
    task: await submitTask(tx, operationNamed('powerOff'), { vm, owner: 'alice', id: taskId }),
    vms: [vm],
  }))
  await assert.rejects(asked, (fault: Fault) => fault.kind === 'unavailable')
  // A waived host's numbers do not count: it is still ahead, and here it is simply given what it has.
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
  const asked = statements
  const on = await cloud.db
    .selectFrom('vm')
    .select('id')
    .where('shown', '=', 'POWERED_ON')
    .execute()
  assert.equal(on.length, 1000)
  assert.ok(asked <= 30, `${asked} statements`)
})

test('over real mTLS: what the host says is seen, and a broken link is a new session', async () => {
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
    ...{ address: '127.0.0.1', port, hostId: cloud.host, tls: { ...cell, ca: hosts.cert } },
  })
  const cut = new CutHost(link)
  const following = await followed(cloud.db, cloud.host, cut)
  await shows('POWERED_ON')
  host.changePower(vm, 'off')
  await shows('POWERED_OFF')
  assert.equal((await vmOf(cloud.db, vm)).wanted, 'POWERED_OFF', 'the reason came along')
  const { session } = await hostOf(cloud.db, cloud.host)
  server.closeAllConnections()
  await until('a new session is open', async () => {
    const row = await hostOf(cloud.db, cloud.host)
    return BigInt(row.session) > BigInt(session) && row.listed === row.session
  })
  await shows('POWERED_OFF')
  await following[Symbol.asyncDispose]()
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
})

/** A cell's followers, with beats that come as fast as the test needs them. */
function startCell(db: Kysely<Database>, cell: string, links: ReadonlyMap<HostId, CutHost>) {
  const stop = new AbortController()
  const world = {
    ...{ db, cell, log: () => undefined },
    connect: ({ id }: { readonly id: HostId }) => {
      const link = links.get(id)
      assert.ok(link)
      return link.api
    },
    pause: (ms: number, signal: AbortSignal) =>
      sleep(Math.min(ms, 20), undefined, { signal }).catch(() => undefined),
  }
  const over = followHosts(world, stop.signal)
  return {
    async [Symbol.asyncDispose]() {
      stop.abort()
      await over
    },
  }
}

const heldBy = async (db: Kysely<Database>, cell: string): Promise<number> =>
  (await db.selectFrom('host').select('id').where('follower', '=', cell).execute()).length

async function fiveHosts(db: Kysely<Database>, first: HostId) {
  const ids = [first]
  for (let n = 2; n <= 5; n += 1) ids.push(await addHost(db, `host-${n}`))
  await db.updateTable('host').set({ follower: null, follow_until: null, listed: '0' }).execute()
  return new Map(ids.map((id) => [id, new CutHost(simulatedHost())]))
}

const allOpen = (db: Kysely<Database>, ids: readonly HostId[]) =>
  until('all hosts are open', async () => {
    const open = await Promise.all(ids.map((id) => isOpen(db, id)))
    return open.every(Boolean)
  })

test('two cells share the hosts; one that stops leaves them all to the other', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { db, host } = cloud
  const links = await fiveHosts(db, host)
  await using _ = startCell(db, 'a', links)
  await until('a has them all', async () => (await heldBy(db, 'a')) === 5)
  {
    await using b = startCell(db, 'b', links)
    assert.ok(b)
    await until('they are shared', async () => {
      const [a, b] = await Promise.all([heldBy(db, 'a'), heldBy(db, 'b')])
      return a <= 3 && b <= 3 && a + b === 5
    })
    await allOpen(db, [...links.keys()])
  }
  await until('a has them all again', async () => (await heldBy(db, 'a')) === 5)
  await allOpen(db, [...links.keys()])
})

test('the hosts of a dead cell are taken over when its lease is over, and as a zombie it gets the door', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { db, host } = cloud
  const links = await fiveHosts(db, host)
  const dying = cloud.openPool()
  await using _ = startCell(dying, 'dead', links)
  await until('it has them all', async () => (await heldBy(db, 'dead')) === 5)
  await allOpen(db, [...links.keys()])
  // From here on it reaches its hosts, but not the database.
  await dying.destroy()
  const before = await db.selectFrom('host').select(['id', 'session']).execute()
  await using heir = startCell(db, 'heir', links)
  assert.ok(heir)
  await until('the heir is alive', () => heirIsAlive(db))
  assert.equal(await heldBy(db, 'heir'), 0, 'a lease that lasts is respected')
  const over = sql<Date>`clock_timestamp() - interval '1 s'`
  await db.updateTable('host').set({ follow_until: over }).execute()
  await db.updateTable('cell').set({ alive_until: over }).where('id', '=', 'dead').execute()
  await until('the heir has them all', async () => (await heldBy(db, 'heir')) === 5)
  await allOpen(db, [...links.keys()])
  for (const { id, session } of before) {
    assert.ok(BigInt((await hostOf(db, id)).session) > BigInt(session))
    // A lower session gets hello and the door.
    const told = links.get(id)?.api.follow(session, new AbortController().signal) ?? []
    assert.deepEqual(
      (await Array.fromAsync(told)).map((line) => line.is),
      ['hello'],
    )
  }
})

async function heirIsAlive(db: Kysely<Database>): Promise<boolean> {
  const cells = await db.selectFrom('cell').select('id').where('id', '=', 'heir').execute()
  return cells.length > 0
}
