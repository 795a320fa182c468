// Goal: administrators make and change organisations, users, vdcs and hosts, each within their own scope; their actions become events.
// Method: over HTTP, with a real Postgres and real passwords.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { attribute, text, type Element } from '@skerry/xml'

import {
  find,
  hrefOf,
  instantiate,
  linksOf,
  logIn,
  openTenantsApi,
  pathOf,
  read,
  type TenantsApi,
} from './tenants-api.ts'

let api: TenantsApi
let system: string
let local: string
before(async () => {
  api = await openTenantsApi()
  const { db } = api.cloud
  const org = await db
    .insertInto('org')
    .values({ name: 'System' })
    .returning('id')
    .executeTakeFirstOrThrow()
  system = await api.enter(org.id, 'system administrator')
  local = await api.enter(api.eng.org, 'organisation administrator')
})
after(() => api[Symbol.asyncDispose]())

const ask = (token: string, method: string, path: string, body?: string) =>
  api.ask(method, path, { token, ...(body !== undefined && { body }) })
const userBody = (name: string, role: string, password = 'correct horse') =>
  `<User name="${name}"><Role name="${role}"/><Password>${password}</Password></User>`
const names = (nodes: readonly Element[]) => nodes.map((each) => attribute(each, 'name'))

test('an organisation, its vdc and its user are created, and the user creates a vApp', async () => {
  const org = read(await ask(system, 'POST', '/api/admin/orgs', '<AdminOrg name="new"/>'), 201)
  const path = pathOf(hrefOf(org))
  const vdc = read(await ask(system, 'POST', `${path}/vdcs`, '<AdminVdc name="here"/>'), 201)
  read(await ask(system, 'POST', `${path}/users`, userBody('bob', 'author')), 201)
  const again = read(await ask(system, 'GET', path))
  assert.deepEqual(names(find(again, 'Users', 'UserReference')), ['bob'])
  assert.deepEqual(names(find(again, 'Vdcs', 'Vdc')), ['here'])
  const { token, status } = await logIn(api.ask, 'bob@new', 'correct horse')
  assert.equal(status, 200)
  assert.equal((await ask(token, 'GET', pathOf(linksOf(vdc)['alternate'] ?? ''))).status, 200)
  const twice = await ask(system, 'POST', '/api/admin/orgs', '<AdminOrg name="new"/>')
  assert.equal(twice.status, 409)
  assert.equal((await ask(system, 'POST', `${path}/users`, userBody('bob', 'user'))).status, 409)
})

test('users of a disabled organisation lose access at once, until it is enabled', async () => {
  const path = `/api/admin/org/${api.ops.org}`
  const before = read(await ask(system, 'GET', path))
  assert.ok(linksOf(before)['disable'] && !linksOf(before)['enable'])
  assert.equal((await ask(system, 'POST', pathOf(linksOf(before)['disable'] ?? ''))).status, 204)
  assert.equal((await ask(api.ops.token, 'GET', '/api/session')).status, 401)
  assert.equal((await logIn(api.ask, 'alice@ops')).status, 401)
  assert.equal((await ask(system, 'POST', `${path}/action/enable`)).status, 204)
  assert.equal((await ask(api.ops.token, 'GET', '/api/session')).status, 401, 'sessions ended')
  assert.equal((await logIn(api.ask, 'alice@ops')).status, 200)
  const renamed = read(await ask(system, 'PUT', path, '<AdminOrg name="operations"/>'))
  assert.equal(attribute(renamed, 'name'), 'operations')
  read(await ask(system, 'PUT', path, '<AdminOrg name="ops"/>'))
  const all = read(await ask(system, 'GET', '/api/admin'))
  const own = find(all, 'Organizations', 'Organization').find(
    (each) => attribute(each, 'name') === 'System',
  )
  const off = '<AdminOrg><IsEnabled>false</IsEnabled></AdminOrg>'
  assert.equal((await ask(system, 'PUT', pathOf(hrefOf(own)), off)).status, 409)
})

test('users are changed by their administrators: role, password, enabled; a change takes effect at once', async () => {
  const users = `/api/admin/org/${api.eng.org}/users`
  const made = read(await ask(local, 'POST', users, userBody('carol', 'author')), 201)
  const path = pathOf(hrefOf(made))
  const { token } = await logIn(api.ask, 'carol@eng', 'correct horse')
  read(await ask(local, 'PUT', path, '<User><Role name="console only"/></User>'))
  const { vdc, template = '' } = api.eng.ids
  const body = instantiate('x', template.replace('vappTemplate-', ''), false)
  const denied = await ask(token, 'POST', `/api/vdc/${vdc}/action/instantiateVAppTemplate`, body)
  assert.equal(denied.status, 403)
  read(await ask(local, 'PUT', path, '<User><IsEnabled>false</IsEnabled></User>'))
  assert.equal((await ask(token, 'GET', '/api/session')).status, 401)
  read(await ask(local, 'PUT', path, '<User><IsEnabled>true</IsEnabled></User>'))
  assert.equal(
    (await ask(token, 'GET', '/api/session')).status,
    401,
    'an ended session stays ended',
  )
  const again = await logIn(api.ask, 'carol@eng', 'correct horse')
  const changed = await ask(local, 'PUT', path, '<User><Password>another one</Password></User>')
  assert.ok(!changed.text.includes('another'))
  assert.equal(
    (await ask(again.token, 'GET', '/api/session')).status,
    401,
    'a new password ends sessions',
  )
  assert.equal((await logIn(api.ask, 'carol@eng', 'correct horse')).status, 401)
  assert.equal((await logIn(api.ask, 'carol@eng', 'another one')).status, 200)
})

test('administrators cannot grant rights that they lack, nor revoke their own', async () => {
  const users = `/api/admin/org/${api.eng.org}/users`
  const post = (token: string, body: string) => ask(token, 'POST', users, body)
  assert.equal((await post(local, userBody('eve', 'system administrator'))).status, 403)
  assert.equal((await post(system, userBody('eve', 'system administrator'))).status, 403)
  const wrong = [
    userBody('eve', 'king'),
    userBody('eve', 'toString'),
    userBody('eve@eng', 'user'),
    userBody('eve', 'user', 'short'),
    '<User name="eve"/>',
  ]
  for (const body of wrong) assert.equal((await post(local, body)).status, 400, body)
  const org = read(await ask(local, 'GET', `/api/admin/org/${api.eng.org}`))
  const self = find(org, 'Users', 'UserReference').find((each) =>
    attribute(each, 'name')?.startsWith('organisation-administrator'),
  )
  const path = pathOf(hrefOf(self))
  for (const body of [
    '<User><IsEnabled>false</IsEnabled></User>',
    '<User><Role name="user"/></User>',
  ]) {
    assert.equal((await ask(local, 'PUT', path, body)).status, 409, body)
  }
  assert.deepEqual(
    names(find(read(await ask(local, 'GET', '/api/admin')), 'Organizations', 'Organization')),
    ['eng'],
  )
})

test('nothing can be created in a disabled vdc, and it has no links for that', async () => {
  const { vdc, template = '' } = api.eng.ids
  const set = (enabled: boolean) =>
    ask(
      system,
      'PUT',
      `/api/admin/vdc/${vdc}`,
      `<AdminVdc><IsEnabled>${enabled}</IsEnabled></AdminVdc>`,
    )
  read(await set(false))
  const body = instantiate('late', template.replace('vappTemplate-', ''), false)
  const path = `/api/vdc/${vdc}/action/instantiateVAppTemplate`
  assert.equal((await ask(api.eng.token, 'POST', path, body)).status, 409)
  const document = read(await ask(api.eng.token, 'GET', `/api/vdc/${vdc}`))
  assert.equal(linksOf(document)['add'], undefined)
  assert.equal(text(find(document, 'IsEnabled')[0]), 'false')
  read(await set(true))
  assert.equal((await ask(api.eng.token, 'POST', path, body)).status, 201)
})

test('hosts are read and enabled by system administrators', async () => {
  const list = read(await ask(system, 'GET', '/api/admin/hosts'))
  const path = pathOf(hrefOf(find(list, 'Host')[0]))
  const host = read(await ask(system, 'GET', path))
  assert.equal(text(find(host, 'State')[0]), 'joined')
  assert.equal(text(find(host, 'IsOpen')[0]), 'true')
  assert.equal((await ask(system, 'POST', pathOf(linksOf(host)['disable'] ?? ''))).status, 204)
  const after = read(await ask(system, 'GET', path))
  assert.equal(text(find(after, 'IsEnabled')[0]), 'false')
  assert.equal((await ask(system, 'POST', pathOf(linksOf(after)['enable'] ?? ''))).status, 204)
})

test('actions of administrators are recorded as events, with their name and without a password', async () => {
  const events = await api.cloud.db.selectFrom('event').select(['kind', 'details']).execute()
  const kinds = new Set(events.map(({ kind }) => kind))
  for (const kind of [
    'org.added',
    'org.changed',
    'vdc.added',
    'vdc.changed',
    'user.added',
    'user.changed',
    'host.disabled',
  ]) {
    assert.ok(kinds.has(kind), kind)
    const path = `/api/query?type=event&filter=eventType==${kind}&fields=userName`
    const records = find(read(await ask(system, 'GET', path)), 'EventRecord')
    for (const each of records) assert.match(attribute(each, 'userName') ?? '', /administrator/)
    assert.ok(records.length > 0, kind)
  }
  const reported = JSON.stringify(events)
  for (const secret of ['correct horse', 'another one', 'argon2'])
    assert.ok(!reported.includes(secret))
})

test('the record of a host says whether it takes new VMs, and how many CPUs are in use', async () => {
  const { db, host } = api.cloud
  const shown = async (): Promise<readonly (string | undefined)[]> => {
    const root = read(await ask(system, 'GET', `/api/query?type=host`))
    const found = find(root, 'HostRecord').find((each) => hrefOf(each).endsWith(host))
    return [attribute(found, 'isOpen'), attribute(found, 'cpusUsed')]
  }
  const set = (values: { enabled?: boolean; quarantine?: string | null; local_cpus?: number }) =>
    db.updateTable('host').set(values).where('id', '=', host).execute()
  const [isOpen, used] = await shown()
  assert.equal(isOpen, 'true')
  await set({ local_cpus: 3, enabled: false })
  assert.deepEqual(await shown(), ['false', String(Number(used) + 3)])
  await set({ local_cpus: 0, enabled: true, quarantine: 'its clock is wrong' })
  assert.deepEqual(await shown(), ['false', used])
  await set({ quarantine: null })
  assert.deepEqual(await shown(), ['true', used])
})
