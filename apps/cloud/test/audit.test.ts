// Goal: security-relevant actions are recorded: the user, action, time, address and result, and never a secret.
// Method: each action once over HTTP; then the event query and the feed, as the organisation's administrator reads them.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { until } from '@skerry/lab'
import { attribute, text } from '@skerry/xml'
import { sql } from 'kysely'

import { readEvents } from '../src/database/events.ts'
import { FREE_FAILURES } from '../src/tenants/login-failures.ts'
import { lightHash } from './light-hash.ts'
import {
  find,
  hrefOf,
  logIn,
  openTenantsApi,
  pathOf,
  read,
  type TenantsApi,
} from './tenants-api.ts'

let api: TenantsApi
let admin: string
let root: string
before(async () => {
  api = await openTenantsApi()
  admin = await api.enter(api.eng.org, 'organisation administrator')
  const system = await api.cloud.db
    .insertInto('org')
    .values({ name: 'System' })
    .returning('id')
    .executeTakeFirstOrThrow()
  root = await api.enter(system.id, 'system administrator')
})
after(() => api[Symbol.asyncDispose]())

interface Record {
  readonly type: string
  readonly user: string
  readonly address: string
  readonly status: string
  readonly at: number
}

/** The events of a kind, oldest first, as the query shows them to a caller. */
async function records(kind: string, token = admin): Promise<Record[]> {
  const path = `/api/query?type=event&filter=eventType==${kind}&sortAsc=timeStamp&pageSize=128`
  const found = find(read(await api.ask('GET', path, { token })), 'EventRecord')
  return found.map((each) => {
    const said = (name: string) => attribute(each, name) ?? ''
    return {
      type: said('eventType'),
      user: said('userName'),
      address: said('userAddress'),
      status: said('eventStatus'),
      at: Date.parse(said('timeStamp')),
    }
  })
}

async function addUser(name: string, password: string): Promise<void> {
  const hashed = await lightHash(password)
  await api.cloud.db
    .insertInto('account')
    .values({ org: api.eng.org, name, role: 'user', password: hashed })
    .execute()
}

const last = async (kind: string): Promise<Record> => {
  const found = (await records(kind)).at(-1)
  assert.ok(found, kind)
  assert.equal(found.address, '127.0.0.1', kind)
  assert.ok(Math.abs(Date.now() - found.at) < 60_000, kind)
  return found
}

test('logins, refused logins and logouts are recorded: user, time, address and result', async () => {
  await addUser('carol', 'carol’s secret')
  const { token } = await logIn(api.ask, 'carol@eng', 'carol’s secret')
  assert.deepEqual(pickOf(await last('session.begun')), ['carol', '1'])
  assert.equal((await logIn(api.ask, 'carol@eng', 'not hers')).status, 401)
  assert.deepEqual(pickOf(await last('session.refused')), ['carol', '0'])
  assert.equal((await api.ask('DELETE', '/api/session', { token })).status, 204)
  assert.deepEqual(pickOf(await last('session.ended')), ['carol', '1'])
  assert.equal((await api.ask('DELETE', '/api/session', { token })).status, 401)
  assert.equal((await records('session.ended')).length, 1)
})

const pickOf = ({ user, status }: Record) => [user, status]

test('changes of roles, passwords, tokens and quotas are recorded: user and address, and never a secret', async () => {
  const secrets = ['first secret', 'second secret']
  const made = await api.ask('POST', `/api/admin/org/${api.eng.org}/users`, {
    token: admin,
    body: `<User name="dave"><Role name="user"/><Password>${secrets[0]}</Password></User>`,
  })
  const dave = pathOf(hrefOf(read(made, 201)))
  const change = async (path: string, body: string, token = admin) =>
    read(await api.ask('PUT', path, { token, body }))
  await change(dave, '<User><Role name="author"/></User>')
  await change(dave, `<User><Password>${secrets[1]}</Password></User>`)
  await change(dave, '<User><IsEnabled>false</IsEnabled></User>')
  await change(`/api/admin/org/${api.eng.org}`, '<AdminOrg><Quota vms="77"/></AdminOrg>', root)
  const token = await api.ask('POST', '/api/session/tokens', {
    token: admin,
    body: '<AccessTokenParams name="nightly"/>',
  })
  const [secret] = find(read(token, 201), 'Token')
  const own = pathOf(hrefOf(read(token, 201)))
  assert.equal((await api.ask('DELETE', own, { token: admin })).status, 204)
  for (const kind of ['user.added', 'user.changed', 'token.made', 'token.revoked'] as const) {
    assert.match((await last(kind)).user, /^organisation-administrator/, kind)
  }
  assert.match((await last('org.changed')).user, /^system-administrator/)
  const { rows } = await sql<{ details: object; kind: string }>`
    select kind, details from event where org = ${api.eng.org} order by tx, seq`.execute(
    api.cloud.db,
  )
  const said = (kind: string) =>
    rows.filter((row) => row.kind === kind).map(({ details }) => details)
  const requested = { by: (await last('user.added')).user, from: '127.0.0.1', user: 'dave' }
  assert.deepEqual(said('user.changed'), [
    { ...requested, role: 'author', password: false },
    { ...requested, password: true },
    { ...requested, disabled: true, password: false },
  ])
  assert.deepEqual((said('org.changed').at(-1) as { quota: unknown }).quota, { vms: 77 })
  const all = JSON.stringify(rows)
  for (const each of [...secrets, text(secret) ?? '', admin]) {
    assert.ok(each.length > 8 && !all.includes(each), each)
  }
})

test('the feed shows the same to the organisation, and nothing of it to another', async () => {
  const kinds = async (org: TenantsApi['eng']['org']) => {
    const principal = { ...api.cloud.principal, org }
    const events = await api.cloud.as(principal, (tx) =>
      readEvents(tx, { tx: '0', seq: '0' }, 1000),
    )
    return events.map(({ kind, details: what }) => `${kind} ${JSON.stringify(what)}`)
  }
  const theirs = await kinds(api.ops.org)
  for (const kind of ['session.begun', 'session.refused', 'session.ended', 'user.changed']) {
    // Internal work of PostgreSQL, such as ANALYZE, holds the newest events back for a moment.
    await until(`${kind} is recorded`, async () =>
      (await kinds(api.eng.org)).some((each) => each.startsWith(kind)),
    )
  }
  assert.ok(theirs.every((each) => !/carol|dave|quota/.test(each)))
})

test('guessing does not flood the events: unchecked attempts and unknown names are not recorded', async () => {
  await addUser('erin', 'erin’s secret')
  const refused = async () => (await records('session.refused')).length
  const before = await refused()
  const guess = (user: string) => logIn(api.ask, `${user}@eng`, 'guess')
  for (let n = 0; n < 4 * FREE_FAILURES; n += 1) await guess('erin')
  for (let n = 0; n < 3; n += 1) await guess(`nobody-${n}`)
  const reported = (await refused()) - before
  assert.ok(reported >= FREE_FAILURES && reported <= FREE_FAILURES + 4, `${reported}`)
  const all = await api.ask('GET', '/api/query?type=event&pageSize=128', { token: admin })
  assert.ok(!all.text.includes('nobody-'))
})
