// Goal: what is asked of a VM is done in the order it was asked, once, and ends once. Method: the statements themselves, on a real Postgres.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'

import type { Fault } from '@skerry/fault'
import { until, type Postgres } from '@skerry/lab'
import type { VmId } from '@skerry/vm'
import { sql } from 'kysely'

import { operationNamed } from '../src/operations.ts'
import {
  claimTask,
  readClaimed,
  turnBack,
  type ClaimRules,
  type Claimed,
} from '../src/store/claim-task.ts'
import { cancelTask, endTask } from '../src/store/end-task.ts'
import { readEvents, type Cursor } from '../src/store/events.ts'
import { keepRequest } from '../src/store/request-keys.ts'
import { submitTask, submitTogether } from '../src/store/submit-task.ts'
import { takeUnattended } from '../src/store/unattended.ts'
import { recordSeen } from '../src/store/vms.ts'
import { vappOperations } from '../src/vapp-operations.ts'
import {
  openCloudDatabase,
  startDatabases,
  taskOf,
  vmOf,
  type CloudDatabase,
} from './cloud-database.ts'

let postgres: Postgres
before(async () => {
  postgres = await startDatabases()
})
after(() => postgres[Symbol.asyncDispose]())

const rules: ClaimRules = { perHost: 100, perOrg: 100, within: () => 300 }
const owner = 'alice'

const ask = (cloud: CloudDatabase, vm: VmId, name: string) =>
  cloud.as(cloud.who, (tx) => submitTask(tx, operationNamed(name), { vm, owner }))

async function claim({ db }: CloudDatabase, vm: VmId, holder = 'run-1'): Promise<Claimed> {
  const claimed = await claimTask(db, vm, holder, rules)
  assert.ok(claimed, 'there is something to claim')
  return claimed
}

const whole = (name: string) => {
  const found = vappOperations.find((each) => each.name === name)
  assert.ok(found)
  return found
}

test('a busy VM queues, and each request is judged by what the queue will leave', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { vms } = await cloud.addVms(1)
  const [vm] = vms as [VmId]
  const first = await ask(cloud, vm, 'powerOn')
  const second = await ask(cloud, vm, 'powerOff')
  await assert.rejects(ask(cloud, vm, 'suspend'), (error: Fault) => error.kind === 'conflict')
  assert.deepEqual([first.place, second.place], [1, 2])
  const { task, number } = await claim(cloud, vm)
  assert.equal(task.id, first.id, 'only the head may act')
  await endTask(cloud.db, { task: task.id, number })
  assert.equal((await claim(cloud, vm)).task.id, second.id)
})

test('fifty at once to one VM are claimed in the order of their places', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const [vm] = (await cloud.addVms(1)).vms as [VmId]
  const asked = await Promise.all(
    Array.from({ length: 50 }, (_, at) =>
      cloud.as(cloud.who, (tx) =>
        submitTask(
          tx,
          { ...operationNamed('powerOn'), from: ['POWERED_OFF', 'POWERED_ON'] },
          {
            ...{ vm, owner, input: at },
          },
        ),
      ),
    ),
  )
  const places: (number | null)[] = []
  for (let each = 0; each < 50; each += 1) {
    const { task, number } = await claim(cloud, vm)
    places.push(task.place)
    await endTask(cloud.db, { task: task.id, number })
  }
  assert.deepEqual(
    places,
    Array.from({ length: 50 }, (_, at) => at + 1),
  )
  assert.equal(new Set(asked.map(({ place }) => place)).size, 50)
  assert.equal(await claimTask(cloud.db, vm, 'run-1', rules), undefined)
  assert.equal((await vmOf(cloud.db, vm)).holder, null, 'who finds the queue empty lets go')
})

test('who ends the last task of a queue lets go with it; who ends another goes on', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const [vm] = (await cloud.addVms(1)).vms as [VmId]
  await ask(cloud, vm, 'powerOn')
  await ask(cloud, vm, 'powerOff')
  const first = await claim(cloud, vm)
  const claimOf = ({ task, number }: Claimed) => ({ task: task.id, number })
  assert.deepEqual(await endTask(cloud.db, claimOf(first)), { others: [], more: true })
  assert.notEqual((await vmOf(cloud.db, vm)).holder, null, 'nobody else comes in between')
  const last = await claim(cloud, vm)
  assert.deepEqual(await endTask(cloud.db, claimOf(last)), { others: [], more: false })
  const { holder, lease_until: lease } = await vmOf(cloud.db, vm)
  assert.deepEqual([holder, lease], [null, null])
  // Temporal may run it again: nobody knows by then what has come into the queue.
  assert.deepEqual(await endTask(cloud.db, claimOf(last)), { others: [], more: true })
})

test('a newer claim shuts out the older: its step, its turning back and its end', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const [vm] = (await cloud.addVms(1)).vms as [VmId]
  const { id } = await ask(cloud, vm, 'powerOn')
  const old = await claim(cloud, vm)
  assert.equal(
    await claimTask(cloud.db, vm, 'run-2', rules),
    undefined,
    'a live lease is respected',
  )
  const again = await claim(cloud, vm)
  assert.ok(BigInt(again.number) > BigInt(old.number), 'each claim is a new number')
  const stale = (error: Fault) => error.kind === 'stale'
  await assert.rejects(readClaimed(cloud.db, { task: id, number: old.number }), stale)
  const reason = { kind: 'invalid', message: 'no' } as const
  await assert.rejects(turnBack(cloud.db, { task: id, number: old.number }, reason), stale)
  await endTask(cloud.db, { task: id, number: old.number })
  assert.equal((await taskOf(cloud.db, id)).state, 'running')
  const back = await turnBack(cloud.db, { task: id, number: again.number }, reason)
  await assert.rejects(readClaimed(cloud.db, { task: id, number: again.number }), stale)
  await endTask(cloud.db, { task: id, number: back })
  const ended = await taskOf(cloud.db, id)
  assert.deepEqual([ended.state, ended.fault, ended.message], ['error', 'invalid', 'no'])
  await endTask(cloud.db, { task: id, number: back })
  assert.equal((await taskOf(cloud.db, id)).state, 'error', 'a task never leaves an end state')
})

test('a lease that ran out may be taken by another run', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const [vm] = (await cloud.addVms(1)).vms as [VmId]
  await ask(cloud, vm, 'powerOn')
  await claim(cloud, vm, 'dead')
  await cloud.db
    .updateTable('vm')
    .set({ lease_until: sql`clock_timestamp() - interval '1 s'` })
    .execute()
  assert.equal((await claim(cloud, vm, 'heir')).vm.holder, 'heir')
})

test('nothing is begun on a host that nobody follows, but what must go back may', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const [vm] = (await cloud.addVms(1)).vms as [VmId]
  const { id } = await ask(cloud, vm, 'powerOn')
  await cloud.db.updateTable('host').set({ listed: '0' }).execute()
  assert.equal(await claimTask(cloud.db, vm, 'run-1', rules), undefined)
  await cloud.db.updateTable('vm').set({ rung_at: null }).execute()
  assert.deepEqual(await takeUnattended(cloud.db, 10), [], 'and nobody is rung for it')
  await cloud.db.updateTable('task').set({ cancel: true, state: 'running' }).execute()
  assert.equal((await claim(cloud, vm)).task.id, id)
})

test('a queue that nobody looks at is seen to, and again after twice as long each time', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const [vm] = (await cloud.addVms(1)).vms as [VmId]
  await ask(cloud, vm, 'powerOn')
  assert.deepEqual(await takeUnattended(cloud.db, 10), [], 'whoever asked has just rung')
  const passed = (seconds: number) =>
    sql`update vm set rung_at = rung_at - make_interval(secs => ${seconds})`.execute(cloud.db)
  for (const [rings, patience] of [2, 4, 8, 8, 8].entries()) {
    await passed(patience - 1)
    assert.deepEqual(await takeUnattended(cloud.db, 10), [], `ring ${rings + 1} is too early`)
    await passed(1)
    assert.deepEqual(await takeUnattended(cloud.db, 10), [{ id: vm, rings: rings + 1 }])
  }
  await claim(cloud, vm)
  assert.equal((await vmOf(cloud.db, vm)).rings, 0, 'who comes is rung for as at first')
})

test('a queued task that is canceled ends at once; a running one is asked to', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const [vm] = (await cloud.addVms(1)).vms as [VmId]
  const first = await ask(cloud, vm, 'powerOn')
  const second = await ask(cloud, vm, 'powerOff')
  const { number } = await claim(cloud, vm)
  await cloud.as(cloud.who, (tx) => cancelTask(tx, second.id))
  assert.equal((await taskOf(cloud.db, second.id)).state, 'canceled')
  assert.equal((await vmOf(cloud.db, vm)).desired, 'POWERED_ON', 'what is left is what is wished')
  await cloud.as(cloud.who, (tx) => cancelTask(tx, first.id))
  assert.deepEqual(
    [(await taskOf(cloud.db, first.id)).state, (await taskOf(cloud.db, first.id)).cancel],
    ['running', true],
  )
  await endTask(cloud.db, { task: first.id, number })
  await cloud.as(cloud.who, (tx) => cancelTask(tx, first.id))
  assert.equal((await taskOf(cloud.db, first.id)).state, 'success')
})

test('the parts of a vApp begin rank by rank, and the last of them ends the whole', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { vapp, vms } = await cloud.addVms(2)
  const [a, b] = vms as [VmId, VmId]
  const { task } = await cloud.as(cloud.who, (tx) =>
    submitTogether(tx, whole('powerOn'), { vapp, owner }),
  )
  assert.equal(await claimTask(cloud.db, b, 'run-b', rules), undefined, 'b waits for a')
  const first = await claim(cloud, a)
  const { others } = await endTask(cloud.db, { task: first.task.id, number: first.number })
  assert.deepEqual(others, [b], 'and is rung when a has ended')
  assert.equal((await taskOf(cloud.db, task.id)).progress, 50)
  const second = await claim(cloud, b, 'run-b')
  await endTask(cloud.db, { task: second.task.id, number: second.number })
  assert.equal((await taskOf(cloud.db, task.id)).state, 'success')
})

test('a part that fails ends those after it, when the order matters', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { vapp, vms } = await cloud.addVms(2)
  const [a, b] = vms as [VmId, VmId]
  const { task } = await cloud.as(cloud.who, (tx) =>
    submitTogether(tx, whole('powerOn'), { vapp, owner }),
  )
  const first = await claim(cloud, a)
  const reason = { kind: 'no-room', message: 'no room' } as const
  const number = await turnBack(cloud.db, { task: first.task.id, number: first.number }, reason)
  await endTask(cloud.db, { task: first.task.id, number })
  const second = await claim(cloud, b, 'run-b')
  assert.equal(second.task.cancel, true)
  const back = await turnBack(
    cloud.db,
    { task: second.task.id, number: second.number },
    { kind: 'canceled', message: 'it was asked to stop' },
  )
  await endTask(cloud.db, { task: second.task.id, number: back })
  const ended = await taskOf(cloud.db, task.id)
  assert.deepEqual([ended.state, ended.message], ['error', 'no room'])
})

test('start and stop of one vApp at once never wait for each other in a circle', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { vapp, vms } = await cloud.addVms(4)
  for (let round = 0; round < 20; round += 1) {
    const both = await Promise.all(
      ['powerOn', 'powerOff'].map((name) =>
        cloud.as(cloud.who, (tx) => submitTogether(tx, whole(name), { vapp, owner })),
      ),
    )
    const work = vms.map(async (vm) => {
      for (;;) {
        const claimed = await claimTask(cloud.db, vm, `run-${vm}`, rules)
        if (claimed) await endTask(cloud.db, { task: claimed.task.id, number: claimed.number })
        const open = await cloud.db
          .selectFrom('task')
          .select('id')
          .where('vm', '=', vm)
          .where('state', 'in', ['queued', 'running'])
          .executeTakeFirst()
        if (!open) return
      }
    })
    await Promise.all(work)
    for (const { task } of both) {
      assert.notEqual((await taskOf(cloud.db, task.id)).state, 'running', `round ${round}`)
    }
  }
})

test('an accepted delete closes the queue; one that fails opens it again', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const [vm] = (await cloud.addVms(1)).vms as [VmId]
  const { id } = await ask(cloud, vm, 'delete')
  await assert.rejects(ask(cloud, vm, 'powerOn'), /is being deleted/)
  const { number } = await claim(cloud, vm)
  const reason = { kind: 'invalid', message: 'no' } as const
  await endTask(cloud.db, {
    task: id,
    number: await turnBack(cloud.db, { task: id, number }, reason),
  })
  assert.equal((await ask(cloud, vm, 'powerOn')).state, 'queued')
})

test('one key in parallel is one task; with another body it is refused', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const [vm] = (await cloud.addVms(1)).vms as [VmId]
  const bodyHash = createHash('sha256').update('a').digest()
  const once = () =>
    cloud.as(cloud.who, async (tx) => {
      const { task, again } = await keepRequest(tx, cloud.who, { key: 'k', bodyHash })
      if (!again) await submitTask(tx, operationNamed('powerOn'), { vm, owner, id: task })
      return task
    })
  const made = await Promise.all(Array.from({ length: 20 }, once))
  assert.equal(new Set(made).size, 1)
  assert.equal((await cloud.db.selectFrom('task').select('id').execute()).length, 1)
  const other = createHash('sha256').update('b').digest()
  await assert.rejects(
    cloud.as(cloud.who, (tx) => keepRequest(tx, cloud.who, { key: 'k', bodyHash: other })),
    (error: Fault) => error.kind === 'conflict',
  )
})

test('a reader of events with a cursor misses nothing under twenty parallel writers', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const WRITERS = 20
  const EACH = 25
  const writers = { areDone: false }
  const written = Promise.all(
    Array.from({ length: WRITERS }, async (_, writer) => {
      for (let n = 0; n < EACH; n += 1) {
        await cloud.db.transaction().execute(async (tx) => {
          await sql`insert into event (kind, what) values ('test', ${JSON.stringify({ writer, n })})`.execute(
            tx,
          )
          // Later numbers commit before earlier ones: that is what a cursor must live with.
          await sql`select pg_sleep(${((writer * 7 + n * 3) % 10) / 2000})`.execute(tx)
        })
      }
    }),
  ).finally(() => {
    writers.areDone = true
  })
  let cursor: Cursor = { tx: '0', seq: '0' }
  const seen = new Set<string>()
  const readOn = async () => {
    const rows = await readEvents(cloud.db, cursor, 50)
    for (const row of rows) seen.add(JSON.stringify(row.what))
    cursor = rows.at(-1) ?? cursor
    return seen.size === WRITERS * EACH
  }
  while (!writers.areDone) await readOn()
  await written
  // No rows do not say that there are no more: PostgreSQL's own work, as when it counts a table, holds them back for a moment.
  await until('all that was written is read', readOn)
  assert.equal(seen.size, WRITERS * EACH)
})

test('an older sight changes nothing, and neither does one of another incarnation', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const [vm] = (await cloud.addVms(1)).vms as [VmId]
  const seen = (session: string, seq: number, power: 'on' | 'off', incarnation = '1') =>
    recordSeen(cloud.db, cloud.host, [
      {
        ...{ id: vm, session, seq },
        vm: {
          ...{
            id: vm,
            name: 'vm',
            tag: '',
            power,
            incarnation,
            boot: null,
            cpus: 1,
            memoryMiB: 64,
          },
          ...{ diskMiB: 64, nested: false, autostart: false, sharing: false },
        },
      },
    ])
  const status = async () => (await vmOf(cloud.db, vm)).status
  await seen('2', 5, 'on')
  assert.equal(await status(), 'POWERED_ON')
  await seen('2', 4, 'off')
  await seen('1', 99, 'off')
  await seen('3', 1, 'off', '2')
  assert.equal(await status(), 'POWERED_ON')
  await seen('3', 1, 'off')
  assert.equal(await status(), 'POWERED_OFF')
})

test('a tenant sees the rows of its own organisation and no others', async () => {
  await using cloud = await openCloudDatabase(postgres)
  await cloud.addVms(1)
  const other = await cloud.db
    .insertInto('org')
    .values({ name: 'other' })
    .returning('id')
    .executeTakeFirstOrThrow()
  const count = (org: typeof other.id) =>
    cloud.as(
      { ...cloud.who, org },
      async (tx) => (await tx.selectFrom('vm').select('id').execute()).length,
    )
  assert.deepEqual([await count(cloud.who.org), await count(other.id)], [1, 0])
})
