// Goal: a grant that was ended is never valid, in whichever order its request and its end reach the database. Method: a real
// PostgreSQL; another transaction holds the request at a chosen point until the end has arrived.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'

import { until } from '@skerry/lab'
import { openDatabase } from '@skerry/postgres'
import type { OrgId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import { actingAs } from '../src/database/acting-as.ts'
import type { CloudTables, Tx } from '../src/database/tables.ts'
import { deleteExpired } from '../src/reconcile/delete-expired.ts'
import { endGrant, giveGrant } from '../src/tenants/grants.ts'
import { openTestWorkflowApi, type TestWorkflowApi } from './workflow-api.ts'

const SERVER = 'flow-1'
const WAIT_MS = 60_000

let flow: TestWorkflowApi
let db: Kysely<CloudTables>
let eng: OrgId
before(async () => {
  flow = await openTestWorkflowApi()
  eng = flow.api.eng.org
  // Statements wait for locks here for as long as the test wants.
  db = openDatabase<CloudTables>({
    url: actingAs(flow.api.cloud.url, 'skerry_system'),
    applicationName: 'test',
    statementTimeoutMs: WAIT_MS,
    connectTimeoutMs: WAIT_MS,
  })
})
after(async () => {
  await db?.destroy()
  await flow?.[Symbol.asyncDispose]()
})

const statusOf = async (grant: string) => (await flow.askAs(grant, 'GET', '/api/session')).status

async function eventsOf(grant: string): Promise<string[]> {
  const { rows } = await sql<{ kind: string }>`select kind from event
    where details ->> 'grant' = ${grant} order by tx, seq`.execute(db)
  return rows.map(({ kind }) => kind)
}

/** Keeps a lock until the work is done, however long that takes. */
const holding = (lock: ReturnType<typeof sql>, work: (tx: Tx) => Promise<void>) =>
  db.transaction().execute(async (tx) => {
    await sql`set local idle_in_transaction_session_timeout = 0`.execute(tx)
    await lock.execute(tx)
    await work(tx)
  })

/** The backend that waits for this one. Asked outside of the transaction, in which the activity would never change. */
const waiterFor = (backend: number) =>
  until(
    `a transaction waits for ${backend}`,
    async () => {
      const { rows } = await sql<{ pid: number }>`select pid from pg_stat_activity
        where datname = current_database() and ${backend}::integer = any(pg_blocking_pids(pid))`.execute(
        db,
      )
      return rows[0]?.pid
    },
    WAIT_MS,
  )

async function backendOf(tx: Tx): Promise<number> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx)
  return rows[0]?.pid ?? assert.fail()
}

test('a grant that was ended before it was requested is not given', async () => {
  const { id: account } = await flow.addUser(eng, 'user')
  const grant = randomUUID()
  for (let n = 0; n < 2; n += 1) {
    assert.equal((await flow.tell('DELETE', `/machine/v1/grants/${grant}`)).status, 200)
  }
  for (let n = 0; n < 2; n += 1) {
    await assert.rejects(flow.grant(eng, account, { id: grant }), /forbidden.*has ended/)
  }
  assert.equal(await statusOf(grant), 401)
  assert.deepEqual(await eventsOf(grant), [])
  const next = await flow.grant(eng, account, { id: randomUUID() })
  assert.equal(await statusOf(next), 200, 'other grants of the user are given')
})

test('a request that is held up until its grant was ended is refused', async () => {
  const { id: account } = await flow.addUser(eng, 'user')
  const grant = randomUUID()
  let given: Promise<unknown> | undefined
  await holding(sql`select from account where id = ${account} for update`, async (tx) => {
    const requested = { id: grant, org: eng, account, kind: 'run', server: SERVER } as const
    given = assert.rejects(giveGrant(db, { ...requested, parent: undefined }), {
      kind: 'forbidden',
    })
    await waiterFor(await backendOf(tx))
    await endGrant(db, grant, SERVER)
  })
  await given
  assert.equal(await statusOf(grant), 401)
  assert.deepEqual(await eventsOf(grant), [])
})

test('the end of a grant that is just being stored waits for it, and ends it', async () => {
  const { id: account } = await flow.addUser(eng, 'user')
  const grant = randomUUID()
  let both: Promise<unknown> | undefined
  // Its foreign key holds up the request after it has written the row.
  await holding(sql`select from org where id = ${eng} for update`, async (tx) => {
    const requested = { id: grant, org: eng, account, kind: 'run', server: SERVER } as const
    const given = giveGrant(db, { ...requested, parent: undefined })
    const giving = await waiterFor(await backendOf(tx))
    both = Promise.all([given, endGrant(db, grant, SERVER)])
    await waiterFor(giving)
  })
  await both
  assert.equal(await statusOf(grant), 401)
  assert.deepEqual(await eventsOf(grant), ['grant.given', 'grant.ended'])
})

test('the end of a grant that was never given is deleted after the retention of ended grants', async () => {
  const grant = randomUUID()
  await endGrant(db, grant, SERVER)
  const stored = db.selectFrom('workflow_grant').select('account').where('id', '=', grant)
  await deleteExpired(db)
  assert.deepEqual(await stored.execute(), [{ account: null }])
  await sql`update workflow_grant set ended_at = ended_at - interval '91 d' where id = ${grant}`.execute(
    db,
  )
  await deleteExpired(db)
  assert.deepEqual(await stored.execute(), [])
})
