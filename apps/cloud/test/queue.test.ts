// Goal: tasks of a VM run in the order of their requests, once, and end once. Method: the statements themselves, on a real Postgres.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'

import type { Fault } from '@skerry/fault'
import { until, type Postgres } from '@skerry/lab'
import type { VmId } from '@skerry/vm'
import { sql } from 'kysely'

import { readEvents, type EventCursor } from '../src/database/events.ts'
import { keepRequest } from '../src/database/request-keys.ts'
import { recordSeen } from '../src/inventory/vms.ts'
import { vappOperations } from '../src/operations/vapp-operations.ts'
import { operationNamed } from '../src/operations/vm-operations.ts'
import {
  claimTask,
  readClaimed,
  turnBack,
  type ClaimRules,
  type Claimed,
} from '../src/tasks/claim-task.ts'
import { cancelTask, endTask } from '../src/tasks/end-task.ts'
import { submitTask, submitTogether } from '../src/tasks/submit-task.ts'
import { takeUnattended } from '../src/tasks/unattended.ts'
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
  cloud.as(cloud.principal, (tx) => submitTask(tx, operationNamed(name), { vm, owner }))

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

test('a busy VM queues tasks, and each request is checked against the state after the queue', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { vms } = await cloud.addVms(1)
  const [vm] = vms as [VmId]
  const first = await ask(cloud, vm, 'powerOn')
  const second = await ask(cloud, vm, 'powerOff')
  await assert.rejects(ask(cloud, vm, 'suspend'), (error: Fault) => error.kind === 'conflict')
  assert.deepEqual([first.position, second.position], [1, 2])
  const { task, fence } = await claim(cloud, vm)
  assert.equal(task.id, first.id, 'only the head may be claimed')
  await endTask(cloud.db, { task: task.id, fence })
  assert.equal((await claim(cloud, vm)).task.id, second.id)
})

test('fifty concurrent tasks of one VM are claimed in the order of their positions', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const [vm] = (await cloud.addVms(1)).vms as [VmId]
  const requested = await Promise.all(
    Array.from({ length: 50 }, (_, at) =>
      cloud.as(cloud.principal, (tx) =>
        submitTask(
          tx,
          { ...operationNamed('powerOn'), from: ['POWERED_OFF', 'POWERED_ON'] },
          {
            vm,
            owner,
            input: at,
          },
        ),
      ),
    ),
  )
  const places: (number | null)[] = []
  for (let each = 0; each < 50; each += 1) {
    const { task, fence: number } = await claim(cloud, vm)
    places.push(task.position)
    await endTask(cloud.db, { task: task.id, fence: number })
  }
  assert.deepEqual(
    places,
    Array.from({ length: 50 }, (_, at) => at + 1),
  )
  assert.equal(new Set(requested.map(({ position: place }) => place)).size, 50)
  assert.equal(await claimTask(cloud.db, vm, 'run-1', rules), undefined)
  assert.equal(
    (await vmOf(cloud.db, vm)).holder,
    null,
    'a run that finds the queue empty releases it',
  )
})

test('the end of the last task of a queue clears the holder; the end of another does not', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const [vm] = (await cloud.addVms(1)).vms as [VmId]
  await ask(cloud, vm, 'powerOn')
  await ask(cloud, vm, 'powerOff')
  const first = await claim(cloud, vm)
  const claimOf = ({ task, fence }: Claimed) => ({ task: task.id, fence })
  assert.deepEqual(await endTask(cloud.db, claimOf(first)), { others: [], more: true })
  assert.notEqual((await vmOf(cloud.db, vm)).holder, null, 'no other claim happens in between')
  const last = await claim(cloud, vm)
  assert.deepEqual(await endTask(cloud.db, claimOf(last)), { others: [], more: false })
  const { holder, lease_until: lease } = await vmOf(cloud.db, vm)
  assert.deepEqual([holder, lease], [null, null])
  // Temporal may run it again: by then the queue may have new tasks.
  assert.deepEqual(await endTask(cloud.db, claimOf(last)), { others: [], more: true })
})

test('a newer claim invalidates the older one: its step, its rollback and its end', async () => {
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
  assert.ok(BigInt(again.fence) > BigInt(old.fence), 'each claim has a new number')
  const stale = (error: Fault) => error.kind === 'stale'
  await assert.rejects(readClaimed(cloud.db, { task: id, fence: old.fence }), stale)
  const reason = { kind: 'invalid', message: 'no' } as const
  await assert.rejects(turnBack(cloud.db, { task: id, fence: old.fence }, reason), stale)
  await endTask(cloud.db, { task: id, fence: old.fence })
  assert.equal((await taskOf(cloud.db, id)).state, 'running')
  const back = await turnBack(cloud.db, { task: id, fence: again.fence }, reason)
  await assert.rejects(readClaimed(cloud.db, { task: id, fence: again.fence }), stale)
  await endTask(cloud.db, { task: id, fence: back })
  const ended = await taskOf(cloud.db, id)
  assert.deepEqual([ended.state, ended.fault, ended.message], ['error', 'invalid', 'no'])
  await endTask(cloud.db, { task: id, fence: back })
  assert.equal((await taskOf(cloud.db, id)).state, 'error', 'a task never leaves an end state')
})

test('another run can take over an expired lease', async () => {
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

test('no task starts on a host without a follower, but rollbacks do', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const [vm] = (await cloud.addVms(1)).vms as [VmId]
  const { id } = await ask(cloud, vm, 'powerOn')
  await cloud.db.updateTable('host').set({ list_session: '0' }).execute()
  assert.equal(await claimTask(cloud.db, vm, 'run-1', rules), undefined)
  await cloud.db.updateTable('vm').set({ woken_at: null }).execute()
  assert.deepEqual(await takeUnattended(cloud.db, 10), [], 'and it gets no wake-up')
  await cloud.db.updateTable('task').set({ cancel_requested: true, state: 'running' }).execute()
  assert.equal((await claim(cloud, vm)).task.id, id)
})

test('an unattended queue gets a wake-up, and again after twice as long each time', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const [vm] = (await cloud.addVms(1)).vms as [VmId]
  await ask(cloud, vm, 'powerOn')
  assert.deepEqual(await takeUnattended(cloud.db, 10), [], 'the submitter has just sent a wake-up')
  const passed = (seconds: number) =>
    sql`update vm set woken_at = woken_at - make_interval(secs => ${seconds})`.execute(cloud.db)
  for (const [rings, patience] of [2, 4, 8, 8, 8].entries()) {
    await passed(patience - 1)
    assert.deepEqual(await takeUnattended(cloud.db, 10), [], `wake-up ${rings + 1} is too early`)
    await passed(1)
    assert.deepEqual(await takeUnattended(cloud.db, 10), [{ id: vm, wakeAttempts: rings + 1 }])
  }
  await claim(cloud, vm)
  assert.equal((await vmOf(cloud.db, vm)).wake_attempts, 0, 'the interval starts again')
})

test('canceling ends a queued task at once, and marks a running one', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const [vm] = (await cloud.addVms(1)).vms as [VmId]
  const first = await ask(cloud, vm, 'powerOn')
  const second = await ask(cloud, vm, 'powerOff')
  const { fence: number } = await claim(cloud, vm)
  await cloud.as(cloud.principal, (tx) => cancelTask(tx, second.id))
  assert.equal((await taskOf(cloud.db, second.id)).state, 'canceled')
  const left = await vmOf(cloud.db, vm)
  assert.equal(left.projected_status, 'POWERED_ON', 'it follows the remaining queue')
  await cloud.as(cloud.principal, (tx) => cancelTask(tx, first.id))
  assert.deepEqual(
    [(await taskOf(cloud.db, first.id)).state, (await taskOf(cloud.db, first.id)).cancel_requested],
    ['running', true],
  )
  await endTask(cloud.db, { task: first.id, fence: number })
  await cloud.as(cloud.principal, (tx) => cancelTask(tx, first.id))
  assert.equal((await taskOf(cloud.db, first.id)).state, 'success')
})

test('the child tasks of a vApp start rank by rank, and the last of them ends the parent', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { vapp, vms } = await cloud.addVms(2)
  const [a, b] = vms as [VmId, VmId]
  const { task } = await cloud.as(cloud.principal, (tx) =>
    submitTogether(tx, whole('powerOn'), { vapp, owner }),
  )
  assert.equal(await claimTask(cloud.db, b, 'run-b', rules), undefined, 'b waits for a')
  const first = await claim(cloud, a)
  const { others } = await endTask(cloud.db, { task: first.task.id, fence: first.fence })
  assert.deepEqual(others, [b], 'and gets a wake-up when a has ended')
  assert.equal((await taskOf(cloud.db, task.id)).progress, 50)
  const second = await claim(cloud, b, 'run-b')
  await endTask(cloud.db, { task: second.task.id, fence: second.fence })
  assert.equal((await taskOf(cloud.db, task.id)).state, 'success')
})

test('a failed child cancels those after it, if the order matters', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { vapp, vms } = await cloud.addVms(2)
  const [a, b] = vms as [VmId, VmId]
  const { task } = await cloud.as(cloud.principal, (tx) =>
    submitTogether(tx, whole('powerOn'), { vapp, owner }),
  )
  const first = await claim(cloud, a)
  const reason = { kind: 'no-room', message: 'no room' } as const
  const number = await turnBack(cloud.db, { task: first.task.id, fence: first.fence }, reason)
  await endTask(cloud.db, { task: first.task.id, fence: number })
  const second = await claim(cloud, b, 'run-b')
  assert.equal(second.task.cancel_requested, true)
  const back = await turnBack(
    cloud.db,
    { task: second.task.id, fence: second.fence },
    { kind: 'canceled', message: 'the task was canceled' },
  )
  await endTask(cloud.db, { task: second.task.id, fence: back })
  const ended = await taskOf(cloud.db, task.id)
  assert.deepEqual([ended.state, ended.message], ['error', 'no room'])
})

test('concurrent start and stop of one vApp never deadlock', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { vapp, vms } = await cloud.addVms(4)
  for (let round = 0; round < 20; round += 1) {
    const both = await Promise.all(
      ['powerOn', 'powerOff'].map((name) =>
        cloud.as(cloud.principal, (tx) => submitTogether(tx, whole(name), { vapp, owner })),
      ),
    )
    const work = vms.map(async (vm) => {
      for (;;) {
        const claimed = await claimTask(cloud.db, vm, `run-${vm}`, rules)
        if (claimed) await endTask(cloud.db, { task: claimed.task.id, fence: claimed.fence })
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

test('an accepted delete closes the queue; a failed one opens it again', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const [vm] = (await cloud.addVms(1)).vms as [VmId]
  const { id } = await ask(cloud, vm, 'delete')
  await assert.rejects(ask(cloud, vm, 'powerOn'), /is being deleted/)
  const { fence: number } = await claim(cloud, vm)
  const reason = { kind: 'invalid', message: 'no' } as const
  await endTask(cloud.db, {
    task: id,
    fence: await turnBack(cloud.db, { task: id, fence: number }, reason),
  })
  assert.equal((await ask(cloud, vm, 'powerOn')).state, 'queued')
})

test('concurrent requests with one key create one task; another body is rejected', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const [vm] = (await cloud.addVms(1)).vms as [VmId]
  const bodyHash = createHash('sha256').update('a').digest()
  const once = () =>
    cloud.as(cloud.principal, async (tx) => {
      const { task, again } = await keepRequest(tx, cloud.principal, { key: 'k', bodyHash })
      if (!again) await submitTask(tx, operationNamed('powerOn'), { vm, owner, id: task })
      return task
    })
  const made = await Promise.all(Array.from({ length: 20 }, once))
  assert.equal(new Set(made).size, 1)
  assert.equal((await cloud.db.selectFrom('task').select('id').execute()).length, 1)
  const other = createHash('sha256').update('b').digest()
  await assert.rejects(
    cloud.as(cloud.principal, (tx) =>
      keepRequest(tx, cloud.principal, { key: 'k', bodyHash: other }),
    ),
    (error: Fault) => error.kind === 'conflict',
  )
})

test('a reader of events with a cursor misses nothing with twenty concurrent writers', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const WRITERS = 20
  const EACH = 25
  const writers = { areDone: false }
  const written = Promise.all(
    Array.from({ length: WRITERS }, async (_, writer) => {
      for (let n = 0; n < EACH; n += 1) {
        await cloud.db.transaction().execute(async (tx) => {
          await sql`insert into event (kind, details) values ('test', ${JSON.stringify({ writer, n })})`.execute(
            tx,
          )
          // Later numbers commit before earlier ones: a cursor must handle that.
          await sql`select pg_sleep(${((writer * 7 + n * 3) % 10) / 2000})`.execute(tx)
        })
      }
    }),
  ).finally(() => {
    writers.areDone = true
  })
  let cursor: EventCursor = { tx: '0', seq: '0' }
  const seen = new Set<string>()
  const readOn = async () => {
    const rows = await readEvents(cloud.db, cursor, 50)
    for (const row of rows) seen.add(JSON.stringify(row.details))
    cursor = rows.at(-1) ?? cursor
    return seen.size === WRITERS * EACH
  }
  while (!writers.areDone) await readOn()
  await written
  // An empty result does not mean the end: PostgreSQL's own work, such as ANALYZE, can hold rows back for a moment.
  await until('everything written is read', readOn)
  assert.equal(seen.size, WRITERS * EACH)
})

test('an older observation changes nothing, and neither does one of another incarnation', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const [vm] = (await cloud.addVms(1)).vms as [VmId]
  const seen = (session: string, seq: number, power: 'on' | 'off', incarnation = '1') =>
    recordSeen(cloud.db, cloud.host, [
      {
        id: vm,
        session,
        seq,
        vm: {
          id: vm,
          name: 'vm',
          tag: '',
          power,
          incarnation,
          boot: null,
          cpus: 1,
          memoryMiB: 64,
          diskMiB: 64,
          nested: false,
          autostart: false,
          sharing: false,
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
