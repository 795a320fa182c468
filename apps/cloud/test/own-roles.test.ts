// Goal: administrators of an organisation make roles of their own, and no one gets more rights by them than somebody gave who had these.
// Method: the API over HTTP, by administrators who lack rights, by requests at the same time, and by rows that no request writes.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'

import { until } from '@skerry/lab'
import type { UserId } from '@skerry/vm'
import { attribute, element, renderDocument, text, type Element } from '@skerry/xml'
import { sql } from 'kysely'

import { isSamePrincipal, readPrincipals } from '../src/auth/session-alive.ts'
import {
  grantable,
  highestRole,
  lowerRole,
  rightsOf,
  roles,
  type Permission,
  type RoleRights,
} from '../src/domain/roles.ts'
import { addProviderRow } from './provider-row.ts'
import { fresh } from './rights-table.ts'
import { addRoleRow } from './role-row.ts'
import { find, hrefOf, linksOf, logIn, pathOf, read, type Answered } from './tenants-api.ts'
import { openTestWorkflowApi, type TestWorkflowApi } from './workflow-api.ts'

let flow: TestWorkflowApi
let admin: string
before(async () => {
  flow = await openTestWorkflowApi()
  admin = await flow.api.enter(eng(), 'organisation administrator')
})
after(() => flow[Symbol.asyncDispose]())

const eng = () => flow.api.eng.org
const ask = (method: string, path: string, token: string, body?: string): Promise<Answered> =>
  flow.api.ask(method, path, { token, ...(body !== undefined && { body }) })

const roleBody = (rights: readonly string[], name?: string): string =>
  renderDocument(
    element(
      'OrgRole',
      name === undefined ? {} : { name },
      ...rights.map((right) => element('Right', {}, right)),
    ),
  )
const listPath = (): string => `/api/admin/org/${eng()}/roles`

async function addRole(rights: readonly string[], name = fresh()): Promise<Element> {
  return read(await ask('POST', listPath(), admin, roleBody(rights, name)), 201)
}
const nameOf = (role: Element): string => attribute(role, 'name') ?? ''
const rightsIn = (role: Element): string[] => find(role, 'Right').map((each) => text(each) ?? '')

interface User {
  readonly id: UserId
  readonly name: string
  readonly path: string
  readonly token: string
}

/** A user with this role and a session. */
async function addUser(role: string): Promise<User> {
  const name = fresh()
  const { id } = await flow.api.cloud.db
    .insertInto('account')
    .values({ org: eng(), name, role, password: 'none' })
    .returning('id')
    .executeTakeFirstOrThrow()
  const token = randomBytes(32).toString('base64url')
  await sql`insert into session (token_hash, org, account)
    values (sha256(convert_to(${token}, 'UTF8')), ${eng()}, ${id})`.execute(flow.api.cloud.db)
  return { id, name, token, path: `/api/admin/user/${id}` }
}

const ADMIN_ONLY: readonly Permission[] = ['session', 'org:read', 'org:admin']

/** An administrator of users who has no other rights. */
const addLesser = async (): Promise<User> => addUser(nameOf(await addRole(ADMIN_ONLY)))

async function eventsOf(kind: string, name: string): Promise<Record<string, unknown>[]> {
  const { rows } = await sql<{ details: Record<string, unknown> }>`select details from event
    where kind = ${kind} and details ->> 'name' = ${name} order by tx, seq`.execute(
    flow.api.cloud.db,
  )
  return rows.map(({ details }) => details)
}

test('a role is added, listed, changed and removed, in XML and in JSON, with events', async () => {
  const made = await addRole(['vm:power', 'vm:read'], 'night shift')
  assert.deepEqual(rightsIn(made), ['session', 'vm:read', 'vm:power'])
  const path = pathOf(hrefOf(made))
  const json = { accept: 'application/vnd.skerry.cloud.admin.role+json;version=5.1' }
  const shown = await flow.api.ask('GET', path, { token: admin, headers: json })
  const { name, right, users, groups } = JSON.parse(shown.text) as Record<string, unknown>
  assert.deepEqual(
    [name, right, users, groups],
    ['night shift', ['session', 'vm:read', 'vm:power'], 0, 0],
  )
  const changed = read(await ask('PUT', path, admin, roleBody(['vm:console'])))
  assert.deepEqual(rightsIn(changed), ['session', 'vm:console'])
  const listed = find(read(await ask('GET', listPath(), admin)), 'OrgRole').map(nameOf)
  assert.ok(listed.includes('night shift'))
  assert.equal((await ask('DELETE', linksOf(changed)['remove'] ?? path, admin)).status, 204)
  assert.equal((await ask('GET', path, admin)).status, 404)
  const [added] = await eventsOf('role.added', 'night shift')
  assert.deepEqual(added?.['rights'], ['session', 'vm:read', 'vm:power'])
  assert.equal((await eventsOf('role.changed', 'night shift')).length, 1)
  assert.equal((await eventsOf('role.removed', 'night shift')).length, 1)
})

test('a role has a name of its own, at least one right, and none of the operators of the cloud', async () => {
  const tries: Readonly<Record<string, readonly [readonly string[], number]>> = {
    author: [['vm:read'], 409],
    'system administrator': [['vm:read'], 409],
    'System administrator': [['vm:read'], 400],
    'system  administrator': [['vm:read'], 400],
    'system administrator ': [['vm:read'], 400],
    'system administratоr': [['vm:read'], 400],
    'no-rights': [[], 400],
    anyone: [['anyone'], 400],
    'of the cloud': [['vm:read', 'cloud:admin'], 400],
    hosts: [['host:admin'], 400],
    unknown: [['vm:fly'], 400],
  }
  for (const [name, [rights, status]] of Object.entries(tries)) {
    const answer = await ask('POST', listPath(), admin, roleBody(rights, name))
    assert.equal(answer.status, status, `${name}: ${answer.text}`)
  }
  const { rows } = await sql<{ name: string }>`select name from org_role
    where name = any(${Object.keys(tries)})`.execute(flow.api.cloud.db)
  assert.deepEqual(rows, [])
  const twice = nameOf(await addRole(['vm:read']))
  const again = await ask('POST', listPath(), admin, roleBody(['vm:read'], twice))
  assert.match(again.text, new RegExp(`role ${twice} already exists`))
})

test('a stored right of the operators gives nothing, and a built-in name cannot be stored', async () => {
  const { db } = flow.api.cloud
  const role = fresh()
  await addRoleRow(db, eng(), role, ['session', 'org:read', 'cloud:admin', 'cloud:read'])
  const { token } = await addUser(role)
  const session = read(await ask('GET', '/api/session', token))
  assert.deepEqual(rightsIn(session), ['session', 'org:read'])
  assert.equal((await ask('GET', '/api/admin/hosts', token)).status, 403)
  for (const name of Object.keys(roles)) {
    await assert.rejects(addRoleRow(db, eng(), name), /org_role_name_check/, name)
  }
})

test('who lacks a right gives it to no one: by a new role, by a changed one, to a user or to a group', async () => {
  const lesser = await addLesser()
  const higher = await addRole(['vm:edit'])
  const own = nameOf(await addRole(['org:read']))
  const chief = await addUser('organisation administrator')
  const provider = await addProviderRow(flow.api.cloud.db, eng(), fresh())
  const groups = `/api/admin/identityProvider/${provider}/groups`
  const user = (name: string, role: string) =>
    `<User name="${name}"><Role name="${role}"/><Password>long enough</Password></User>`
  const group = (...given: readonly string[]) =>
    `<GroupRoles>${given.map((role, at) => `<GroupRole name="g${at}" role="${role}"/>`).join('')}</GroupRoles>`
  const victim = await addUser(own)
  const script = read(
    await ask('POST', '/api/session/tokens', chief.token, '<AccessTokenParams name="s"/>'),
    201,
  )
  const scriptId = hrefOf(script).split('/').at(-1)
  const refused: Readonly<Record<string, () => Promise<Answered>>> = {
    'a new role': () =>
      ask('POST', listPath(), lesser.token, roleBody(['org:admin', 'vm:edit'], fresh())),
    'a role with more': () =>
      ask('PUT', pathOf(hrefOf(higher)), lesser.token, roleBody(['org:read'])),
    'the removal of a role with more': () => ask('DELETE', pathOf(hrefOf(higher)), lesser.token),
    'a new administrator': () =>
      ask('POST', `/api/admin/org/${eng()}/users`, lesser.token, user(fresh(), 'author')),
    'a role with more for a user': () =>
      ask('PUT', victim.path, lesser.token, `<User><Role name="${nameOf(higher)}"/></User>`),
    'the password of a user who has more': () =>
      ask('PUT', chief.path, lesser.token, '<User><Password>taken over</Password></User>'),
    'disabling a user who has more': () =>
      ask('PUT', chief.path, lesser.token, '<User><IsEnabled>false</IsEnabled></User>'),
    'a role with less for a user who has more': () =>
      ask('PUT', chief.path, lesser.token, `<User><Role name="${own}"/></User>`),
    'the second factors of a user who has more': () =>
      ask('POST', `${chief.path}/action/removeSecondFactors`, lesser.token),
    'the API token of a user who has more': () =>
      ask('DELETE', `/api/admin/token/${scriptId}`, lesser.token),
    'a role with more for a group': () => ask('PUT', groups, lesser.token, group('user')),
  }
  for (const [what, request] of Object.entries(refused)) {
    const answer = await request()
    assert.equal(answer.status, 403, `${what}: ${answer.text}`)
  }
  assert.equal((await ask('GET', '/api/session', chief.token)).status, 200)
  // What they have, they may give.
  const added = await ask('POST', `/api/admin/org/${eng()}/users`, lesser.token, user(fresh(), own))
  assert.equal(added.status, 201, added.text)
  assert.equal((await ask('PUT', groups, admin, group('author'))).status, 200)
  assert.equal((await ask('PUT', groups, lesser.token, group(own))).status, 403, 'it was author')
  assert.equal((await ask('PUT', groups, lesser.token, group('author', own))).status, 200)
})

test('no one changes the role that they have', async () => {
  const lesser = await addLesser()
  const { role } = await flow.api.cloud.db
    .selectFrom('account')
    .select('role')
    .where('id', '=', lesser.id)
    .executeTakeFirstOrThrow()
  const { id } = await flow.api.cloud.db
    .selectFrom('org_role')
    .select('id')
    .where('name', '=', role)
    .executeTakeFirstOrThrow()
  const answer = await ask('PUT', `/api/admin/role/${id}`, lesser.token, roleBody(['org:read']))
  assert.match(answer.text, /you cannot change your own role/)
})

test('a role of another organisation is unknown here', async () => {
  const theirs = fresh()
  await addRoleRow(flow.api.cloud.db, flow.api.ops.org, theirs)
  const { path } = await addUser('user')
  const answer = await ask('PUT', path, admin, `<User><Role name="${theirs}"/></User>`)
  assert.equal(answer.status, 400)
  assert.match(answer.text, /Role must be one of: console only, user, author/)
  assert.ok(!answer.text.includes(theirs))
})

test('a role that users or groups have is not removed, and the refusal counts them', async () => {
  const role = await addRole(['vm:read'])
  const users = [await addUser(nameOf(role)), await addUser(nameOf(role))]
  const provider = await addProviderRow(flow.api.cloud.db, eng(), fresh())
  const groups = `/api/admin/identityProvider/${provider}/groups`
  const given = `<GroupRoles><GroupRole name="g" role="${nameOf(role)}"/></GroupRoles>`
  assert.equal((await ask('PUT', groups, admin, given)).status, 200)
  const path = pathOf(hrefOf(role))
  const refused = await ask('DELETE', path, admin)
  assert.match(refused.text, /is in use: users 2, groups 1; give them another role first/)
  for (const user of users) {
    assert.equal(
      (await ask('PUT', user.path, admin, '<User><Role name="user"/></User>')).status,
      200,
    )
  }
  assert.equal((await ask('PUT', groups, admin, '<GroupRoles/>')).status, 200)
  assert.equal((await ask('DELETE', path, admin)).status, 204)
})

test('of a removal and an assignment at the same time one wins, and no user has a role that does not exist', async () => {
  const outcomes = new Set<string>()
  for (let round = 0; round < 12; round += 1) {
    const role = await addRole(['vm:read'])
    const user = await addUser('user')
    const assign = () => ask('PUT', user.path, admin, `<User><Role name="${nameOf(role)}"/></User>`)
    const drop = () => ask('DELETE', pathOf(hrefOf(role)), admin)
    const both = round % 2 === 0 ? [assign(), drop()] : [drop(), assign()].toReversed()
    const [given, gone] = (await Promise.all(both)).map(({ status }) => status)
    outcomes.add(`${given} ${gone}`)
  }
  for (const outcome of outcomes) assert.match(outcome, /^(200 4\d\d|400 204)$/)
  const { rows } = await sql`select from account where own_role is not null and not exists (
    select from org_role where org_role.org = account.org and name = own_role)`.execute(
    flow.api.cloud.db,
  )
  assert.equal(rows.length, 0)
})

test('an organisation has at most 64 roles, also by requests at the same time', async () => {
  const token = await flow.api.enter(flow.api.ops.org, 'organisation administrator')
  const path = `/api/admin/org/${flow.api.ops.org}/roles`
  // On a busy machine, so many at once may wait longer for a connection to the database than a request does.
  const add = (name: string) =>
    until('the cloud answers', async () => {
      const answer = await ask('POST', path, token, roleBody(['vm:read'], name))
      return answer.status !== 503 && answer
    })
  const all = await Promise.all(Array.from({ length: 70 }, () => add(fresh())))
  const { rows } = await sql<{ count: number }>`select count(*)::integer as count from org_role
    where org = ${flow.api.ops.org}`.execute(flow.api.cloud.db)
  assert.equal(rows[0]?.count, 64)
  assert.ok(all.some(({ text }) => text.includes('at most 64 roles')))
})

test('a change of a role takes effect at once: sessions, API tokens, event streams, workflow servers and runs', async () => {
  const { db } = flow.api.cloud
  const role = await addRole(['org:read', 'vm:read'])
  const user = await addUser(nameOf(role))
  const made = await ask('POST', '/api/session/tokens', user.token, '<AccessTokenParams name="s"/>')
  const script = text(find(read(made, 201), 'Token')[0]) ?? ''
  await flow.logIn(eng(), user.id)
  const run = await flow.grant(eng(), user.id)
  const tokens = [user.token, script]
  const reads = async () => [
    ...(await Promise.all(tokens.map((token) => ask('GET', '/api/vms/query', token)))),
    await flow.askAs(run, 'GET', '/api/vms/query'),
  ]
  const stamp = async () => (await flow.tell('GET', '/machine/v1/accounts/stamp')).body['stamp']
  const streams = await readPrincipals(db, tokens)
  const before = await stamp()
  assert.deepEqual(
    (await reads()).map(({ status }) => status),
    [200, 200, 200],
  )
  const path = pathOf(hrefOf(role))
  read(await ask('PUT', path, admin, roleBody(['org:read', 'vm:edit'])))
  assert.deepEqual(
    (await reads()).map(({ status }) => status),
    [403, 403, 403],
  )
  const now = await readPrincipals(db, tokens)
  for (const token of tokens) {
    const [then, today] = [streams.get(token), now.get(token)]
    assert.ok(then && today)
    assert.equal(isSamePrincipal({ ...then, user: user.name, orgName: 'eng' }, today), false)
    assert.equal(isSamePrincipal({ ...today, user: user.name, orgName: 'eng' }, today), true)
  }
  assert.notEqual(await stamp(), before, 'workflow servers ask again')
  // The grant was given without vm:edit, which the user has now.
  const vm = `/api/vApp/${flow.api.eng.ids['entity']}/metadata`
  const written = await flow.askAs(run, 'DELETE', `${vm}/none`)
  assert.equal(written.status, 403, written.text)
  read(await ask('PUT', path, admin, roleBody(['org:read', 'vm:read', 'vm:edit'])))
  assert.deepEqual(
    (await reads()).map(({ status }) => status),
    [200, 200, 200],
  )
})

test('a workflow server learns the rights of a role of the organisation', async () => {
  const role = nameOf(await addRole(['org:read', 'vm:power']))
  const { token } = await addUser(role)
  const { body } = await flow.tell('POST', '/machine/v1/sessions', { token })
  assert.deepEqual([body['role'], body['rights']], [role, ['session', 'org:read', 'vm:power']])
})

test('a user who logs in with a password has the rights of the role', async () => {
  const role = nameOf(await addRole(['org:read', 'network:read']))
  const alice = `/api/admin/user/${flow.api.eng.ids['account']}`
  read(await ask('PUT', alice, admin, `<User><Role name="${role}"/></User>`))
  const session = read(await logIn(flow.api.ask, 'alice@eng'))
  assert.equal(attribute(session, 'role'), role)
  assert.deepEqual(rightsIn(session), ['session', 'org:read', 'network:read'])
  read(await ask('PUT', alice, admin, '<User><Role name="author"/></User>'))
})

/** All sets of four rights, and the roles of every organisation. */
function* someRoles(): Iterable<RoleRights> {
  const few = grantable.slice(1, 5)
  for (let bits = 0; bits < 2 ** few.length; bits += 1) {
    const rights = few.filter((_, at) => (bits & (2 ** at)) !== 0)
    yield { role: `r${bits}`, rights }
  }
  for (const role of Object.keys(roles)) yield rightsOf(role)
}

test('the lower of two roles has the rights of both, whether or not they are nested', () => {
  for (const one of someRoles()) {
    for (const other of someRoles()) {
      const { role, rights } = lowerRole(one, other)
      const both = one.rights.filter((each) => other.rights.includes(each))
      assert.deepEqual(rights.toSorted(), both.toSorted())
      assert.ok([one.role, other.role].includes(role))
    }
  }
})

test('the highest of several roles is one of them, contains each that another one contains, and does not depend on their order', () => {
  const all = [...someRoles()]
  for (const one of all) {
    for (const other of all) {
      const highest = highestRole([one, other])
      assert.deepEqual(highest, highestRole([other, one]))
      assert.ok(highest === one || highest === other)
      const isWithin = (low: RoleRights, high: RoleRights) =>
        low.rights.every((each) => high.rights.includes(each))
      if (isWithin(other, one) && !isWithin(one, other)) assert.equal(highest, one)
    }
  }
  assert.equal(highestRole([]), undefined)
})
