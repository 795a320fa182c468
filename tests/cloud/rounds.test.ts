// Goal: concurrent requests to two cells take effect once and in one order. Method: two real cells, Postgres and Temporal; the
// hosts are simulated. `npm run prove:cloud-creates` runs 500 rounds.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { reasonWithoutRoot, reasonWithoutTemporal, until } from '@skerry/lab'
import { connectTemporal } from '@skerry/temporal'

import { schedules } from '../../apps/cloud/src/reconcile/schedules.ts'
import { taskOf } from '../../apps/cloud/test/cloud-client.ts'
import { startSmallCloud, untilOpen, type SmallCloud } from '../../apps/cloud/test/small-cloud.ts'
import { readUnderWriters } from './feed.ts'
import { runRounds } from './parallel-creates.ts'
import { runStartStop } from './start-stop.ts'

const skip = reasonWithoutRoot('cloud') ?? (await reasonWithoutTemporal()) ?? false
let cloud: SmallCloud
before(async () => {
  if (skip !== false) return
  cloud = await startSmallCloud({ cells: 2, hosts: 2 })
  await untilOpen(cloud.db, 2)
})
after(() => cloud?.[Symbol.asyncDispose]())

test(
  'one key sent 2 to 50 times at once is one vApp and one task, another body a conflict',
  { skip },
  async (t) => {
    const began = performance.now()
    const figures = await runRounds({ cloud, seed: 5, rounds: 25 })
    t.diagnostic(`${JSON.stringify(figures)} in ${Math.round(performance.now() - began)} ms`)
  },
)

test(
  'concurrent start and stop of one vApp both end, and after the later one all its VMs are in the same state',
  { skip },
  async (t) => {
    const began = performance.now()
    const figures = await runStartStop(cloud, 20)
    t.diagnostic(`${JSON.stringify(figures)} in ${Math.round(performance.now() - began)} ms`)
  },
)

test(
  'a reader of events that reconnects repeatedly misses none of twenty writers, and sees none twice',
  { skip },
  async (t) => {
    const began = performance.now()
    const figures = await readUnderWriters(cloud, 11)
    t.diagnostic(`${JSON.stringify(figures)} in ${Math.round(performance.now() - began)} ms`)
  },
)

test(
  'a crashed VM is started by the one schedule that both cells have created',
  { skip },
  async (t) => {
    const client = await cloud.logIn()
    const made = await client.instantiate('fallen')
    await client.ended(taskOf(made.root))
    const { db, hosts } = cloud
    const { id } = await db
      .selectFrom('vm')
      .innerJoin('vapp', 'vapp.id', 'vm.vapp')
      .select('vm.id')
      .where('vapp.name', '=', 'fallen')
      .executeTakeFirstOrThrow()
    const host = hosts.find((each) => each.find(id))
    assert.ok(host)
    const began = performance.now()
    host.crash(id)
    await until('it is on again', () => host.find(id)?.power === 'on', 60_000)
    t.diagnostic(`on again after ${Math.round(performance.now() - began)} ms`)
    const started = () =>
      db
        .selectFrom('task')
        .select(['operation', 'state'])
        .where('vm', '=', id)
        .where('owner', '=', 'system')
        .execute()
    const isOver = async () => (await started())[0]?.state === 'success'
    await until('its task has ended', isOver, 60_000)
    assert.deepEqual(await started(), [{ operation: 'powerOn', state: 'success' }])

    await using temporal = connectTemporal(cloud.temporal)
    const all = await temporal.within(({ schedule }) => Array.fromAsync(schedule.list()))
    const wanted = schedules.map((each) => each.id)
    assert.deepEqual(all.map(({ scheduleId }) => scheduleId).toSorted(), wanted.toSorted())
    const { info } = await temporal.within(({ schedule }) =>
      schedule.getHandle('reconcile/power').describe(),
    )
    const starts = info.recentActions.map(({ scheduledAt }) => scheduledAt.getTime())
    assert.ok(starts.length > 0)
    assert.equal(new Set(starts).size, starts.length, 'one pass at a time')
  },
)
