// Goal: a cell reads events once for all its streams, and no stream misses one or gets one twice. Method: the route itself with its
// streams, on a real Postgres, whose statements are counted.
import assert from 'node:assert/strict'
import type { Readable } from 'node:stream'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import { until } from '@skerry/lab'
import type { OrgId, TaskId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import { readPrincipals } from '../src/auth/session-alive.ts'
import { emitEvent } from '../src/database/events.ts'
import type { CloudTables } from '../src/database/tables.ts'
import type { Principal } from '../src/domain/authorize.ts'
import type { Role } from '../src/domain/roles.ts'
import { Feed, WAITING_MOST } from '../src/feeds/feed.ts'
import { Feeds } from '../src/feeds/feeds.ts'
import { events as routes } from '../src/routes/events.ts'
import { eventCursors } from './cloud-database.ts'
import { openTenantsApi, type TenantsApi } from './tenants-api.ts'

let api: TenantsApi
let db: Kysely<CloudTables>
let system: OrgId
before(async () => {
  api = await openTenantsApi()
  db = api.cloud.db
  const [org] = await db.insertInto('org').values({ name: 'System' }).returning('id').execute()
  system = org?.id ?? assert.fail('no organisation')
})
after(() => api[Symbol.asyncDispose]())

interface Sent {
  readonly id: string | undefined
  readonly event: string
  readonly data: Readonly<Record<string, unknown>>
}

/** A stream of one reader, and what it has sent. */
interface Opened {
  readonly sent: Sent[]
  readonly body: Readable
  /** The numbers of its test events. */
  numbers(): number[]
}

/** A cell's feeds, with its own count of statements. `held`: what its first stream waits for before it catches up. */
function openCell(held?: Promise<void>) {
  const statements: string[] = []
  let catchUps = 0
  const counting = db.withPlugin({
    transformQuery: ({ node, queryId }) => {
      statements.push(db.getExecutor().compileQuery(node, queryId).sql)
      return node
    },
    transformResult: async ({ result }) => result,
  })
  const feeds = new Feeds({
    db: counting,
    now: () => performance.now(),
    log: (message) => assert.fail(message),
  })
  const context = {
    feeds,
    eventCursors,
    as: async (principal: Principal, work: Parameters<TenantsApi['cloud']['as']>[1]) => {
      catchUps += 1
      // The first is the route's own: it checks the position before the stream begins.
      if (catchUps > 1) await held
      return principal.role === 'system administrator'
        ? db.transaction().execute(work)
        : api.cloud.as(principal, work)
    },
  }
  const open = async (
    reader: Reader,
    query: { after?: string; progress?: string } = {},
  ): Promise<Opened> => {
    const { body } = await route.handle(context, { ...reader, query })
    return collect(body)
  }
  return {
    open,
    statements,
    catchUps: () => catchUps,
    [Symbol.asyncDispose]: () => feeds[Symbol.asyncDispose](),
  }
}

interface StreamingRoute {
  handle(context: unknown, request: unknown): Promise<{ readonly body: Readable }>
}
const [route] = routes as unknown as readonly [StreamingRoute]

function collect(body: Readable): Opened {
  const sent: Sent[] = []
  let text = ''
  body.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
    const whole = text.split('\n\n')
    text = whole.pop() ?? ''
    for (const each of whole) {
      const field = (name: string) => new RegExp(`^${name}: (.+)$`, 'm').exec(each)?.[1]
      const event = field('event')
      if (event !== undefined)
        sent.push({ id: field('id'), event, data: JSON.parse(field('data') ?? '') as Sent['data'] })
    }
  })
  const numbers = () =>
    sent.filter(({ event }) => event === 'test.n').map(({ data }) => Number(data['n']))
  return { sent, body, numbers }
}

interface Reader {
  readonly principal: Principal
  readonly token: string
}

async function enter(org: OrgId, role: Role = 'user'): Promise<Reader> {
  const token = await api.enter(org, role)
  const found = (await readPrincipals(db, [token])).get(token) ?? assert.fail('no session')
  return { token, principal: { ...found, user: 'reader', orgName: 'org' } }
}

const emit = (on: Kysely<CloudTables>, n: number, org: OrgId) =>
  on
    .insertInto('event')
    .values({ kind: 'test.n', org, details: JSON.stringify({ n }) })
    .execute()

const readsOf = (statements: readonly string[], table: string) =>
  statements.filter((text) => text.includes(`from ${table}`) || text.includes(`from "${table}"`))

test('a hundred streams cost one query of events an interval, and none each', async () => {
  await using cell = openCell()
  const readers = await Promise.all([
    ...Array.from({ length: 4 }, () => enter(api.eng.org)),
    enter(api.ops.org),
  ])
  const streams: (Opened & { readonly org: OrgId })[] = []
  for (const reader of readers) {
    for (let n = 0; n < 20; n += 1)
      streams.push({ ...(await cell.open(reader)), org: reader.principal.org })
  }
  const isSeen = (n: number, org: OrgId) =>
    streams.every((each) => each.org !== org || each.numbers().at(-1) === n)
  await emit(db, 0, api.eng.org)
  await emit(db, 0, api.ops.org)
  await until('all have caught up', () => isSeen(0, api.eng.org) && isSeen(0, api.ops.org))
  cell.statements.length = 0
  const caughtUp = cell.catchUps()
  for (let n = 1; n <= 8; n += 1) {
    await emit(db, n, api.eng.org)
    await emit(db, n, api.ops.org)
    await until('all receive it', () => isSeen(n, api.eng.org) && isSeen(n, api.ops.org))
  }
  const intervals = readsOf(cell.statements, 'session').length
  const reads = readsOf(cell.statements, 'event').length
  assert.ok(intervals >= 8 && Math.abs(reads - intervals) <= 1, `${reads} in ${intervals}`)
  // The other query of an interval checks the rights of all readers; once a minute their sessions are renewed.
  const others = cell.statements.filter(
    (text) => !/from "?(event|session)\b|^update session/.test(text),
  )
  assert.deepEqual(others, [])
  assert.equal(cell.catchUps(), caughtUp, 'no stream reads for itself')
})

test('streams from old positions miss nothing and get nothing twice, while transactions commit out of order', async () => {
  await using cell = openCell()
  const { org } = api.eng
  const cursors = eventCursors(org)
  const readers = await Promise.all([enter(org), enter(org), enter(org)])
  const writer = new AbortController()
  let last = 100
  const write = async (lane: number) => {
    for (let round = 0; !writer.signal.aborted; round += 1) {
      // The number is drawn in the transaction, which stays open for a while: later ones commit before it.
      await db.transaction().execute(async (tx) => {
        for (let each = 0; each <= round % 3; each += 1) await emit(tx, (last += 1), org)
        await sleep((lane * 13 + round * 7) % 40)
        await emit(tx, (last += 1), org)
      })
      await emit(db, (last += 1), api.ops.org)
    }
  }
  const writing = Promise.all([0, 1, 2, 3, 4].map(write))
  const opened: { readonly stream: Opened; readonly after: string }[] = []
  const first = await cell.open(readers[0], { after: '0-0' })
  for (let n = 0; n < 24; n += 1) {
    await sleep(40)
    const known = first.sent.map(({ id }) => id ?? '')
    const after = known[Math.floor((known.length * (n % 5)) / 5)] ?? '0-0'
    const stream = await cell.open(readers[1 + (n % 2)] as Reader, { after })
    // One in four does not read for a while.
    if (n % 4 === 0) stream.body.pause()
    opened.push({ stream, after })
  }
  writer.abort()
  await writing
  for (const { stream } of opened) stream.body.resume()
  await emit(db, -1, org)
  const all = [first, ...opened.map(({ stream }) => stream)]
  await until('all have the last', () => all.every((each) => each.numbers().at(-1) === -1), 60_000)
  const { rows } = await sql<{ tx: string; seq: string }>`select tx, seq from event
    where org = ${org} order by tx, seq`.execute(db)
  const ids = rows.map((row) => cursors.write(row))
  assert.deepEqual(
    first.sent.map(({ id }) => id),
    ids,
  )
  for (const { stream, after } of opened) {
    const sent = stream.sent.map(({ id }) => id)
    assert.deepEqual(sent, ids.slice(ids.indexOf(after) + 1), `after ${after}`)
  }
})

test('an event waits for the transactions that began before it', async () => {
  await using cell = openCell()
  const { org } = api.ops
  const stream = await cell.open(await enter(org))
  const begun = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  const slow = db.transaction().execute(async (tx) => {
    await emit(tx, 501, org)
    begun.resolve()
    await goOn.promise
  })
  await begun.promise
  await emit(db, 502, org)
  const looks = readsOf(cell.statements, 'event').length
  await until('it is looked for', () => readsOf(cell.statements, 'event').length >= looks + 3)
  assert.deepEqual(stream.numbers(), [])
  goOn.resolve()
  await slow
  await until('both are sent', () => stream.numbers().length === 2)
  assert.deepEqual(stream.numbers(), [501, 502])
})

test('a stream that is not read falls behind instead of filling memory, and reads on from the database', async () => {
  await using cell = openCell()
  const { org } = api.eng
  const stream = await cell.open(await enter(org))
  await emit(db, 1000, org)
  await until('it has caught up', () => stream.numbers().at(-1) === 1000)
  stream.body.pause()
  const total = 2 * WAITING_MOST
  await sql`insert into event (kind, org, details) select 'test.n', ${org},
    jsonb_build_object('n', 1000 + n, 'text', repeat('x', 200)) from generate_series(1, ${total}) n`.execute(
    db,
  )
  const before = cell.catchUps()
  const looks = readsOf(cell.statements, 'event').length
  await until('it was handed out', () => readsOf(cell.statements, 'event').length >= looks + 6)
  stream.body.resume()
  await until('it is read', () => stream.numbers().length === total + 1, 60_000)
  assert.deepEqual(
    stream.numbers(),
    Array.from({ length: total + 1 }, (_, n) => 1000 + n),
  )
  assert.ok(cell.catchUps() > before)
})

test('at most a number of rows and of progress waits for one reader', async () => {
  const feed = new Feed({ ...(await enter(api.eng.org)), isWithProgress: true }, () => undefined)
  const rows = await db.selectFrom('event').selectAll().limit(1).execute()
  assert.ok(feed.startCatchUp(), 'it begins behind')
  for (let n = 0; n < WAITING_MOST; n += 1) feed.add(rows)
  assert.equal(feed.takeRows().length, WAITING_MOST)
  for (let n = 0; n <= WAITING_MOST; n += 1) feed.add(rows)
  assert.deepEqual([feed.startCatchUp(), feed.takeRows()], [true, []])
  for (let n = 0; n < 2.5 * WAITING_MOST; n += 1)
    feed.addProgress(String(n) as TaskId, { event: 'progress', data: {} })
  assert.ok(feed.takeProgress().length <= WAITING_MOST)
})

test('progress is sent without an id to readers of its organisation that asked for it, at most once a second', async () => {
  await using cell = openCell()
  const [mine, theirs] = [await enter(api.eng.org), await enter(api.ops.org)]
  const asked = await cell.open(mine, { progress: 'true' })
  const notAsked = await cell.open(mine)
  const foreign = await cell.open(theirs, { progress: 'true' })
  const everywhere = await cell.open(await enter(system, 'system administrator'), {
    progress: 'true',
  })
  const task = api.eng.ids['task'] as TaskId
  const set = (progress: number) =>
    db.updateTable('task').set({ state: 'running', progress }).where('id', '=', task).execute()
  const of = ({ sent }: Opened) => sent.filter(({ event }) => event === 'progress')
  const latest = (stream: Opened) => of(stream).at(-1)?.data['progress']
  await set(10)
  await until('it is sent', () => latest(asked) === 10 && latest(everywhere) === 10)
  const began = performance.now()
  for (let n = 11; n <= 90; n += 1) {
    await set(n)
    await sleep(20)
  }
  await until('the last is sent', () => latest(asked) === 90)
  const seconds = (performance.now() - began) / 1000
  assert.ok(of(asked).length <= 2 + seconds, `${of(asked).length} in ${seconds} s`)
  const [one] = of(asked)
  assert.deepEqual([one?.id, one?.data['task']], [undefined, task])
  // Unchanged progress is not repeated, and nothing is sent of an ended task.
  const count = of(asked).length
  const reads = readsOf(cell.statements, 'task').length
  await until('it was read again', () => readsOf(cell.statements, 'task').length >= reads + 2)
  assert.equal(of(asked).length, count)
  assert.deepEqual([of(notAsked), of(foreign)], [[], []])
  await db
    .updateTable('task')
    .set({ state: 'queued', progress: 0 })
    .where('id', '=', task)
    .execute()
})

test('no progress of a task follows its end, also if it was read before the end', async () => {
  const held = Promise.withResolvers<void>()
  await using cell = openCell(held.promise)
  const { org } = api.eng
  const task = api.eng.ids['task'] as TaskId
  const set = (state: 'running' | 'queued', progress: number) =>
    db.updateTable('task').set({ state, progress }).where('id', '=', task).execute()
  await emit(db, 2000, org)
  // Not the end of the readable events: internal work of PostgreSQL, such as ANALYZE, holds the newest back for a moment.
  const last = await db
    .selectFrom('event')
    .select(['tx', 'seq'])
    .orderBy('tx', 'desc')
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow()
  const after = eventCursors(org).write(last)
  const stream = await cell.open(await enter(org), { after, progress: 'true' })
  await set('running', 30)
  const reads = readsOf(cell.statements, 'task').length
  await until('its progress waits', () => readsOf(cell.statements, 'task').length >= reads + 2)
  await set('queued', 0)
  await emitEvent(db, {
    kind: 'task.success',
    task: { id: task, org, vapp: null, vm: null, operation: 'powerOn' },
  })
  held.resolve()
  await emit(db, 2001, org)
  await until('the end is sent', () => stream.numbers().at(-1) === 2001)
  assert.deepEqual(
    stream.sent.map(({ event }) => event),
    ['task.success', 'test.n'],
  )
})

test('of a reader that got the end of a task, progress that is handed out later is dropped until it is read again', async () => {
  const feed = new Feed({ ...(await enter(api.eng.org)), isWithProgress: true }, () => undefined)
  const [row = assert.fail()] = await db.selectFrom('event').selectAll().limit(1).execute()
  const [ended, other] = ['1', '2'] as [TaskId, TaskId]
  const say = (task: TaskId) => feed.addProgress(task, { event: 'progress', data: { task } })
  say(ended)
  feed.dropProgressOfEnded([
    { ...row, kind: 'task.error', task: ended },
    { ...row, kind: 'task.running', task: other },
  ])
  say(ended)
  say(other)
  assert.deepEqual(
    feed.takeProgress().map(({ data }) => data),
    [{ task: other }],
  )
  feed.expectProgress()
  say(ended)
  assert.equal(feed.takeProgress().length, 1)
})
