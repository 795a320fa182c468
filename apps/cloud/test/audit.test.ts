// Goal: what happens to rights can be read afterwards: who did what, when, from where, how it ended, and never a secret.
// Method: each of it once over HTTP; then the query of events and the feed, as the organisation's administrator reads them.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'

import { until } from '@skerry/lab'
import { attribute, text } from '@skerry/xml'
import { sql } from 'kysely'

import { hashPassword } from '../src/identity/password.ts'
import { readEvents } from '../src/store/events.ts'
import { FREE_FAILURES } from '../src/store/login-failures.ts'
import { find, hrefOf, logIn, openDoor, pathOf, read, type Door } from './tenants-door.ts'

let door: Door
let admin: string
let root: string
before(async () => {
  door = await openDoor()
  admin = await door.enter(door.eng.org, 'organisation administrator')
  const system = await door.cloud.db
    .insertInto('org')
    .values({ name: 'System' })
    .returning('id')
    .executeTakeFirstOrThrow()
  root = await door.enter(system.id, 'system administrator')
})
after(() => door[Symbol.asyncDispose]())

interface Record {
  readonly type: string
  readonly user: string
  readonly address: string
  readonly status: string
  readonly at: number
}

/** The events of a kind, oldest first, as the query shows them to somebody. */
async function records(kind: string, token = admin): Promise<Record[]> {
  const path = `/api/query?type=event&filter=eventType==${kind}&sortAsc=timeStamp&pageSize=128`
  const found = find(read(await door.ask('GET', path, { token })), 'EventRecord')
  return found.map((each) => {
    const said = (name: string) => attribute(each, name) ?? ''
    return {
      ...{ type: said('eventType'), user: said('userName'), address: said('userAddress') },
      ...{ status: said('eventStatus'), at: Date.parse(said('timeStamp')) },
    }
  })
}

async function addUser(name: string, password: string): Promise<void> {
  const hashed = await hashPassword(password, randomBytes(16))
  await door.cloud.db
    .insertInto('account')
    .values({ org: door.eng.org, name, role: 'user', password: hashed })
    .execute()
}

const last = async (kind: string): Promise<Record> => {
  const found = (await records(kind)).at(-1)
  assert.ok(found, kind)
  assert.equal(found.address, '127.0.0.1', kind)
  assert.ok(Math.abs(Date.now() - found.at) < 60_000, kind)
  return found
}

test('coming in, being refused and going out are told: who, when, from where, and how it ended', async () => {
  await addUser('carol', 'carol’s secret')
  const { token } = await logIn(door.ask, 'carol@eng', 'carol’s secret')
  assert.deepEqual(pickOf(await last('session.begun')), ['carol', '1'])
  assert.equal((await logIn(door.ask, 'carol@eng', 'not hers')).status, 401)
  assert.deepEqual(pickOf(await last('session.refused')), ['carol', '0'])
  assert.equal((await door.ask('DELETE', '/api/session', { token })).status, 204)
  assert.deepEqual(pickOf(await last('session.ended')), ['carol', '1'])
  assert.equal((await door.ask('DELETE', '/api/session', { token })).status, 401)
  assert.equal((await records('session.ended')).length, 1)
})

const pickOf = ({ user, status }: Record) => [user, status]

test('roles, passwords, tokens and quotas: who changed them is told, from where, and never what is secret', async () => {
  const secrets = ['first secret', 'second secret']
  const made = await door.ask('POST', `/api/admin/org/${door.eng.org}/users`, {
    ...{ token: admin },
    body: `<User name="dave"><Role name="user"/><Password>${secrets[0]}</Password></User>`,
  })
  const dave = pathOf(hrefOf(read(made, 201)))
  const change = async (path: string, body: string, token = admin) =>
    read(await door.ask('PUT', path, { token, body }))
  await change(dave, '<User><Role name="author"/></User>')
  await change(dave, `<User><Password>${secrets[1]}</Password></User>`)
  await change(dave, '<User><IsEnabled>false</IsEnabled></User>')
  await change(`/api/admin/org/${door.eng.org}`, '<AdminOrg><Quota vms="77"/></AdminOrg>', root)
  const token = await door.ask('POST', '/api/session/tokens', {
    ...{ token: admin, body: '<AccessTokenParams name="nightly"/>' },
  })
  const [secret] = find(read(token, 201), 'Token')
  const own = pathOf(hrefOf(read(token, 201)))
  assert.equal((await door.ask('DELETE', own, { token: admin })).status, 204)
  for (const kind of ['user.added', 'user.changed', 'token.made', 'token.revoked'] as const) {
    assert.match((await last(kind)).user, /^organisation-administrator/, kind)
  }
  assert.match((await last('org.changed')).user, /^system-administrator/)
  const { rows } = await sql<{ what: object; kind: string }>`
    select kind, what from event where org = ${door.eng.org} order by tx, seq`.execute(
    door.cloud.db,
  )
  const said = (kind: string) => rows.filter((row) => row.kind === kind).map(({ what }) => what)
  const asked = { by: (await last('user.added')).user, from: '127.0.0.1', user: 'dave' }
  assert.deepEqual(said('user.changed'), [
    { ...asked, role: 'author', password: false },
    { ...asked, password: true },
    { ...asked, disabled: true, password: false },
  ])
  assert.deepEqual((said('org.changed').at(-1) as { quota: unknown }).quota, { vms: 77 })
  const all = JSON.stringify(rows)
  for (const each of [...secrets, text(secret) ?? '', admin]) {
    assert.ok(each.length > 8 && !all.includes(each), each)
  }
})

test('the feed tells the same to the organisation, and nothing of it to another', async () => {
  const kinds = async (org: Door['eng']['org']) => {
    const who = { ...door.cloud.who, org }
    const events = await door.cloud.as(who, (tx) => readEvents(tx, { tx: '0', seq: '0' }, 1000))
    return events.map(({ kind, what }) => `${kind} ${JSON.stringify(what)}`)
  }
  const theirs = await kinds(door.ops.org)
  for (const kind of ['session.begun', 'session.refused', 'session.ended', 'user.changed']) {
    // PostgreSQL's own work, as when it counts a table, holds the newest back for a moment.
    await until(`${kind} is told`, async () =>
      (await kinds(door.eng.org)).some((each) => each.startsWith(kind)),
    )
  }
  assert.ok(theirs.every((each) => !/carol|dave|quota/.test(each)))
})

test('who guesses fills nobody’s events: what is not tried is not told, nor are names that are nobody’s', async () => {
  await addUser('erin', 'erin’s secret')
  const refused = async () => (await records('session.refused')).length
  const before = await refused()
  const guess = (user: string) => logIn(door.ask, `${user}@eng`, 'guess')
  for (let n = 0; n < 4 * FREE_FAILURES; n += 1) await guess('erin')
  for (let n = 0; n < 3; n += 1) await guess(`nobody-${n}`)
  const told = (await refused()) - before
  assert.ok(told >= FREE_FAILURES && told <= FREE_FAILURES + 4, `${told}`)
  const all = await door.ask('GET', '/api/query?type=event&pageSize=128', { token: admin })
  assert.ok(!all.text.includes('nobody-'))
})
