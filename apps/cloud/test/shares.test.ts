// Goal: a share gives what it says, to whom it says, until it is removed, and nothing else. Method: the API over HTTP by users without
// rights: removed and deleted shares, users and groups, replays, API tokens, runs, and requests that name other objects.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { attribute, element, renderDocument, text, type Element } from '@skerry/xml'
import { sql } from 'kysely'

import type { Permission } from '../src/domain/roles.ts'
import { accessBy, shareLevels, shareRights } from '../src/domain/shares.ts'
import { COLOUR, fresh } from './rights-table.ts'
import {
  addSharedCatalog,
  addSharedGroup,
  addSharedVapp,
  addUserWith,
  entriesIn,
  listOf,
  setting,
  withUsers,
} from './share-objects.ts'
import { addShareRow, addShareUser, removeShareRows, type ShareUser } from './share-row.ts'
import { BASE, find, hrefOf, instantiate, pathOf, read, type Asked } from './tenants-api.ts'
import { openTestWorkflowApi, type TestWorkflowApi } from './workflow-api.ts'

let flow: TestWorkflowApi
let admin: string
before(async () => {
  flow = await openTestWorkflowApi()
  admin = await flow.api.enter(eng(), 'organisation administrator')
})
after(() => flow[Symbol.asyncDispose]())

const eng = () => flow.api.eng.org
const db = () => flow.api.cloud.db
const ask = (method: string, path: string, token: string, more: Asked | string = {}) =>
  flow.api.ask(method, path, { token, ...(typeof more === 'string' ? { body: more } : more) })
const statusOf = async (method: string, path: string, token: string, body = '') =>
  (await ask(method, path, token, body === '' ? {} : body)).status

const addUser = (rights?: readonly Permission[], name?: string) =>
  addUserWith(flow.api, rights, name)
const addVapp = (status?: 'POWERED_OFF' | 'POWERED_ON') => addSharedVapp(flow.api, status)
const addCatalog = () => addSharedCatalog(flow.api)

const join = (user: ShareUser, provider: string, name: string) =>
  db()
    .insertInto('account_group')
    .values({ org: eng(), account: user.account, provider, name })
    .execute()

test('a share with a group counts for who is in it, one with everyone for all of the organisation, and a group that loses its role takes its shares along', async () => {
  const [inside, outside, vapp] = [await addUser(), await addUser(), await addVapp()]
  const [provider, name] = [fresh(), 'developers']
  const id = await addSharedGroup(flow.api, name, provider)
  await join(inside, id, name)
  const group = { type: 'group', name, provider }
  read(await ask('POST', vapp.share, admin, listOf([setting(group, 'ReadOnly')])))
  const both = async () => [
    await statusOf('GET', vapp.path, inside.token),
    await statusOf('GET', vapp.path, outside.token),
  ]
  assert.deepEqual(await both(), [200, 403])
  // The same group with another role, beside another: it keeps its shares and its people.
  const groups = `/api/admin/identityProvider/${id}/groups`
  const roles = (...all: string[]) =>
    `<GroupRoles>${all.map((each) => `<GroupRole name="${each}" role="author"/>`).join('')}</GroupRoles>`
  assert.equal(await statusOf('PUT', groups, admin, roles(name, 'others')), 200)
  assert.deepEqual(await both(), [200, 403])
  assert.equal(await statusOf('PUT', groups, admin, roles('others')), 200)
  assert.deepEqual(await both(), [403, 403])
  assert.equal(await statusOf('PUT', groups, admin, roles(name, 'others')), 200)
  assert.deepEqual(await both(), [403, 403], 'a group of the same name is another one')
  assert.deepEqual(entriesIn(read(await ask('GET', vapp.access, admin))), [])
  read(await ask('POST', vapp.share, admin, listOf([], 'ReadOnly')))
  assert.deepEqual(await both(), [200, 200])
  const stranger = await addShareUser(db(), flow.api.ops.org, 'author')
  assert.equal(await statusOf('GET', vapp.path, stranger.token), 404)
})

test('of several shares the highest counts, and a role keeps all that it has', async () => {
  const [user, vapp] = [await addUser(), await addVapp()]
  await addShareRow(db(), user, { vapp: vapp.id }, 'ReadOnly')
  await addShareRow(db(), { org: eng(), account: null }, { vapp: vapp.id }, 'FullControl')
  assert.equal(await statusOf('GET', vapp.path, user.token), 200)
  assert.equal(await statusOf('PUT', `${vapp.path}/metadata/colour`, user.token, COLOUR), 202)
  const author = await addShareUser(db(), eng(), 'author')
  await addShareRow(db(), author, { vapp: vapp.id }, 'ReadOnly')
  assert.equal(await statusOf('PUT', `${vapp.path}/metadata/colour`, author.token, COLOUR), 202)
  for (const kind of ['vapp', 'catalog'] as const) {
    assert.equal(accessBy(kind, []), undefined)
    for (const [at, level] of shareLevels.entries()) {
      const lower = shareLevels.slice(0, at + 1)
      assert.deepEqual(accessBy(kind, lower.toReversed()), {
        level,
        rights: shareRights[kind][level],
      })
      for (const each of lower) {
        for (const right of shareRights[kind][each]) {
          assert.ok(
            (shareRights[kind][level] as readonly string[]).includes(right),
            `${each} ${level}`,
          )
        }
      }
    }
  }
})

test('a removed share counts no more from the next request on, also for a request that is repeated with its key', async () => {
  const [user, vapp, other] = [
    await addUser(),
    await addVapp('POWERED_ON'),
    await addVapp('POWERED_ON'),
  ]
  await addShareRow(db(), user, { vapp: vapp.id }, 'Change')
  await addShareRow(db(), user, { vapp: other.id }, 'Change')
  const off = (path: string) =>
    ask('POST', `${path}/power/action/powerOff`, user.token, {
      headers: { 'idempotency-key': 'off' },
    })
  const [first, again] = [await off(vapp.path), await off(vapp.path)]
  assert.deepEqual([first.status, again.status], [202, 202], first.text)
  const task = pathOf(String(first.headers['location']))
  assert.equal(again.headers['location'], first.headers['location'])
  assert.equal(await statusOf('GET', task, user.token), 200)
  await removeShareRows(db(), user, { vapp: vapp.id })
  for (const [method, path] of [
    ['GET', vapp.path],
    ['GET', vapp.vm],
    ['GET', task],
    ['POST', `${task}/action/cancel`],
  ] as const) {
    assert.equal(await statusOf(method, path, user.token), 403, path)
  }
  const replayed = await off(vapp.path)
  assert.deepEqual([replayed.status, /lacks the right vm:power/.test(replayed.text)], [403, true])
  assert.notEqual((await off(other.path)).headers['location'], first.headers['location'])
})

test('who deletes a vApp by a share reads its task to the end and repeats the request; others with whom it was shared read no more than that', async () => {
  const [user, vapp] = [await addUser(), await addVapp()]
  await addShareRow(db(), user, { vapp: vapp.id }, 'FullControl')
  const remove = () =>
    ask('DELETE', vapp.path, user.token, { headers: { 'idempotency-key': 'remove' } })
  const accepted = await remove()
  assert.equal(accepted.status, 202, accepted.text)
  const task = pathOf(String(accepted.headers['location']))
  await sql`update vm set deleted_at = clock_timestamp() where vapp = ${vapp.id}`.execute(db())
  await sql`update vapp set closed = true, deleted_at = clock_timestamp() where id = ${vapp.id}`.execute(
    db(),
  )
  assert.equal(await statusOf('GET', task, user.token), 200)
  assert.equal((await remove()).headers['location'], accepted.headers['location'])
  assert.equal(await statusOf('GET', vapp.path, user.token), 404)
  assert.equal(await statusOf('GET', vapp.access, admin), 404)
  await sql`delete from task where vapp = ${vapp.id}`.execute(db())
  await sql`delete from vm where vapp = ${vapp.id}`.execute(db())
  await sql`delete from vapp where id = ${vapp.id}`.execute(db())
  const { rows } = await sql`select from share where vapp = ${vapp.id}`.execute(db())
  assert.equal(rows.length, 0)
})

test('a user who is removed and created again with the same name has nothing, and a list with the earlier one is refused', async () => {
  const [user, vapp, catalog] = [await addUser(), await addVapp(), await addCatalog()]
  await addShareRow(db(), user, { vapp: vapp.id }, 'FullControl')
  await addShareRow(db(), user, { catalog: catalog.id }, 'FullControl')
  const before = read(await ask('GET', vapp.access, admin))
  await sql`delete from account where id = ${user.account}`.execute(db())
  const again = await addUser([], user.user)
  for (const path of [vapp.path, vapp.vm, catalog.path, catalog.templatePath, catalog.itemPath]) {
    assert.equal(await statusOf('GET', path, again.token), 403, path)
  }
  assert.deepEqual(entriesIn(read(await ask('GET', vapp.access, admin))), [])
  const body = renderDocument(element('ControlAccessParams', {}, ...before.children))
  const refused = await ask('POST', vapp.share, admin, body)
  assert.deepEqual(
    [refused.status, /there is no user/.test(refused.text)],
    [400, true],
    refused.text,
  )
})

test('a lapsed and a disabled user, and one of a disabled organisation, has nothing', async () => {
  const [user, vapp] = [await addUser(), await addVapp()]
  await addShareRow(db(), user, { vapp: vapp.id }, 'FullControl')
  for (const column of ['disabled', 'lapsed']) {
    await sql`update account set ${sql.ref(column)} = true where id = ${user.account}`.execute(db())
    assert.equal(await statusOf('GET', vapp.path, user.token), 401, column)
    await sql`update account set ${sql.ref(column)} = false where id = ${user.account}`.execute(
      db(),
    )
  }
})

test('an API token has the shares of its user; a workflow run on behalf of the user has none', async () => {
  const [user, vapp, catalog] = [await addUser(), await addVapp(), await addCatalog()]
  await addShareRow(db(), user, { vapp: vapp.id }, 'FullControl')
  await addShareRow(db(), user, { catalog: catalog.id }, 'FullControl')
  const made = await ask('POST', '/api/session/tokens', user.token, '<AccessTokenParams name="s"/>')
  const script = text(find(read(made, 201), 'Token')[0]) ?? ''
  assert.equal(await statusOf('GET', vapp.path, script), 200)
  assert.equal(await statusOf('GET', '/api/vApps/query', script), 200)
  await flow.logIn(eng(), user.account)
  const run = await flow.grant(eng(), user.account)
  for (const path of [
    vapp.path,
    catalog.path,
    catalog.templatePath,
    '/api/vApps/query',
    '/api/query',
  ]) {
    const { status, text: said } = await flow.askAs(run, 'GET', path)
    assert.equal(status, 403, `${path}: ${said}`)
  }
  const shared = await flow.askAs(run, 'POST', vapp.share, { body: withUsers('ReadOnly') })
  assert.equal(shared.status, 403)
})

test('links and reasons of documents follow the rights at that object', async () => {
  const [user, vapp, catalog] = [await addUser(), await addVapp(), await addCatalog()]
  const relsOf = (node: Element, name: 'Link' | 'Unavailable', end = '') =>
    find(node, name)
      .filter((each) => name === 'Unavailable' || hrefOf(each).endsWith(end))
      .map((each) => attribute(each, 'rel') ?? '')
  const expected = {
    ReadOnly: {
      linked: [],
      not: ['power:powerOn', 'edit', 'controlAccess', 'remove', 'recompose'],
    },
    Change: { linked: ['power:powerOn'], not: ['edit', 'controlAccess', 'remove', 'recompose'] },
    FullControl: { linked: ['power:powerOn', 'edit', 'remove', 'recompose'], not: [] },
  } as const
  for (const level of shareLevels) {
    await addShareRow(db(), user, { vapp: vapp.id }, level)
    await addShareRow(db(), user, { catalog: catalog.id }, level)
    const shown = read(await ask('GET', `${vapp.path}?unavailable=true`, user.token))
    const [links, refused] = [relsOf(shown, 'Link'), relsOf(shown, 'Unavailable')]
    for (const rel of expected[level].linked) assert.ok(links.includes(rel), `${level} ${rel}`)
    for (const rel of expected[level].not) assert.ok(refused.includes(rel), `${level} ${rel}`)
    const isFull = level === 'FullControl'
    assert.equal(relsOf(shown, 'Link', '/action/controlAccess').length, isFull ? 1 : 0)
    assert.equal(relsOf(shown, 'Link', '/controlAccess').length, isFull ? 2 : 1)
    const list = read(await ask('GET', `${catalog.path}?unavailable=true`, user.token))
    const uploads = level !== 'ReadOnly'
    assert.equal(relsOf(list, 'Link').includes('add'), uploads, level)
    assert.equal(relsOf(list, 'Link', '/action/controlAccess').length, isFull ? 1 : 0)
    for (const each of find(list, 'Unavailable')) {
      assert.equal(attribute(each, 'code'), 'right')
      assert.match(attribute(each, 'because') ?? '', /lacks the right vm:edit|FullControl here/)
    }
    assert.equal(relsOf(list, 'Unavailable').length, uploads ? (isFull ? 0 : 1) : 2)
    await removeShareRows(db(), user, { vapp: vapp.id })
    await removeShareRows(db(), user, { catalog: catalog.id })
  }
})

test('the role user, which reads everything, is offered what a share adds there, and nothing elsewhere', async () => {
  const [user, vapp, other] = [
    await addShareUser(db(), eng(), 'user'),
    await addVapp(),
    await addVapp(),
  ]
  await addShareRow(db(), user, { vapp: vapp.id }, 'FullControl')
  const edits = async ({ vm }: typeof vapp) =>
    find(read(await ask('GET', vm, user.token)), 'Link').some(
      (each) => attribute(each, 'rel') === 'remove',
    )
  assert.deepEqual([await edits(vapp), await edits(other)], [true, false])
  assert.equal(await statusOf('DELETE', vapp.vm, user.token), 202)
  assert.equal(await statusOf('DELETE', other.vm, user.token), 403)
  const path = `/api/vdc/${flow.api.eng.ids['vdc']}/action/instantiateVAppTemplate`
  const template = flow.api.eng.ids['template']?.slice(-36) ?? ''
  const made = await ask('POST', path, user.token, instantiate(fresh(), template, false))
  assert.equal(made.status, 403, 'nothing is created by a share')
})

test('who changes a vApp by a share alone puts neither an unreadable template nor another network into it', async () => {
  const [user, vapp, catalog] = [await addUser(), await addVapp(), await addCatalog()]
  await addShareRow(db(), user, { vapp: vapp.id }, 'FullControl')
  const body = (id: string) =>
    `<RecomposeVAppParams><SourcedItem><Source href="${BASE}/api/vAppTemplate/vappTemplate-${id}"/></SourcedItem></RecomposeVAppParams>`
  const add = (id = catalog.template) =>
    ask('POST', `${vapp.path}/action/recomposeVApp`, user.token, body(id))
  const [hidden, unknown] = [await add(), await add('01980000-0000-7000-8000-00000000abcd')]
  assert.deepEqual([hidden.status, hidden.text], [400, unknown.text])
  await addShareRow(db(), user, { catalog: catalog.id }, 'ReadOnly')
  assert.equal((await add()).status, 202)
  const cards =
    '<NetworkConnectionSection><NetworkConnection network="lab"><NetworkConnectionIndex>0</NetworkConnectionIndex>' +
    '<IsConnected>true</IsConnected><IpAddressAllocationMode>POOL</IpAddressAllocationMode></NetworkConnection></NetworkConnectionSection>'
  const path = `${vapp.vm}/networkConnectionSection`
  const refused = await ask('PUT', path, user.token, cards)
  assert.equal(refused.status, 403, refused.text)
  assert.match(refused.text, /lacks the right network:read/)
  const reader = await addUser(['network:read'])
  await addShareRow(db(), reader, { vapp: vapp.id }, 'FullControl')
  assert.notEqual(await statusOf('PUT', path, reader.token, cards), 403)
})

test('events and actions on the VMs of a query stay closed', async () => {
  const [user, vapp] = [await addUser(), await addVapp()]
  await addShareRow(db(), user, { vapp: vapp.id }, 'FullControl')
  assert.equal(await statusOf('GET', '/api/events', user.token), 403)
  assert.equal(await statusOf('GET', '/api/query?type=event', user.token), 403)
  const id = vapp.vm.slice(-36)
  const path = `/api/query/action/powerOn?type=vm&filter=id==urn:skerry:vm:${id}&expect=1`
  assert.equal(await statusOf('POST', path, user.token), 403)
})

test('a task of a VM, a template, an item and an id of the resolver are reached by the share of their object only', async () => {
  const [user, vapp, other] = [
    await addUser(),
    await addVapp('POWERED_ON'),
    await addVapp('POWERED_ON'),
  ]
  const [catalog, hidden] = [await addCatalog(), await addCatalog()]
  await addShareRow(db(), user, { vapp: vapp.id }, 'FullControl')
  await addShareRow(db(), user, { catalog: catalog.id }, 'FullControl')
  const taskOf = async ({ vm }: typeof vapp) => {
    const made = await ask('POST', `${vm}/power/action/powerOff`, admin)
    return pathOf(String(made.headers['location']))
  }
  const [own, theirs] = [await taskOf(vapp), await taskOf(other)]
  assert.equal(await statusOf('GET', own, user.token), 200)
  assert.equal(await statusOf('GET', theirs, user.token), 403)
  assert.equal(await statusOf('POST', `${theirs}/action/cancel`, user.token), 403)
  assert.equal(await statusOf('POST', `${own}/action/cancel`, user.token), 204)
  const urn = (kind: string, path: string) => `/api/entity/urn:skerry:${kind}:${path.slice(-36)}`
  for (const [{ path, templatePath, itemPath }, status] of [
    [catalog, 200],
    [hidden, 403],
  ] as const) {
    assert.equal(await statusOf('GET', templatePath, user.token), status)
    assert.equal(await statusOf('GET', itemPath, user.token), status)
    assert.equal(await statusOf('GET', urn('catalog', path), user.token), status)
    assert.equal(await statusOf('GET', urn('catalogitem', itemPath), user.token), status)
    assert.equal(await statusOf('GET', urn('vapptemplate', templatePath), user.token), status)
  }
  // By a vApp nothing of the organisation is read.
  for (const [kind, path] of [
    ['vapp', vapp.path],
    ['vm', vapp.vm],
    ['task', own],
  ] as const) {
    assert.equal(await statusOf('GET', urn(kind, path), user.token), 403, kind)
  }
})

test('a template in two catalogs is read by the share of either', async () => {
  const [user, first, second] = [await addUser(), await addCatalog(), await addCatalog()]
  await db()
    .insertInto('catalog_item')
    .values({ org: eng(), catalog: second.id, name: fresh(), template: first.template })
    .execute()
  assert.equal(await statusOf('GET', first.templatePath, user.token), 403)
  await addShareRow(db(), user, { catalog: second.id }, 'ReadOnly')
  assert.equal(await statusOf('GET', first.templatePath, user.token), 200)
  assert.equal(await statusOf('GET', first.path, user.token), 403)
})
