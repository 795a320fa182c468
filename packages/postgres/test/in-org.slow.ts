// Goal: a transaction of a tenant names its organisation before its first statement, in the same message, and leaves nothing behind.
// Method: a real PostgreSQL, behind a relay that keeps what the client sends.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'

import { type Postgres, reasonWithoutRoot, startPostgres } from '@skerry/lab'
import { sql } from 'kysely'

import { inOrg, openDatabase, openTenants } from '../src/index.ts'

const skip = reasonWithoutRoot('cloud') ?? false
const ORG = '00000000-0000-4000-8000-000000000001'
let dir: string
let postgres: Postgres

before(async () => {
  if (skip) return
  dir = await mkdtemp(join(tmpdir(), 'postgres-org-'))
  postgres = await startPostgres(dir)
})
after(async () => {
  if (skip) return
  await postgres[Symbol.asyncDispose]()
  await rm(dir, { recursive: true, force: true })
})

/** The database behind a relay; `sent` has the messages of the client. */
async function openRelay() {
  const sent: string[] = []
  const { hostname, port } = new URL(postgres.url)
  const relay = createServer((client) => {
    const server = connect(Number(port), hostname)
    client.on('data', (data) => {
      sent.push(data.toString('latin1'))
      server.write(data)
    })
    server.on('data', (data) => client.write(data))
    client.on('close', () => server.destroy()).on('error', () => server.destroy())
    server.on('close', () => client.destroy()).on('error', () => client.destroy())
  }).listen(0, '127.0.0.1')
  await once(relay, 'listening')
  const url = new URL(postgres.url)
  url.hostname = '127.0.0.1'
  url.port = String((relay.address() as AddressInfo).port)
  const pool = openTenants<Record<string, never>>({
    url: url.href,
    applicationName: 'org',
    size: 1,
  })
  return {
    pool,
    sent,
    async [Symbol.asyncDispose]() {
      await pool.destroy()
      relay.close()
    },
  }
}

const orgNow = sql<{ org: string }>`select current_setting('app.org', true) as org where ${1} = 1`

test(
  'begin, the organisation and the first statement are one message; the rest is one each',
  { skip },
  async () => {
    await using relay = await openRelay()
    const read = () => inOrg(relay.pool, ORG, async (tx) => (await orgNow.execute(tx)).rows[0]?.org)
    assert.equal(await read(), ORG)
    relay.sent.length = 0
    assert.equal(await read(), ORG)
    assert.equal(relay.sent.length, 2)
    assert.match(relay.sent[0] ?? '', new RegExp(`begin; set local app.org = '${ORG}'`))
    assert.match(relay.sent[1] ?? '', /^Q[^]*commit/)
  },
)

test('a transaction without statements sends nothing', { skip }, async () => {
  await using relay = await openRelay()
  await inOrg(relay.pool, ORG, (tx) => orgNow.execute(tx))
  relay.sent.length = 0
  assert.equal(await inOrg(relay.pool, ORG, async () => 'nothing'), 'nothing')
  await assert.rejects(
    inOrg(relay.pool, ORG, () => Promise.reject(new Error('failed'))),
    /failed/,
  )
  assert.deepEqual(relay.sent, [])
  const after = await inOrg(relay.pool, ORG, (tx) => orgNow.execute(tx))
  assert.equal(after.rows[0]?.org, ORG)
})

test(
  'a first statement that fails rolls back, and the connection is used again',
  { skip },
  async () => {
    await using db = openDatabase<Record<string, never>>({
      url: postgres.url,
      applicationName: 'owner',
    })
    await sql`create table written (n integer check (n > 0))`.execute(db)
    await using relay = await openRelay()
    const write = (...all: readonly number[]) =>
      inOrg(relay.pool, ORG, async (tx) => {
        for (const n of all) await sql`insert into written values (${n})`.execute(tx)
      })
    await assert.rejects(write(-1), /check/)
    await assert.rejects(write(1, -1), /check/)
    await write(2)
    const { rows } = await sql<{ n: number }>`select n from written`.execute(db)
    assert.deepEqual(rows, [{ n: 2 }])
  },
)

test(
  'if the organisation cannot be named, the first statement fails with that, and its result is not returned',
  { skip },
  async () => {
    await using relay = await openRelay()
    await assert.rejects(
      inOrg(relay.pool, "x'; drop table y; --", (tx) => orgNow.execute(tx)),
      /not an id of an organisation/,
    )
    assert.deepEqual(
      relay.sent.filter((each) => each.includes('drop')),
      [],
    )
    // A connection that dies between: the driver reports the failure of both.
    await inOrg(relay.pool, ORG, (tx) => orgNow.execute(tx))
    await assert.rejects(
      inOrg(relay.pool, ORG, (tx) =>
        sql`select pg_terminate_backend(pg_backend_pid()) where ${1} = 1`.execute(tx),
      ),
      { kind: 'unavailable' },
    )
    const { rows } = await inOrg(relay.pool, ORG, (tx) => orgNow.execute(tx))
    assert.equal(rows[0]?.org, ORG)
  },
)
