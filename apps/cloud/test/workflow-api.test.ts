// Goal: a workflow server identifies users as a login does, notices changes in time, and acts only for users who asked it to.
// Method: tenant and machine API of a cell on a real PostgreSQL, real TLS; accounts are changed in every way, also concurrently.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'

import type { OrgId } from '@skerry/vm'
import { attribute } from '@skerry/xml'
import { sql } from 'kysely'

import { lowerRole, rightsOf, roles, withinOrg, type Role } from '../src/domain/roles.ts'
import { deleteExpired } from '../src/reconcile/delete-expired.ts'
import { FREE_FAILURES } from '../src/tenants/login-failures.ts'
import { prolongWaits } from './login-waits.ts'
import { ladder } from './rights-table.ts'
import { find, read } from './tenants-api.ts'
import { openTestWorkflowApi, type TestWorkflowApi } from './workflow-api.ts'

let flow: TestWorkflowApi
let eng: OrgId
let ops: OrgId
let system: OrgId
before(async () => {
  flow = await openTestWorkflowApi()
  eng = flow.api.eng.org
  ops = flow.api.ops.org
  const { id } = await flow.api.cloud.db
    .insertInto('org')
    .values({ name: 'System' })
    .returning('id')
    .executeTakeFirstOrThrow()
  system = id
})
after(() => flow[Symbol.asyncDispose]())

const show = (user: string, password: string, address = '192.0.2.1', org = 'eng') =>
  flow.tell('POST', '/machine/v1/credentials', { user, org, password, address })

async function eventsOf(kind: string): Promise<Record<string, unknown>[]> {
  const { rows } = await sql<{ details: Record<string, unknown> }>`
    select details from event where kind = ${kind} order by tx, seq`.execute(flow.api.cloud.db)
  return rows.map(({ details }) => details)
}

test('right credentials return the account, and are recorded as a login', async () => {
  const { status, body } = await show('alice', 'secret')
  assert.equal(status, 200, JSON.stringify(body))
  const { account, stamp, ...rest } = body
  const { author } = roles
  assert.deepEqual(rest, {
    org: eng,
    orgName: 'eng',
    user: 'alice',
    role: 'author',
    rights: [...author],
  })
  assert.equal(account, flow.api.eng.ids['account'])
  assert.ok(stamp)
  assert.deepEqual((await eventsOf('session.begun')).at(-1), {
    by: 'alice',
    from: '192.0.2.1',
    via: 'flow-1',
  })
})

test('wrong credentials are rejected, recorded, and counted together with those of the tenant API', async () => {
  for (const [user, org] of [
    ['nobody', 'eng'],
    ['alice', 'nowhere'],
  ] as const) {
    assert.equal((await show(user, 'secret', '192.0.2.2', org)).status, 401)
  }
  const before = (await eventsOf('session.refused')).length
  for (let n = 0; n < FREE_FAILURES; n += 1) {
    assert.equal((await show('alice', 'wrong', '127.0.0.1')).status, 401)
  }
  assert.equal((await eventsOf('session.refused')).length, before + FREE_FAILURES)
  await prolongWaits(flow.api.cloud.db)
  const late = await show('alice', 'secret', '127.0.0.1')
  assert.deepEqual([late.status, late.body['error']], [429, 'too-many'])
  assert.ok(Number(late.body['detail']) > 0)
  const basic = Buffer.from('alice@eng:secret').toString('base64')
  const headers = { authorization: `Basic ${basic}` }
  assert.equal((await flow.api.ask('POST', '/api/sessions', { headers })).status, 429)
  assert.equal((await show('alice', 'secret', '192.0.2.3')).status, 200)
  await sql`delete from login_failure`.execute(flow.api.cloud.db)
})

test('malformed credentials are rejected before any check', async () => {
  const whole = { user: 'alice', org: 'eng', password: 'secret', address: '192.0.2.1' }
  for (const wrong of [
    null,
    {},
    { ...whole, more: 1 },
    { ...whole, address: 'nowhere' },
    { ...whole, user: 'a\u0000b' },
    { ...whole, user: '' },
    { ...whole, password: 7 },
  ]) {
    assert.equal((await flow.tell('POST', '/machine/v1/credentials', wrong)).status, 400)
  }
})

test('cells, consoles and hosts may make no calls that are for workflow servers', async () => {
  const calls = [
    ['POST', '/machine/v1/credentials'],
    ['POST', '/machine/v1/sessions'],
    ['GET', '/machine/v1/accounts/stamp'],
    ['POST', '/machine/v1/grants'],
    ['DELETE', `/machine/v1/grants/${randomUUID()}`],
    ['GET', '/api/session'],
  ] as const
  for (const role of ['cell', 'console', 'host'] as const) {
    const id = role === 'host' ? flow.api.cloud.host : 'one'
    const link = await flow.linkOf(role, id)
    for (const [method, path] of calls) {
      const { status } = await flow.askWith(link, randomUUID(), method, path)
      assert.equal(status, 403, `${role} ${method} ${path}`)
    }
  }
})

const stampNow = async () => (await flow.tell('GET', '/machine/v1/accounts/stamp')).body['stamp']

test('the stamp changes with every change of an account or an organisation, and with nothing else', async () => {
  const { cloud } = flow.api
  const { db } = cloud
  const { id } = await flow.addUser(eng, 'user')
  const org = await db
    .insertInto('org')
    .values({ name: 'passing' })
    .returning('id')
    .executeTakeFirstOrThrow()
  const changes = {
    role: () => db.updateTable('account').set({ role: 'author' }).where('id', '=', id).execute(),
    password: () => db.updateTable('account').set({ password: 'x' }).where('id', '=', id).execute(),
    disabled: () =>
      db.updateTable('account').set({ disabled: true }).where('id', '=', id).execute(),
    'by a tenant': () =>
      cloud.as(cloud.principal, (tx) =>
        tx.updateTable('account').set({ disabled: false }).where('id', '=', id).execute(),
      ),
    removed: () => db.deleteFrom('account').where('id', '=', id).execute(),
    'org disabled': () =>
      db.updateTable('org').set({ disabled: true }).where('id', '=', org.id).execute(),
    'org renamed': () =>
      db.updateTable('org').set({ name: 'gone' }).where('id', '=', org.id).execute(),
    'org removed': () => db.deleteFrom('org').where('id', '=', org.id).execute(),
  }
  for (const [what, change] of Object.entries(changes)) {
    const before = await stampNow()
    await change()
    assert.notEqual(await stampNow(), before, what)
  }
  const before = await stampNow()
  await show('alice', 'secret')
  await flow.api.ask('GET', '/api/session', { token: flow.api.eng.token })
  assert.equal(await stampNow(), before)
})

test('the stamp changes exactly when its change becomes visible, also with two concurrent changes', async () => {
  const { db } = flow.api.cloud
  const [first, second] = [await flow.addUser(eng, 'user'), await flow.addUser(eng, 'user')]
  const disable = (id: string) => sql`update account set disabled = true where id = ${id}`
  const before = await stampNow()
  const changed = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  const slow = db.transaction().execute(async (tx) => {
    await disable(first.id).execute(tx)
    changed.resolve()
    await goOn.promise
  })
  await changed.promise
  assert.equal(await stampNow(), before, 'an uncommitted change is not reported')
  // It began later and ended sooner: its stamp is of a later transaction than the one that is still open.
  await disable(second.id).execute(db)
  const between = await stampNow()
  assert.notEqual(between, before)
  goOn.resolve()
  await slow
  assert.notEqual(await stampNow(), between)
})

test('a grant is given only for a user who has just authenticated there, in the user’s own organisation', async () => {
  const { id, name } = await flow.addUser(eng, 'author')
  const ask = (more: object) =>
    flow.tell('POST', '/machine/v1/grants', { org: eng, account: id, kind: 'run', ...more })
  const given = await ask({})
  assert.equal(given.status, 200, JSON.stringify(given.body))
  assert.deepEqual((await eventsOf('grant.given')).at(-1), {
    by: name,
    via: 'flow-1',
    grant: given.body['id'],
    for: 'run',
    ceiling: 'author',
  })
  assert.equal((await ask({ org: ops })).status, 403)
  assert.equal((await ask({ org: randomUUID() })).status, 403)
  assert.equal((await ask({ account: randomUUID() })).status, 403)
  for (const wrong of [{ org: 'x' }, { kind: 'other' }, { parent: 7 }, { more: 1 }]) {
    assert.equal((await ask(wrong)).status, 400, JSON.stringify(wrong))
  }
  const { db } = flow.api.cloud
  await sql`update workflow_login set server = 'flow-2' where account = ${id}`.execute(db)
  assert.equal((await ask({})).status, 403, 'at another server')
  await sql`update workflow_login set server = 'flow-1', at = at - interval '3 min'
    where account = ${id}`.execute(db)
  assert.equal((await ask({})).status, 403, 'too long ago')
  await sql`update workflow_login set at = clock_timestamp() where account = ${id}`.execute(db)
  await sql`update account set disabled = true where id = ${id}`.execute(db)
  assert.equal((await ask({})).status, 403, 'disabled')
})

test('a repeated request for a grant returns the same one; an ended one and that of another are refused', async () => {
  const [user, other] = [await flow.addUser(eng, 'author'), await flow.addUser(eng, 'author')]
  const grant = randomUUID()
  const ask = (more: object = {}) =>
    flow.tell('POST', '/machine/v1/grants', {
      id: grant,
      org: eng,
      account: user.id,
      kind: 'run',
      ...more,
    })
  const before = (await eventsOf('grant.given')).length
  assert.deepEqual([(await ask()).body['id'], (await ask()).body['id']], [grant, grant])
  assert.equal((await eventsOf('grant.given')).length, before + 1)
  assert.equal((await ask({ account: other.id })).status, 403)
  assert.equal((await ask({ kind: 'schedule' })).status, 403)
  assert.equal((await ask({ id: 'x' })).status, 400)
  assert.equal((await flow.tell('DELETE', `/machine/v1/grants/${grant}`, {})).status, 200)
  assert.equal((await ask()).status, 403)
})

test('a run uses the API on behalf of the user who started it, and its events say so', async () => {
  const { id, name } = await flow.addUser(eng, 'organisation administrator')
  const grant = await flow.grant(eng, id)
  const session = read(await flow.askAs(grant, 'GET', '/api/session'))
  assert.deepEqual([attribute(session, 'user'), attribute(session, 'org')], [name, 'eng'])
  const made = await flow.askAs(grant, 'POST', `/api/admin/org/${eng}/users`, {
    body: '<User name="made"><Role name="user"/><Password>long enough</Password></User>',
  })
  assert.equal(made.status, 201, made.text)
  const reported = (await eventsOf('user.added')).at(-1)
  assert.deepEqual([reported?.['by'], reported?.['grant']], [name, grant])
  const vms = await flow.askAs(grant, 'GET', '/api/query?type=vm')
  assert.equal(find(read(vms), 'VMRecord').length, 1)
  // It would outlive the run, and see more than its result.
  const token = await flow.askAs(grant, 'POST', '/api/session/tokens', {
    body: '<AccessTokenParams name="kept"/>',
  })
  assert.equal(token.status, 403)
  assert.equal((await flow.askAs(grant, 'POST', '/api/sessions')).status, 403)
})

test('a request that a run repeats takes effect once', async () => {
  const { id } = await flow.addUser(eng, 'author')
  const grant = await flow.grant(eng, id)
  const { vdc, template = '' } = flow.api.eng.ids
  const once = () =>
    flow.askAs(grant, 'POST', `/api/vdc/${vdc}/action/instantiateVAppTemplate`, {
      headers: { 'idempotency-key': 'run-1/do/0' },
      body: `<InstantiateVAppTemplateParams xmlns="urn:skerry:cloud:1.5" name="of a run"><Source href="/api/vAppTemplate/${template}"/></InstantiateVAppTemplateParams>`,
    })
  const [first, again] = [await once(), await once()]
  assert.equal(first.status, 201, first.text)
  assert.equal(attribute(read(again, 201), 'href'), attribute(read(first, 201), 'href'))
})

test('roles are nested: a run has only the rights of both roles, at its start and now', () => {
  for (const one of ladder) {
    for (const other of ladder) {
      const lower = ladder[Math.min(ladder.indexOf(one), ladder.indexOf(other))] as Role
      assert.deepEqual(lowerRole(rightsOf(one), rightsOf(other)), rightsOf(lower))
      const both = roles[one].filter((each) => (roles[other] as readonly string[]).includes(each))
      assert.deepEqual([...roles[lower]].toSorted(), both.toSorted())
    }
    assert.notEqual(withinOrg(rightsOf(one)).role, 'system administrator')
  }
})

test('an ended grant is permanently invalid; its end is recorded once', async () => {
  const { id, name } = await flow.addUser(eng, 'user')
  const grant = await flow.grant(eng, id)
  assert.equal((await flow.askAs(grant, 'GET', '/api/session')).status, 200)
  for (let n = 0; n < 2; n += 1) {
    assert.equal((await flow.tell('DELETE', `/machine/v1/grants/${grant}`)).status, 200)
  }
  assert.equal((await flow.askAs(grant, 'GET', '/api/session')).status, 401)
  const reported = (await eventsOf('grant.ended')).filter((each) => each['grant'] === grant)
  assert.deepEqual(reported, [{ by: name, via: 'flow-1', grant, for: 'run', why: 'ended' }])
  assert.equal((await flow.tell('DELETE', `/machine/v1/grants/${randomUUID()}`)).status, 200)
  assert.equal((await flow.tell('DELETE', '/machine/v1/grants/x')).status, 404)
})

test('a disabled or removed user loses all grants, also after being enabled again', async () => {
  const { cloud } = flow.api
  const { db } = cloud
  const { id, name } = await flow.addUser(eng, 'user')
  const grant = await flow.grant(eng, id)
  // As an administrator of the organisation does it: by the tenants' role.
  const set = (disabled: boolean) =>
    cloud.as(cloud.principal, (tx) =>
      tx.updateTable('account').set({ disabled }).where('id', '=', id).execute(),
    )
  await set(true)
  assert.equal((await flow.askAs(grant, 'GET', '/api/session')).status, 401)
  await set(false)
  assert.equal((await flow.askAs(grant, 'GET', '/api/session')).status, 401)
  assert.deepEqual((await eventsOf('grant.ended')).at(-1), {
    user: name,
    grant,
    for: 'run',
    why: 'user-disabled',
  })
  await assert.rejects(flow.grant(eng, id), /not logged in at this server/)
  await flow.logIn(eng, id)
  const next = await flow.grant(eng, id)
  assert.equal((await flow.askAs(next, 'GET', '/api/session')).status, 200)
  await db.deleteFrom('account').where('id', '=', id).execute()
  assert.equal((await flow.askAs(next, 'GET', '/api/session')).status, 401)
  assert.equal((await eventsOf('grant.ended')).at(-1)?.['why'], 'user-removed')
})

test('while an organisation is disabled its runs do nothing', async () => {
  const { db } = flow.api.cloud
  const { id } = await flow.addUser(ops, 'user')
  const grant = await flow.grant(ops, id)
  const set = (disabled: boolean) =>
    db.updateTable('org').set({ disabled }).where('id', '=', ops).execute()
  await set(true)
  assert.equal((await flow.askAs(grant, 'GET', '/api/session')).status, 401)
  await set(false)
  assert.equal((await flow.askAs(grant, 'GET', '/api/session')).status, 200)
})

test('a schedule’s grant cannot use the API itself: grants of runs are derived from it while it is valid', async () => {
  const { db } = flow.api.cloud
  const { id } = await flow.addUser(eng, 'author')
  const schedule = await flow.grant(eng, id, { kind: 'schedule' })
  assert.equal((await flow.askAs(schedule, 'GET', '/api/session')).status, 401)
  await sql`delete from workflow_login where account = ${id}`.execute(db)
  await assert.rejects(flow.grant(eng, id), /not logged in at this server/)
  const run = await flow.grant(eng, id, { parent: schedule })
  assert.equal((await flow.askAs(run, 'GET', '/api/session')).status, 200)
  // It did not gain the rights that its user gained since; it lost those that its user lost.
  const raise = (role: Role) =>
    db.updateTable('account').set({ role }).where('id', '=', id).execute()
  await raise('organisation administrator')
  const later = await flow.grant(eng, id, { parent: schedule })
  assert.equal((await flow.askAs(later, 'GET', `/api/admin/org/${eng}`)).status, 403)
  const other = await flow.addUser(eng, 'author')
  await assert.rejects(flow.grant(eng, other.id, { parent: schedule }), /parent/)
  await assert.rejects(flow.grant(ops, id, { parent: schedule }), /may not act/)
  await flow.tell('DELETE', `/machine/v1/grants/${schedule}`)
  await assert.rejects(flow.grant(eng, id, { parent: schedule }), /parent grant has ended/)
  assert.equal((await flow.askAs(run, 'GET', '/api/session')).status, 200)
})

test('a system administrator is an organisation administrator in a tenant’s run, and has no rights after it ends', async () => {
  const { db } = flow.api.cloud
  const { id, name } = await flow.addUser(system, 'system administrator')
  const grant = await flow.grant(eng, id)
  const session = read(await flow.askAs(grant, 'GET', '/api/session'))
  assert.deepEqual([attribute(session, 'user'), attribute(session, 'org')], [name, 'eng'])
  assert.equal((await flow.askAs(grant, 'GET', `/api/admin/org/${eng}`)).status, 200)
  assert.equal((await flow.askAs(grant, 'GET', `/api/org/${ops}`)).status, 404)
  assert.equal((await flow.askAs(grant, 'GET', '/api/query?type=adminVM')).status, 403)
  await db.updateTable('account').set({ role: 'user' }).where('id', '=', id).execute()
  assert.equal((await flow.askAs(grant, 'GET', '/api/session')).status, 401)
})

test('ended grants are deleted after their retention', async () => {
  const { db } = flow.api.cloud
  const { id } = await flow.addUser(eng, 'user')
  const schedule = await flow.grant(eng, id, { kind: 'schedule' })
  const run = await flow.grant(eng, id, { parent: schedule })
  await flow.tell('DELETE', `/machine/v1/grants/${schedule}`)
  await sql`update workflow_grant set ended_at = ended_at - interval '91 d' where id = ${schedule}`.execute(
    db,
  )
  await sql`update workflow_login set at = at - interval '2 h' where account = ${id}`.execute(db)
  await deleteExpired(db)
  const left = db.selectFrom('workflow_grant').select(['id', 'parent']).where('account', '=', id)
  assert.deepEqual(await left.execute(), [{ id: run, parent: null }])
  const logins = await db
    .selectFrom('workflow_login')
    .where('account', '=', id)
    .select('at')
    .execute()
  assert.deepEqual(logins, [])
})
