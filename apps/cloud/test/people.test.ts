// Goal: people who leave a directory lose everything in one pass; a directory that is away or wrong takes nothing from anybody.
// Method: a real OpenLDAP and a real PostgreSQL; the tenant API over HTTP, and passes of the reconciler.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { text } from '@skerry/xml'
import { sql } from 'kysely'

import { rightsOf } from '../src/domain/roles.ts'
import { decidePeople } from '../src/reconcile/people.ts'
import { openDirectoryApi, type DirectoryApi } from './directory-api.ts'
import { addRoleRow } from './role-row.ts'
import { find, read, XML } from './tenants-api.ts'

let on: DirectoryApi
before(async () => {
  on = await openDirectoryApi()
})
after(() => on[Symbol.asyncDispose]())

/** Everything that a user can have: a session, an API token, feeds, a schedule's grant, a screen. */
async function everythingOf(user: string) {
  const { token: session } = await on.enter(user)
  const made = await on.api.ask('POST', '/api/session/tokens', {
    token: session,
    body: '<AccessTokenParams name="nightly"/>',
  })
  const script = text(find(read(made, 201), 'Token')[0]) ?? ''
  const byToken = await on.enter(user, script)
  const [account] = await on.accountsOf(user)
  const { org, vapp, ids } = on.api.eng
  const { db } = on.api.cloud
  const grant = await sql<{ id: string }>`insert into workflow_grant
    (org, kind, account_org, account, ceiling, server)
    values (${org}, 'schedule', ${org}, ${account?.id}, 'author', 'w') returning id`.execute(db)
  const screen = await sql<{ id: string }>`insert into console
    (org, vapp, vm, boot, host, account_org, account, user_name, via)
    values (${org}, ${vapp.slice(-36)}, ${ids['entity']?.slice(-36)}, 'boot', ${on.api.cloud.host}, ${org},
      ${account?.id}, ${user}, 'k1') returning id`.execute(db)
  const tokens = [session, script, byToken.token]
  const feeds = await Promise.all(tokens.map(openFeed))
  return { tokens, feeds, grant: grant.rows[0]?.id, screen: screen.rows[0]?.id }
}

async function openFeed(token: string): Promise<{ readonly ended: Promise<string> }> {
  const feed = await fetch(`http://127.0.0.1:${on.api.port}/api/events`, {
    headers: { accept: XML, 'x-cloud-authorization': token },
    signal: AbortSignal.timeout(120_000),
  })
  assert.equal(feed.status, 200)
  return { ended: feed.text() }
}

async function endedOf({ grant, screen }: { readonly grant: unknown; readonly screen: unknown }) {
  const { rows } = await sql<{ grant: boolean; screen: string | null }>`select
    (select ended_at is not null from workflow_grant where id = ${grant}) as grant,
    (select why from console where id = ${screen}) as screen`.execute(on.api.cloud.db)
  return rows[0]
}

for (const [what, leave, comeBack] of [
  [
    'removed from the group',
    () => on.member('delete', 'developers', 'bob'),
    () => on.member('add', 'developers', 'bob'),
  ],
  [
    'deleted',
    () =>
      on.change((client) => client.modifyDN(on.personDn('bob'), `uid=bob,${on.directory.base}`)),
    () =>
      on.change((client) => client.modifyDN(`uid=bob,${on.directory.base}`, on.personDn('bob'))),
  ],
] as const) {
  test(`a person who is ${what} loses sessions, tokens, feeds, schedules and screens in one pass; a return restores none`, async () => {
    await using _ = await on.add()
    const all = await everythingOf('bob')
    await on.enter('carol')
    assert.equal(await on.pass(), 0)
    assert.deepEqual(
      await Promise.all(all.tokens.map((token) => on.statusOf(token))),
      [200, 200, 200],
    )
    await leave()
    assert.equal(await on.pass(), 1)
    const check = async () => {
      assert.deepEqual(
        await Promise.all(all.tokens.map((token) => on.statusOf(token))),
        [401, 401, 401],
      )
      assert.deepEqual(await endedOf(all), { grant: true, screen: 'user-lapsed' })
    }
    await check()
    await Promise.all(all.feeds.map(({ ended }) => ended))
    assert.equal((await on.enter('bob')).status, 401)
    assert.equal((await on.accountsOf('carol'))[0]?.lapsed, false)
    assert.deepEqual((await on.eventsOf('user.lapsed')).at(-1), { user: 'bob', via: 'corp' })
    await comeBack()
    assert.equal((await on.enter('bob')).status, 200)
    assert.deepEqual((await on.eventsOf('user.returned')).at(-1), { user: 'bob', via: 'corp' })
    await check()
  })
}

test('a person with other groups has their role after a pass, and a person without any loses access at a login', async () => {
  await using _ = await on.add()
  const { token } = await on.enter('bob')
  await on.member('add', 'admins', 'bob')
  assert.equal(await on.pass(), 1)
  assert.equal(await on.roleOf(token), 'organisation administrator')
  await on.member('delete', 'admins', 'bob')
  await on.member('delete', 'developers', 'bob')
  assert.equal((await on.enter('bob')).status, 401)
  assert.equal(await on.statusOf(token), 401, 'the refused login has ended the session')
  await on.member('add', 'developers', 'bob')
})

test('a mass departure is not believed: nothing is changed, and it is reported once', async () => {
  await using provider = await on.add()
  const tokens: string[] = []
  for (let n = 2; n <= 13; n += 1) tokens.push((await on.enter(`p-${n}`)).token)
  await sql`update identity_provider set settings = jsonb_set(settings, '{people,base}', '"ou=groups,dc=corp,dc=example"')
    where id = ${provider.id}`.execute(on.api.cloud.db)
  assert.deepEqual([await on.pass(), await on.pass()], [0, 0])
  assert.deepEqual(
    new Set(await Promise.all(tokens.map((token) => on.statusOf(token)))),
    new Set([200]),
  )
  assert.deepEqual(
    (await on.eventsOf('provider.doubted')).map(({ leavers, users }) => [leavers, users]),
    [[12, 12]],
  )
  const shown = read(await on.api.ask('GET', provider.path, { token: on.chief }))
  assert.equal(find(shown, 'DoubtedSince').length, 1)
  await sql`update identity_provider set settings = jsonb_set(settings, '{people,base}', '"ou=people,dc=corp,dc=example"')
    where id = ${provider.id}`.execute(on.api.cloud.db)
  await on.pass()
  const again = read(await on.api.ask('GET', provider.path, { token: on.chief }))
  assert.equal(find(again, 'DoubtedSince').length, 0)
})

test('more than five and more than a tenth are a mass departure', () => {
  const accountsUpTo = (count: number) =>
    Array.from({ length: count }, (_, at) => ({
      id: String(at),
      org: 'o',
      name: String(at),
      role: 'user',
      subject: String(at),
    })) as unknown as Parameters<typeof decidePeople>[0]
  const believed = (count: number, leavers: number) => {
    const accounts = accountsUpTo(count)
    const stays = accounts.slice(leavers).map(({ subject, name }) => {
      const groups = [{ dn: 'cn=g', name: 'g' }]
      return [subject, { subject, name, enabled: true, groups }] as const
    })
    return decidePeople(accounts, new Map(stays), [{ name: 'g', ...rightsOf('user') }]).believed
  }
  assert.deepEqual(
    [believed(5, 5), believed(6, 6), believed(50, 6), believed(60, 6), believed(1000, 101)],
    [true, false, false, true, false],
  )
})

test('a directory that is away changes nothing: 503, nothing is counted, local accounts log in; it is reported after an hour', async () => {
  await using provider = await on.add()
  const { token } = await on.enter('bob')
  await on.directory.kill9()
  try {
    const away = await on.enterOnce('bob')
    assert.deepEqual([away.status, away.headers['retry-after']], [503, '2'], away.text)
    assert.equal((await on.enterOnce('unknown', 'x')).status, 503)
    assert.equal((await on.enter('alice', 'secret')).status, 200)
    assert.equal(await on.passOnce(), 0)
    assert.equal(await on.statusOf(token), 200)
    assert.deepEqual(await on.eventsOf('provider.silent'), [])
    await sql`update identity_provider set silent_since = silent_since - interval '61 min'`.execute(
      on.api.cloud.db,
    )
    await on.passOnce()
    await on.passOnce()
    assert.equal((await on.eventsOf('provider.silent')).length, 1)
    const { rows } = await sql`select from login_failure`.execute(on.api.cloud.db)
    assert.equal(rows.length, 0)
  } finally {
    await on.directory.restart()
  }
  await on.pass()
  assert.equal((await on.eventsOf('provider.back')).length, 1)
  assert.equal((await on.enter('bob')).status, 200)
  const shown = read(await on.api.ask('GET', provider.path, { token: on.chief }))
  assert.equal(find(shown, 'SilentSince').length, 0)
})

test('a share with a group counts for the people whom the directory names: from their login on, until the pass after they leave the group', async () => {
  await using provider = await on.add()
  const { org, vapp } = on.api.eng
  const { db } = on.api.cloud
  // A role without rights: what is read is read by the share.
  await addRoleRow(db, org, 'guest', ['session'])
  const groups = `/api/admin/identityProvider/${provider.id}/groups`
  const roles = (names: readonly string[]) =>
    `<GroupRoles>${names.map((name) => `<GroupRole name="${name}" role="guest"/>`).join('')}</GroupRoles>`
  const write = async (...names: string[]) =>
    read(await on.api.ask('PUT', groups, { token: on.ruler, body: roles(names) }))
  await write('developers', 'crowd', 'admins')
  const share = async (name: string) => {
    const body = `<ControlAccessParams><IsSharedToEveryone>false</IsSharedToEveryone><AccessSettings><AccessSetting>
      <Subject type="group" name="${name}" provider="corp"/><AccessLevel>ReadOnly</AccessLevel></AccessSetting></AccessSettings></ControlAccessParams>`
    read(
      await on.api.ask('POST', `/api/vApp/${vapp}/action/controlAccess`, { token: on.ruler, body }),
    )
  }
  const seenBy = async (token: string) =>
    (await on.api.ask('GET', `/api/vApp/${vapp}`, { token })).status
  await share('admins')
  await on.member('add', 'admins', 'bob')
  const { token } = await on.enter('bob')
  assert.equal(await seenBy(token), 200)
  await on.member('delete', 'admins', 'bob')
  assert.equal(await seenBy(token), 200, 'until the next pass')
  await on.pass()
  assert.equal(await seenBy(token), 403)
  await on.member('add', 'admins', 'bob')
  await on.pass()
  assert.equal(await seenBy(token), 200)
  // Out of the group, and a login before the next pass.
  await on.member('delete', 'admins', 'bob')
  const again = await on.enter('bob')
  assert.deepEqual([await seenBy(again.token), await seenBy(token)], [403, 403])
  // A directory that is away takes nothing.
  await share('developers')
  assert.equal(await seenBy(token), 200)
  await sql`update identity_provider set settings = jsonb_set(settings::jsonb, '{urls}', '["ldaps://127.0.0.1:1"]')
    where id = ${provider.id}`.execute(db)
  await on.passOnce()
  assert.equal(await seenBy(token), 200)
  await write('crowd')
  assert.equal(await seenBy(token), 403)
  const { rows } = await sql`select from share where provider is not null`.execute(db)
  assert.equal(rows.length, 0)
})
