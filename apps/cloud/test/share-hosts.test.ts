// Goal: each host is followed by one cell, and by one that reaches it. Method: the followers of two cells, on a real Postgres, with
// simulated hosts; each cell has its own link to them, which can be cut.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import { until, type Postgres } from '@skerry/lab'
import { simulatedHost } from '@skerry/lab/simulated-host'
import type { HostId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import type { CloudTables } from '../src/database/tables.ts'
import { followHosts, type Followers } from '../src/hosts/follow-hosts.ts'
import { isOpen } from '../src/tasks/claim-task.ts'
import { CutHost } from './away-host.ts'
import { addHost, kindsOf, openCloudDatabase, startDatabases } from './cloud-database.ts'

let postgres: Postgres
before(async () => {
  postgres = await startDatabases()
})
after(() => postgres[Symbol.asyncDispose]())

const hostOf = (db: Kysely<CloudTables>, id: HostId) =>
  db.selectFrom('host').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

/** A cell's followers, with heartbeats as fast as the test needs them. */
function startCell(
  db: Kysely<CloudTables>,
  cell: string,
  links: ReadonlyMap<HostId, CutHost>,
  more: Partial<Followers> = {},
) {
  const stop = new AbortController()
  const context: Followers = {
    db,
    cell,
    log: () => undefined,
    ...more,
    connect: ({ id }: { readonly id: HostId }) => {
      const link = links.get(id)
      assert.ok(link)
      return link.api
    },
    pause: (ms: number, signal: AbortSignal) =>
      sleep(Math.min(ms, 20), undefined, { signal }).catch(() => undefined),
  }
  const over = followHosts(context, stop.signal)
  return {
    async [Symbol.asyncDispose]() {
      stop.abort()
      await over
    },
  }
}

const LONG_MS = 120_000

const heldBy = async (db: Kysely<CloudTables>, cell: string): Promise<number> =>
  (await db.selectFrom('host').select('id').where('follower', '=', cell).execute()).length

async function fiveHosts(db: Kysely<CloudTables>, first: HostId) {
  const ids = [first]
  for (let n = 2; n <= 5; n += 1) ids.push(await addHost(db, `host-${n}`))
  await db
    .updateTable('host')
    .set({ follower: null, follow_until: null, list_session: '0' })
    .execute()
  return new Map(ids.map((id) => [id, new CutHost(simulatedHost({ pingMs: 200 }))]))
}

const allOpen = (db: Kysely<CloudTables>, ids: readonly HostId[]) =>
  until(
    'all hosts are open',
    async () => {
      const open = await Promise.all(ids.map((id) => isOpen(db, id)))
      return open.every(Boolean)
    },
    LONG_MS,
  )

test('two cells share the hosts; one that stops leaves them all to the other', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { db, host } = cloud
  const links = await fiveHosts(db, host)
  await using _ = startCell(db, 'a', links)
  await until('a follows all hosts', async () => (await heldBy(db, 'a')) === 5)
  {
    await using b = startCell(db, 'b', links)
    assert.ok(b)
    await until('they are shared', async () => {
      const [a, b] = await Promise.all([heldBy(db, 'a'), heldBy(db, 'b')])
      return a <= 3 && b <= 3 && a + b === 5
    })
    await allOpen(db, [...links.keys()])
  }
  await until('a follows all hosts again', async () => (await heldBy(db, 'a')) === 5)
  await allOpen(db, [...links.keys()])
})

test('the hosts of a dead cell are taken over when its lease expires, and later it is shut out as a zombie', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { db, host } = cloud
  const links = await fiveHosts(db, host)
  const dying = cloud.openPool()
  await using _ = startCell(dying, 'dead', links)
  await until('it follows all hosts', async () => (await heldBy(db, 'dead')) === 5)
  await allOpen(db, [...links.keys()])
  // From now on it reaches its hosts, but not the database.
  await dying.destroy()
  const before = await db.selectFrom('host').select(['id', 'session']).execute()
  await using heir = startCell(db, 'heir', links)
  assert.ok(heir)
  await until('the successor is alive', () => heirIsAlive(db))
  assert.equal(await heldBy(db, 'heir'), 0, 'a valid lease is respected')
  const over = sql<Date>`clock_timestamp() - interval '1 s'`
  await db.updateTable('host').set({ follow_until: over }).execute()
  await db.updateTable('cell').set({ alive_until: over }).where('id', '=', 'dead').execute()
  await until('the successor follows all hosts', async () => (await heldBy(db, 'heir')) === 5)
  await allOpen(db, [...links.keys()])
  for (const { id, session } of before) {
    assert.ok(BigInt((await hostOf(db, id)).session) > BigInt(session))
    // A lower session gets hello and is closed.
    const reported = links.get(id)?.api.follow(session, new AbortController().signal) ?? []
    assert.deepEqual(
      (await Array.fromAsync(reported)).map((line) => line.kind),
      ['hello'],
    )
  }
})

async function heirIsAlive(db: Kysely<CloudTables>): Promise<boolean> {
  const cells = await db.selectFrom('cell').select('id').where('id', '=', 'heir').execute()
  return cells.length > 0
}

/** The same hosts, over a separate link that can be cut. */
const waysTo = (links: ReadonlyMap<HostId, CutHost>) =>
  new Map([...links].map(([id, { api }]) => [id, new CutHost(api)]))

/** The seconds of silence after which a cell lets go of a host are seven here, so that no pause of a busy machine is taken for one. */
const fast = { now: () => performance.now() * 2.5 }

test('a cell that does not reach a host leaves it to one that does, and takes it back when it is reachable again', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { db, host } = cloud
  const links = await fiveHosts(db, host)
  const ids = [...links.keys()]
  const mine = waysTo(links)
  let fit = true
  let works: boolean | undefined
  const fitness = {
    get isFit() {
      return fit
    },
    reaches: (ok: boolean) => void (fit = ok),
    trusts: () => undefined,
    works: (now: boolean) => void (works = now),
  }
  await using b = startCell(db, 'b', mine, { ...fast, fitness })
  await until('b follows all hosts', async () => (await heldBy(db, 'b')) === 5, LONG_MS)
  await using a = startCell(db, 'a', links, fast)
  assert.ok(a && b)
  await until('they are shared', async () => (await heldBy(db, 'b')) === 3, LONG_MS)
  await allOpen(db, ids)

  const [lost] = await db.selectFrom('host').select('id').where('follower', '=', 'b').execute()
  assert.ok(lost)
  mine.get(lost.id)?.cut()
  await until('a follows it', async () => (await hostOf(db, lost.id)).follower === 'a', LONG_MS)
  await allOpen(db, ids)
  assert.deepEqual(await kindsOf(db), ['host.let-go'])
  assert.equal(works, true, 'b reaches its other hosts')

  for (const way of mine.values()) way.cut()
  await until('a follows all', async () => (await heldBy(db, 'a')) === 5, LONG_MS)
  await allOpen(db, ids)
  await until('b reports that it is unfit', () => works === false, LONG_MS)

  for (const way of mine.values()) way.fix()
  await until('b works again', () => works === true, LONG_MS)
  const soon = sql<Date>`clock_timestamp() + interval '1 s'`
  await db.updateTable('standing_back').set({ until: soon }).execute()
  await until(
    'they are shared again',
    async () => {
      const [left, right] = await Promise.all([heldBy(db, 'a'), heldBy(db, 'b')])
      return left <= 3 && right <= 3 && left + right === 5
    },
    LONG_MS,
  )
  await allOpen(db, ids)
})

test('a host that no cell reaches is tried until it is back', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { db, host } = cloud
  const links = await fiveHosts(db, host)
  await using a = startCell(db, 'a', links, fast)
  await using b = startCell(db, 'b', links, fast)
  assert.ok(a && b)
  await allOpen(db, [...links.keys()])
  links.get(host)?.cut()
  const letGo = async () => (await kindsOf(db)).filter((kind) => kind === 'host.let-go').length
  await until('the first releases it', async () => (await letGo()) === 1, LONG_MS)
  await until(
    'the other follows it',
    async () => (await hostOf(db, host)).follower !== null,
    LONG_MS,
  )
  links.get(host)?.fix()
  await allOpen(db, [...links.keys()])
})
