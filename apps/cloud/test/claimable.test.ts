// Goal: wake-ups and claims use the same rule: a wake-up for a task that cannot be claimed would be repeated for ever,
// and a claimable task without a wake-up would never run. Method: both statements on a real Postgres, over every reason one by one.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { Fault } from '@skerry/fault'
import type { Postgres } from '@skerry/lab'
import type { VmId } from '@skerry/vm'
import { sql, type RawBuilder } from 'kysely'

import { operationNamed } from '../src/operations/vm-operations.ts'
import { claimTask } from '../src/tasks/claim-task.ts'
import { findTask } from '../src/tasks/find-task.ts'
import { submitTask } from '../src/tasks/submit-task.ts'
import { takeUnattended } from '../src/tasks/unattended.ts'
import { recordFailedAttempt } from '../src/tasks/waits.ts'
import { openCloudDatabase, startDatabases } from './cloud-database.ts'

let postgres: Postgres
before(async () => {
  postgres = await startDatabases()
})
after(() => postgres[Symbol.asyncDispose]())

const rules = { perHost: 10, perOrg: 10, within: () => 60 }

const away = sql`update host set list_session = 0`
const owes = sql`insert into pending_undo (host, vm, incarnation, goal, task)
  select host, id, 1, '{"goal": "power", "to": "off"}', id from vm`

const cases: Readonly<Record<string, { may: boolean; given: readonly RawBuilder<unknown>[] }>> = {
  'its host is open': { may: true, given: [] },
  'its host is away': { may: false, given: [away] },
  'its host is in quarantine': { may: false, given: [sql`update host set quarantine = 'why'`] },
  'its host was revoked': { may: false, given: [sql`update host set state = 'revoked'`] },
  'its host is not followed': {
    may: false,
    given: [sql`update host set follow_until = clock_timestamp() - interval '1 s'`],
  },
  'something is owed for it': { may: false, given: [owes] },
  'something is owed for it, and it goes back': {
    may: true,
    given: [owes, sql`update task set state = 'running', direction = 'back'`],
  },
  'the cloud recovers': { may: false, given: [sql`update cloud set recovering = true`] },
  'the cloud recovers, and it goes back': {
    may: false,
    given: [
      sql`update cloud set recovering = true`,
      sql`update task set state = 'running', direction = 'back'`,
    ],
  },
  'its host is away, and it goes back': {
    may: true,
    given: [away, sql`update task set state = 'running', direction = 'back'`],
  },
  'its host is away, and it is to be canceled': {
    may: true,
    given: [away, sql`update task set state = 'running', cancel_requested = true`],
  },
  'its host is away, and its time is over': {
    may: true,
    given: [
      away,
      sql`update task set state = 'running', deadline = clock_timestamp() - interval '1 s'`,
    ],
  },
  'its host is away, and it is made and was never on': {
    may: true,
    given: [away, sql`update task set kind = 'create'`],
  },
  'its host is away, and it is made and may have been on': {
    may: false,
    given: [away, sql`update task set kind = 'create'`, sql`update vm set ever_started = true`],
  },
  'it has no host': { may: true, given: [away, sql`update vm set host = null`] },
}

/** The submitter has sent a wake-up itself; the sweep acts if that was not answered. */
const bellWasLost = sql`update vm set woken_at = null`

for (const [why, { may, given }] of Object.entries(cases)) {
  test(`a task ${may ? 'may' : 'may not'} run when ${why}, for wake-ups and claims`, async () => {
    await using cloud = await openCloudDatabase(postgres)
    const [vm] = (await cloud.addVms(1)).vms as [VmId]
    await cloud.as(cloud.principal, (tx) =>
      submitTask(tx, operationNamed('powerOn'), { vm, owner: 'alice' }),
    )
    for (const each of given) await each.execute(cloud.db)
    await bellWasLost.execute(cloud.db)
    const woken = await takeUnattended(cloud.db, 10)
    assert.deepEqual(
      woken.map(({ id }) => id),
      may ? [vm] : [],
    )
    const { rows } = await sql<{ reason: string }>`
      select wait.reason from task cross join lateral task_wait(task.id) wait where task.vm = ${vm}`.execute(
      cloud.db,
    )
    const reason = rows[0]?.reason ?? 'worker'
    // While the cloud recovers, open tasks end at once: none of them waits for it.
    const ends = why.startsWith('the cloud recovers')
    assert.equal(reason === 'worker', may || ends, `the task says that it waits for: ${reason}`)
    assert.equal((await claimTask(cloud.db, vm, 'run', rules)) !== undefined, may)
  })
}

test('the sweep wakes waiting queues in turn: none is woken again before all others', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { vms } = await cloud.addVms(5)
  for (const vm of vms) {
    await cloud.as(cloud.principal, (tx) =>
      submitTask(tx, operationNamed('powerOn'), { vm, owner: 'alice' }),
    )
  }
  const age = () =>
    sql`update vm set woken_at = woken_at - interval '1 min', wake_attempts = 0`.execute(cloud.db)
  await age()
  const woken: VmId[] = []
  for (let sweeps = 0; sweeps < 5; sweeps += 1) {
    woken.push(...(await takeUnattended(cloud.db, 2)).map(({ id }) => id))
    await age()
  }
  assert.deepEqual(woken.slice(0, 5).toSorted(), vms.toSorted())
  assert.deepEqual(woken.slice(5).toSorted(), vms.toSorted())
})

test('the children of a later rank wait, for wake-ups and claims', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { vms } = await cloud.addVms(2)
  for (const vm of vms) {
    await cloud.as(cloud.principal, (tx) =>
      submitTask(tx, operationNamed('powerOn'), { vm, owner: 'alice' }),
    )
  }
  const [first, second] = vms as [VmId, VmId]
  await sql`update task set parent = (select id from task where vm = ${first}),
    rank = case when vm = ${first} then 1 else 2 end`.execute(cloud.db)
  await bellWasLost.execute(cloud.db)
  const woken = await takeUnattended(cloud.db, 10)
  assert.deepEqual(
    woken.map(({ id }) => id),
    [first],
  )
  assert.equal(await claimTask(cloud.db, second, 'run', rules), undefined)
  assert.ok(await claimTask(cloud.db, first, 'run', rules))
})

test('after the next claim, the task still waits for the step that failed under an earlier one', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const [vm] = (await cloud.addVms(1)).vms as [VmId]
  const { id } = await cloud.as(cloud.principal, (tx) =>
    submitTask(tx, operationNamed('powerOn'), { vm, owner: 'alice' }),
  )
  const { fence = '' } = (await claimTask(cloud.db, vm, 'run', rules)) ?? {}
  const away = new Fault('unavailable', 'libvirt does not answer')
  await recordFailedAttempt(cloud.db, { task: id, fence: fence }, away, 600)
  const reason = async () => (await findTask(cloud.db, id))?.wait
  assert.equal((await reason())?.reason, 'retry')
  await cloud.db
    .updateTable('vm')
    .set({ lease_until: sql`clock_timestamp() - interval '1 s'` })
    .execute()
  assert.equal((await reason())?.reason, 'worker')
  await claimTask(cloud.db, vm, 'heir', rules)
  const again = await reason()
  assert.deepEqual([again?.reason, again?.attempts, again?.failure], ['retry', 1, away.message])
})
