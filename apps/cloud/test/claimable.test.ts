// Goal: whoever rings and whoever claims judge a queue alike: a bell for what cannot be claimed would be rung in vain for ever,
// and what can be claimed without a bell would rest. Method: both statements on a real Postgres, over every reason one by one.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import type { Postgres } from '@skerry/lab'
import type { VmId } from '@skerry/vm'
import { sql, type RawBuilder } from 'kysely'

import { operationNamed } from '../src/operations.ts'
import { claimTask } from '../src/store/claim-task.ts'
import { submitTask } from '../src/store/submit-task.ts'
import { takeUnattended } from '../src/store/unattended.ts'
import { openCloudDatabase, startDatabases } from './cloud-database.ts'

let postgres: Postgres
before(async () => {
  postgres = await startDatabases()
})
after(() => postgres[Symbol.asyncDispose]())

const rules = { perHost: 10, perOrg: 10, within: () => 60 }

const away = sql`update host set listed = 0`
const owes = sql`insert into debt (host, vm, incarnation, goal, task)
  select host, id, 1, '{"be": "power", "to": "off"}', id from vm`

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
    given: [away, sql`update task set state = 'running', cancel = true`],
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
    given: [away, sql`update task set operation = 'create'`],
  },
  'its host is away, and it is made and may have been on': {
    may: false,
    given: [away, sql`update task set operation = 'create'`, sql`update vm set sent_on = true`],
  },
  'it has no host': { may: true, given: [away, sql`update vm set host = null`] },
}

/** Whoever asked has rung himself; the sweep comes when nobody heard that. */
const bellWasLost = sql`update vm set rung_at = null`

for (const [why, { may, given }] of Object.entries(cases)) {
  test(`a task ${may ? 'may' : 'may not'} act when ${why}, for the bell and for the claim`, async () => {
    await using cloud = await openCloudDatabase(postgres)
    const [vm] = (await cloud.addVms(1)).vms as [VmId]
    await cloud.as(cloud.who, (tx) =>
      submitTask(tx, operationNamed('powerOn'), { vm, owner: 'alice' }),
    )
    for (const each of given) await each.execute(cloud.db)
    await bellWasLost.execute(cloud.db)
    const rung = await takeUnattended(cloud.db, 10)
    assert.deepEqual(
      rung.map(({ id }) => id),
      may ? [vm] : [],
    )
    assert.equal((await claimTask(cloud.db, vm, 'run', rules)) !== undefined, may)
  })
}

test('the children of a later rank wait, for the bell and for the claim', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { vms } = await cloud.addVms(2)
  for (const vm of vms) {
    await cloud.as(cloud.who, (tx) =>
      submitTask(tx, operationNamed('powerOn'), { vm, owner: 'alice' }),
    )
  }
  const [first, second] = vms as [VmId, VmId]
  await sql`update task set parent = (select id from task where vm = ${first}),
    rank = case when vm = ${first} then 1 else 2 end`.execute(cloud.db)
  await bellWasLost.execute(cloud.db)
  const rung = await takeUnattended(cloud.db, 10)
  assert.deepEqual(
    rung.map(({ id }) => id),
    [first],
  )
  assert.equal(await claimTask(cloud.db, second, 'run', rules), undefined)
  assert.ok(await claimTask(cloud.db, first, 'run', rules))
})
