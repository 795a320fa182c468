// Goal: an unavailable backend costs waiting time and nothing else. Method: two real cells under continuous requests of every
// kind, while Postgres or Temporal is killed below them, stays away for ten seconds, and comes back.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'

import { reasonWithoutRoot, reasonWithoutTemporal, until } from '@skerry/lab'
import { connectTemporal } from '@skerry/temporal'
import type { TaskId } from '@skerry/vm'
import { attribute } from '@skerry/xml'

import { hashToken } from '../../apps/cloud/src/auth/access-token.ts'
import { schedules } from '../../apps/cloud/src/reconcile/schedules.ts'
import { taskOf, type CloudClient } from '../../apps/cloud/test/cloud-client.ts'
import { startSmallCloud, untilOpen, type SmallCloud } from '../../apps/cloud/test/small-cloud.ts'
import { create, startCallers, type Answer } from './callers.ts'

const AWAY_MS = 10_000
const skip = reasonWithoutRoot('cloud') ?? (await reasonWithoutTemporal()) ?? false
let cloud: SmallCloud
let client: CloudClient
/** A vApp that is powered all the time, and the name of one that no client changes: it is on. */
let requested: { power: string; still: string }
before(async () => {
  if (skip !== false) return
  cloud = await startSmallCloud({ cells: 2, hosts: 2 })
  await untilOpen(cloud.db, 2)
  client = await cloud.logIn()
  const still = await client.instantiate('still')
  const busy = await client.instantiate('busy')
  for (const { root } of [still, busy]) await client.ended(taskOf(root))
  requested = { power: attribute(busy.root, 'href') ?? '', still: 'still' }
})
after(() => cloud?.[Symbol.asyncDispose]())

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

/** Every task that was ever accepted. */
async function untilAllEnded(withinMs = 120_000): Promise<void> {
  await until('every task ends', async () => (await openTasks()) === 0, withinMs)
}

async function openTasks(): Promise<number> {
  const { count } = await cloud.db
    .selectFrom('task')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where('ended_at', 'is', null)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Everything answered with 2xx exists: tasks, vApps, logins. */
async function assertNoLie(answers: readonly Answer[]): Promise<void> {
  const well = answers.filter(({ status }) => status < 300)
  const tasks = await cloud.db.selectFrom('task').select('id').execute()
  const known = new Set(tasks.map(({ id }) => id))
  const tokens = await cloud.db.selectFrom('session').select('token_hash').execute()
  const hashes = new Set(tokens.map(({ token_hash: hash }) => hash.toString('hex')))
  for (const { kind, subject, text } of well) {
    if (kind === 'create' || kind === 'power') assert.ok(known.has(subject as TaskId), text)
    if (kind === 'logIn')
      assert.ok(hashes.has(hashToken(subject).toString('hex')), 'the login is valid')
    if (kind === 'query') assert.match(subject, /^(POWERED_ON|UNKNOWN)$/, 'UNKNOWN is not off')
  }
}

/** No client changed it: it runs in its first boot, is shown so, and the cloud never took it for crashed. */
async function assertStill(): Promise<void> {
  const { db, hosts } = cloud
  const shown = () =>
    db
      .selectFrom('vm')
      .innerJoin('vapp', 'vapp.id', 'vm.vapp')
      .select(['vm.id', 'vm.displayed_status'])
      .where('vapp.name', '=', requested.still)
      .executeTakeFirstOrThrow()
  await until(
    'it is reported again',
    async () => (await shown()).displayed_status === 'POWERED_ON',
    60_000,
  )
  const { id } = await shown()
  const tasks = await db.selectFrom('task').select('operation').where('vm', '=', id).execute()
  assert.deepEqual(tasks.map(({ operation }) => operation).toSorted(), ['create', 'powerOn'])
  assert.equal(hosts.map((host) => host.find(id)?.power).find(Boolean), 'on')
}

/** Each ended task has emitted one end event. */
async function assertToldOnce(): Promise<void> {
  const rows = await cloud.db
    .selectFrom('task')
    .leftJoin('event', (join) =>
      join
        .onRef('event.task', '=', 'task.id')
        .on('event.kind', 'in', ['task.success', 'task.error', 'task.canceled']),
    )
    .select(['task.id', 'task.state', ({ fn }) => fn.count<string>('event.seq').as('ends')])
    .groupBy(['task.id', 'task.state'])
    .execute()
  for (const { id, state, ends } of rows) assert.deepEqual([state, ends], ['success', '1'], id)
}

/** The ids of all rows that must never be lost. */
async function everything(): Promise<Readonly<Record<'vms' | 'tasks' | 'events', Set<string>>>> {
  const { db } = cloud
  const vms = await db.selectFrom('vm').select('id').execute()
  const tasks = await db.selectFrom('task').select('id').execute()
  const events = await db.selectFrom('event').select(['tx', 'seq']).execute()
  return {
    vms: new Set(vms.map(({ id }) => id)),
    tasks: new Set(tasks.map(({ id }) => id)),
    events: new Set(events.map(({ tx, seq }) => `${tx}-${seq}`)),
  }
}

let lostAt = 0

test(
  "Temporal's database is lost: no VM, task or event is, and unfinished tasks end",
  { skip },
  async (t) => {
    const start = await client.start()
    const other = client.at(cloud.cells[1]?.url ?? '')
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, n) => [
        create(client, start, `lost-${n}`),
        other.ask(
          'POST',
          `${requested.power}/power/action/${n % 2 === 0 ? 'powerOff' : 'powerOn'}`,
        ),
      ]).flat(),
    )
    for (const { status, text } of replies) assert.ok(status === 201 || status === 202, text)
    await cloud.temporal.kill9()
    const unfinished = await openTasks()
    assert.ok(unfinished > 0, 'some have not ended')
    const before = await everything()
    await cloud.temporal.dropDatabase()
    lostAt = performance.now()
    await untilAllEnded()
    t.diagnostic(
      `${unfinished} tasks ended ${seconds(performance.now() - lostAt)} after it was back`,
    )
    const now = await everything()
    for (const what of ['vms', 'tasks', 'events'] as const) {
      assert.equal(before[what].difference(now[what]).size, 0, what)
    }
    await assertToldOnce()
    await assertStill()
  },
)

test(
  'Postgres is away for 10 s: 503 with Retry-After, no wrong response, and recovery by itself',
  { skip },
  async (t) => {
    await using callers = await startCallers(cloud, { ...requested, prefix: 'postgres' })
    await callers.untilAllWell(30_000)
    const before = performance.now()
    await cloud.postgres.kill9()
    const gone = performance.now()
    await sleep(AWAY_MS)
    const returning = performance.now()
    await cloud.postgres.restart()
    const back = performance.now()
    await callers.untilAllWell(60_000)
    t.diagnostic(
      `all requests succeed again ${seconds(performance.now() - back)} after it was back`,
    )
    await callers.stop()
    const { answers } = callers

    const during = answers.filter((one) => one.beganAt > gone && one.endedAt < returning)
    assert.ok(during.length > 50, `${during.length} requests while it was away`)
    for (const { status, text } of during) assert.equal(status, 503, text)
    for (const { status, retryAfter, text, kind } of answers) {
      if (status !== 503) assert.ok(status < 300, `${kind}: ${status} ${text}`)
      else assert.equal(retryAfter, '2', kind)
    }
    const slowest = Math.max(...answers.map(({ beganAt, endedAt }) => endedAt - beganAt))
    assert.ok(slowest < 15_000, `the slowest response took ${seconds(slowest)}`)
    const first = answers.find(({ status, endedAt }) => status < 300 && endedAt > returning)
    assert.ok(first)
    t.diagnostic(
      `${during.length} of ${answers.length} while away, all 503; slowest ${seconds(slowest)}`,
    )
    t.diagnostic(`first success ${seconds(Math.max(0, first.endedAt - back))} after it was back`)

    await assertNoLie(answers)
    // It is unknown whether a create without a response took effect: it is repeated with its key.
    const start = await client.start()
    const creates = answers.filter(({ kind }) => kind === 'create')
    for (const { key } of creates.filter(({ endedAt }) => endedAt > before)) {
      assert.equal((await create(client, start, key)).status, 201)
    }
    await untilAllEnded()
    const made = await cloud.db
      .selectFrom('vapp')
      .select('name')
      .where('name', '~', '^postgres-create-')
      .execute()
    assert.deepEqual(
      made.map(({ name }) => name).toSorted(),
      creates.map(({ key }) => key).toSorted(),
    )
    await assertStill()
  },
)

test(
  'Temporal is away for 10 s: all requests are accepted and queued, reads continue, and the tasks end afterwards',
  { skip },
  async (t) => {
    await using callers = await startCallers(cloud, { ...requested, prefix: 'temporal' })
    await callers.untilAllWell(30_000)
    await cloud.temporal.kill9()
    await sleep(AWAY_MS)
    assert.ok((await openTasks()) > 0, 'they wait')
    await cloud.temporal.restart()
    const back = performance.now()
    await callers.stop()
    const { answers } = callers
    for (const { status, text, kind } of answers) assert.ok(status < 300, `${kind}: ${text}`)
    await untilAllEnded()
    t.diagnostic(`all tasks ended ${seconds(performance.now() - back)} after it was back`)
    await assertNoLie(answers)
    await assertToldOnce()
    await assertStill()
  },
)

test('the lost namespace and schedules are created again without help', { skip }, async (t) => {
  await using temporal = connectTemporal(cloud.temporal)
  const known = async () => {
    const all = await temporal.within(({ schedule }) => Array.fromAsync(schedule.list()))
    return all.map(({ scheduleId }) => scheduleId).toSorted()
  }
  const wanted = schedules.map(({ id }) => id).toSorted()
  const there = async () => isDeepStrictEqual(await known().catch(() => []), wanted)
  await until('the schedules exist', there, 75_000)
  t.diagnostic(`detected ${seconds(performance.now() - lostAt)} after the loss`)
})
