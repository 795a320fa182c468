// Goal: a vApp and a catalog are shared with users, groups and everyone of an organisation, by lists that are refused in words, and no
// one gives more than they have. Method: the API over HTTP, in XML and in JSON, by users who lack rights, and requests at the same time.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import type { UserId } from '@skerry/vm'
import { element, renderDocument, text } from '@skerry/xml'
import { sql } from 'kysely'

import type { Permission } from '../src/domain/roles.ts'
import { fresh } from './rights-table.ts'
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
import { addShareRow, addShareUser } from './share-row.ts'
import {
  BASE,
  find,
  hrefOf,
  openTenantsApi,
  read,
  type Asked,
  type TenantsApi,
} from './tenants-api.ts'

let api: TenantsApi
let admin: string
before(async () => {
  api = await openTenantsApi()
  admin = await api.enter(eng(), 'organisation administrator')
})
after(() => api[Symbol.asyncDispose]())

const eng = () => api.eng.org
const db = () => api.cloud.db
const ask = (method: string, path: string, token: string, more: Asked | string = {}) =>
  api.ask(method, path, { token, ...(typeof more === 'string' ? { body: more } : more) })
const statusOf = async (method: string, path: string, token: string, body = '') =>
  (await ask(method, path, token, body === '' ? {} : body)).status

const addUser = (rights?: readonly Permission[]) => addUserWith(api, rights)
const addVapp = () => addSharedVapp(api)
const addCatalog = () => addSharedCatalog(api)

async function eventsOf(kind: string, name: string): Promise<Record<string, unknown>[]> {
  const { rows } = await sql<{ details: Record<string, unknown> }>`select details from event
    where kind = ${kind} and details ->> 'name' = ${name} order by tx, seq`.execute(db())
  return rows.map(({ details }) => details)
}

test('a vApp and a catalog are shared with a user, a group and everyone, in XML and in JSON, with events', async () => {
  const [user, provider] = [await addUser(), fresh()]
  await addSharedGroup(api, 'developers', provider)
  const group = { type: 'group', name: 'developers', provider }
  for (const what of [await addVapp(), await addCatalog()]) {
    const empty = read(await ask('GET', what.access, admin))
    assert.deepEqual(entriesIn(empty), [])
    assert.equal(text(find(empty, 'IsSharedToEveryone')[0]), 'false')
    const body = listOf(
      [setting(group, 'Change'), setting({ type: 'user', name: user.user }, 'FullControl')],
      'ReadOnly',
    )
    const said = [
      'everyone ReadOnly',
      `user ${user.user} FullControl`,
      `group developers ${provider} Change`,
    ]
    assert.deepEqual(entriesIn(read(await ask('POST', what.share, admin, body))), said)
    const shown = read(await ask('GET', what.access, admin))
    assert.deepEqual(entriesIn(shown), said)
    // As it was read, with the address of the user.
    const [subject] = find(shown, 'AccessSettings', 'AccessSetting', 'Subject')
    assert.equal(hrefOf(subject), `${BASE}/api/admin/user/${user.account}`)
    const again = renderDocument(element('ControlAccessParams', {}, ...shown.children))
    assert.deepEqual(entriesIn(read(await ask('POST', what.share, admin, again))), said)
    const json = {
      headers: {
        accept: 'application/*+json;version=5.1',
        'content-type': 'application/json',
      },
      body: JSON.stringify({
        isSharedToEveryone: false,
        accessSettings: {
          accessSetting: [{ subject: { type: 'user', name: user.user }, accessLevel: 'ReadOnly' }],
        },
      }),
    }
    const { status, text: answered } = await ask('POST', what.share, admin, json)
    assert.equal(status, 200, answered)
    const { accessSettings } = JSON.parse(answered) as {
      accessSettings: { accessSetting: { accessLevel: string }[] }
    }
    assert.deepEqual(
      accessSettings.accessSetting.map(({ accessLevel }) => accessLevel),
      ['ReadOnly'],
    )
  }
})

test('each change of a share is an event: who shared what, with whom, at which level, and what was before', async () => {
  const user = await addUser()
  const [vapp, catalog] = [await addVapp(), await addCatalog()]
  for (const [what, kind, table] of [
    [vapp, 'vapp.shared', 'vapp'],
    [catalog, 'catalog.shared', 'catalog'],
  ] as const) {
    for (const body of [
      withUsers('Change', user),
      withUsers('ReadOnly', user),
      withUsers('Change'),
    ]) {
      read(await ask('POST', what.share, admin, body))
    }
    read(await ask('POST', what.share, admin, withUsers('Change')))
    const { rows } = await sql<{ name: string }>`select name from ${sql.table(table)}
      where id = ${what.id}`.execute(db())
    const name = rows[0]?.name ?? ''
    const all = (await eventsOf(kind, name)).filter((each) => each['user'] === user.user)
    for (const each of all) {
      assert.match(String(each['by']), /^organisation-administrator/)
      assert.equal(typeof each['from'], 'string')
    }
    assert.deepEqual(
      all.map(({ type, level, before: was, removed }) => ({ type, level, was, removed })),
      [
        { type: 'user', level: 'Change', was: undefined, removed: undefined },
        { type: 'user', level: 'ReadOnly', was: 'Change', removed: undefined },
        { type: 'user', level: undefined, was: 'ReadOnly', removed: true },
      ],
    )
  }
})

test('a list is refused in words: unknown and foreign users and groups, doubles, too many, wrong levels, a VM', async () => {
  const [user, vapp] = [await addUser(), await addVapp()]
  const { ops } = api
  const stranger = await addShareUser(db(), ops.org, 'user')
  await addSharedGroup(api, 'no role', 'without-role')
  await sql`delete from group_role where name = 'no role'`.execute(db())
  await sql`insert into group_role (org, provider, name, role)
    select org, id, 'theirs', 'user' from identity_provider where org = ${ops.org}`.execute(db())
  const named = { type: 'user', name: user.user }
  const byHref = { type: 'user', href: `${BASE}/api/admin/user/${user.account}` }
  const tries: readonly (readonly [string, RegExp])[] = [
    [withUsers('Change', { user: 'nobody' }), /there is no user nobody in this organisation/],
    [withUsers('Change', stranger), /there is no user s-\w+ in this organisation/],
    [
      listOf([
        setting({ type: 'user', href: `${BASE}/api/admin/user/${stranger.account}` }, 'Change'),
      ]),
      /there is no user [0-9a-f-]{36} in this organisation/,
    ],
    [
      listOf([setting({ type: 'group', name: 'no role', provider: 'without-role' }, 'Change')]),
      /no group no role of without-role has a role/,
    ],
    [
      listOf([setting({ type: 'group', name: 'theirs', provider: 'lab' }, 'Change')]),
      /no group theirs of lab has a role/,
    ],
    [listOf([setting({ type: 'group', name: 'theirs' }, 'Change')]), /must have a provider/],
    [listOf([setting(named, 'Change'), setting(byHref, 'ReadOnly')]), /is in the list twice/],
    [listOf([setting(named, 'All')]), /AccessLevel must be one of: ReadOnly, Change, FullControl/],
    [
      listOf([setting({ type: 'host', name: 'h' }, 'Change')]),
      /type of Subject must be user or group/,
    ],
    [listOf([element('AccessSetting', {}, element('AccessLevel', {}, 'Change'))]), /one Subject/],
    [listOf([], 'change'), /EveryoneAccessLevel must be one of/],
    ['<ControlAccessParams/>', /IsSharedToEveryone must be true or false/],
    [
      '<ControlAccessParams><IsSharedToEveryone>false</IsSharedToEveryone><EveryoneAccessLevel>Change</EveryoneAccessLevel></ControlAccessParams>',
      /only for IsSharedToEveryone true/,
    ],
    [
      listOf(
        Array.from({ length: 101 }, (_, at) => setting({ type: 'user', name: `u${at}` }, 'Change')),
      ),
      /at most 100 users and groups/,
    ],
  ]
  for (const what of [vapp, await addCatalog()]) {
    for (const [body, message] of tries) {
      const answer = await ask('POST', what.share, admin, body)
      assert.equal(answer.status, 400, `${body}: ${answer.text}`)
      assert.match(answer.text, message)
    }
    assert.deepEqual(entriesIn(read(await ask('GET', what.access, admin))), [])
  }
  const ofVm = await ask(
    'POST',
    `${vapp.vm}/action/controlAccess`,
    admin,
    withUsers('Change', user),
  )
  assert.deepEqual([ofVm.status, /VMs are not/.test(ofVm.text)], [400, true])
  assert.equal(await statusOf('GET', `${vapp.vm}/controlAccess`, admin), 400)
})

test('FullControl shares it on, Change does not, and neither reaches another object or the list of users', async () => {
  const [first, second, third] = [await addUser(), await addUser(), await addUser()]
  for (const [what, other] of [
    [await addVapp(), await addVapp()],
    [await addCatalog(), await addCatalog()],
  ] as const) {
    const body = withUsers('FullControl', first)
    read(await ask('POST', what.share, admin, body))
    const both = listOf([
      setting({ type: 'user', name: first.user }, 'FullControl'),
      setting({ type: 'user', name: second.user }, 'Change'),
    ])
    const shown = read(await ask('POST', what.share, first.token, both))
    assert.equal(entriesIn(shown).length, 2)
    for (const each of find(shown, 'AccessSettings', 'AccessSetting', 'Subject')) {
      assert.equal(hrefOf(each), '', 'the address of a user is for administrators')
    }
    const refused = await ask(
      'POST',
      what.share,
      second.token,
      withUsers('ReadOnly', second, third),
    )
    assert.equal(refused.status, 403, refused.text)
    assert.match(refused.text, /FullControl|lacks the right vm:edit/)
    assert.equal(
      await statusOf('POST', other.share, first.token, withUsers('ReadOnly', third)),
      403,
    )
    assert.equal(await statusOf('GET', other.access, first.token), 403)
    assert.equal(entriesIn(read(await ask('GET', what.access, admin))).length, 2)
  }
  assert.equal(await statusOf('GET', `/api/admin/user/${second.account}`, first.token), 403)
})

test('no one gives, changes or takes away a level with more rights than they have there', async () => {
  const [user, other, vapp] = [await addUser(), await addUser(), await addVapp()]
  // vm:edit without vm:console: Change has more.
  const lesser = await addUser(['org:read', 'vm:read', 'vm:power', 'vm:edit'])
  for (const level of ['Change', 'FullControl'] as const) {
    const refused = await ask('POST', vapp.share, lesser.token, withUsers(level, user))
    assert.equal(refused.status, 403)
    assert.match(
      refused.text,
      new RegExp(`the level ${level} has rights that you lack here: vm:console`),
    )
    const everyone = await ask('POST', vapp.share, lesser.token, listOf([], level))
    assert.equal(everyone.status, 403)
  }
  read(await ask('POST', vapp.share, lesser.token, withUsers('ReadOnly', user)))
  read(await ask('POST', vapp.share, admin, withUsers('Change', user)))
  for (const body of [withUsers('ReadOnly', user), withUsers('ReadOnly')]) {
    assert.equal(await statusOf('POST', vapp.share, lesser.token, body), 403, body)
  }
  // What stays is not given again.
  const beside = listOf([
    setting({ type: 'user', name: user.user }, 'Change'),
    setting({ type: 'user', name: other.user }, 'ReadOnly'),
  ])
  assert.equal(entriesIn(read(await ask('POST', vapp.share, lesser.token, beside))).length, 2)
  // A share adds to the role: with both, the rights are there.
  await addShareRow(db(), lesser, { vapp: vapp.id }, 'Change')
  const more = listOf([
    setting({ type: 'user', name: user.user }, 'FullControl'),
    setting({ type: 'user', name: lesser.user }, 'Change'),
  ])
  assert.equal(entriesIn(read(await ask('POST', vapp.share, lesser.token, more))).length, 2)
  // The same for catalogs: vm:edit without org:read gives nothing away.
  const [editor, catalog] = [await addUser(['vm:edit']), await addCatalog()]
  const refused = await ask('POST', catalog.share, editor.token, withUsers('ReadOnly', user))
  assert.match(refused.text, /the level ReadOnly has rights that you lack here: org:read/)
})

test('of lists written at the same time one is stored whole', async () => {
  const [users, vapp] = [await Promise.all([addUser(), addUser(), addUser()]), await addVapp()]
  const all = await Promise.all(
    Array.from({ length: 9 }, (_, at) =>
      ask('POST', vapp.share, admin, withUsers('Change', ...users.slice(0, (at % 3) + 1))),
    ),
  )
  for (const answer of all) assert.equal(answer.status, 200, answer.text)
  const stored = entriesIn(read(await ask('GET', vapp.access, admin)))
  const whole = [1, 2, 3].map((count) =>
    users
      .slice(0, count)
      .map(({ user }) => `user ${user} Change`)
      .toSorted(),
  )
  assert.ok(
    whole.some((each) => each.join() === stored.join()),
    stored.join(),
  )
})

test('a tenant writes no share for another organisation, and no membership at all', async () => {
  const { eng: own, ops } = api
  const principal = { ...api.cloud.principal, org: own.org }
  const attempt = (work: string) =>
    api.cloud
      .as(principal, (tx) => sql.raw(work).execute(tx))
      .then(
        () => 'accepted',
        (error: Error & { code?: string }) => error.code,
      )
  const user = await addShareUser(db(), ops.org, 'user')
  const values = `'${ops.org}', '${ops.vapp.slice(-36)}', '${user.account}', 'FullControl'`
  assert.equal(
    await attempt(`insert into share (org, vapp, account, level) values (${values})`),
    '42501',
  )
  const mixed = `'${own.org}', '${ops.vapp.slice(-36)}', '${user.account satisfies UserId}', 'FullControl'`
  assert.equal(
    await attempt(`insert into share (org, vapp, account, level) values (${mixed})`),
    '23503',
  )
  assert.equal(
    await attempt(`insert into account_group (org, account, provider, name)
      select org, '${user.account}', id, 'x' from identity_provider limit 1`),
    '42501',
  )
})
