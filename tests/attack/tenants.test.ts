// Threat: a thief, a dismissed colleague, a password guesser and a tenant who fills the image store. Method: a cell's API over
// HTTP with a real PostgreSQL. Everything a user can have open is opened, then the user is changed, and each is tried.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'

import { attribute, text } from '@skerry/xml'
import { sql } from 'kysely'

import {
  find,
  hrefOf,
  logIn,
  openTenantsApi,
  pathOf,
  read,
  XML,
  type TenantsApi,
} from '../../apps/cloud/test/tenants-api.ts'

const run = promisify(execFile)

let api: TenantsApi
let admin: string
before(async () => {
  api = await openTenantsApi()
  admin = await api.enter(api.eng.org, 'organisation administrator')
})
after(() => api[Symbol.asyncDispose]())

const PASSWORD = 'lighthouse in the fog'
let count = 0

/** A new user with everything that a user can have: a session, an API token, a feed, a schedule's grant, a screen. */
async function userWithAll() {
  const name = `user-${(count += 1)}`
  const body = `<User name="${name}"><Role name="author"/><Password>${PASSWORD}</Password></User>`
  const users = `/api/admin/org/${api.eng.org}/users`
  const path = pathOf(hrefOf(read(await api.ask('POST', users, { token: admin, body }), 201)))
  const account = path.split('/').at(-1) ?? ''
  const { token: session } = await logIn(api.ask, `${name}@eng`, PASSWORD)
  const made = read(
    await api.ask('POST', '/api/session/tokens', {
      token: session,
      body: '<AccessTokenParams name="nightly"/>',
    }),
    201,
  )
  const script = text(find(made, 'Token')[0]) ?? ''
  const { org, vapp, ids } = api.eng
  const vm = ids['entity']?.slice(-36)
  const { db } = api.cloud
  const { rows } = await sql<{ id: string }>`insert into workflow_grant
    (org, kind, account_org, account, ceiling, server)
    values (${org}, 'schedule', ${org}, ${account}, 'author', 'w') returning id`.execute(db)
  const screens = await sql<{ id: string }>`insert into console
    (org, vapp, vm, boot, host, account_org, account, user_name, via)
    values (${org}, ${vapp.slice(-36)}, ${vm}, 'boot', ${api.cloud.host}, ${org}, ${account}, ${name}, 'k1')
    returning id`.execute(db)
  const feeds = await Promise.all([session, script].map(openFeed))
  return { path, session, script, feeds, grant: rows[0]?.id, screen: screens.rows[0]?.id }
}

async function openFeed(token: string): Promise<{ readonly ended: Promise<void> }> {
  const feed = await fetch(`http://127.0.0.1:${api.port}/api/events`, {
    headers: { accept: XML, 'x-cloud-authorization': token },
    // Passwords are hashed meanwhile, several of them, each on a processor that others use too.
    signal: AbortSignal.timeout(120_000),
  })
  assert.equal(feed.status, 200)
  const readToEnd = async () => {
    for await (const _ of feed.body ?? []) continue
  }
  return { ended: readToEnd() }
}

const statusOf = async (token: string): Promise<number> =>
  (await api.ask('GET', '/api/org', { token })).status

const change = async (path: string, body: string): Promise<void> => {
  read(await api.ask('PUT', path, { token: admin, body }))
}

for (const [what, body] of [
  ['a new password', '<User><Password>driftwood and rope</Password></User>'],
  ['being disabled', '<User><IsEnabled>false</IsEnabled></User>'],
] as const) {
  test(`${what} ends sessions, API tokens, feeds, schedules and screens; enabling restores none`, async () => {
    const user = await userWithAll()
    assert.deepEqual([await statusOf(user.session), await statusOf(user.script)], [200, 200])
    await change(user.path, body)
    await Promise.all(user.feeds.map(({ ended }) => ended))
    const check = async (when: string) => {
      const found = [await statusOf(user.session), await statusOf(user.script)]
      assert.deepEqual(found, [401, 401], when)
      const { rows } = await sql<{ grant: boolean; screen: boolean }>`select
        (select ended_at is not null from workflow_grant where id = ${user.grant}) as grant,
        (select ended_at is not null from console where id = ${user.screen}) as screen`.execute(
        api.cloud.db,
      )
      assert.deepEqual(rows[0], { grant: true, screen: true }, when)
    }
    await check(what)
    await change(user.path, '<User><IsEnabled>true</IsEnabled></User>')
    await check('after it is enabled')
  })
}

test('an administrator sees the tokens of a user and revokes one', async () => {
  const user = await userWithAll()
  const list = read(await api.ask('GET', `${user.path}/tokens`, { token: admin }))
  const [token] = find(list, 'AccessToken')
  assert.equal(attribute(token, 'name'), 'nightly')
  const gone = await api.ask('DELETE', pathOf(hrefOf(token)), { token: admin })
  assert.deepEqual([gone.status, await statusOf(user.script)], [204, 401])
  await change(user.path, '<User><IsEnabled>false</IsEnabled></User>')
  await Promise.all(user.feeds.map(({ ended }) => ended))
})

test('common passwords are rejected, when a user is created and when a password is changed', async () => {
  const { path, feeds } = await userWithAll()
  const users = `/api/admin/org/${api.eng.org}/users`
  for (const weak of [
    'password',
    '12345678',
    ' '.repeat(8),
    'Password1!',
    'qwertyuiop',
    'hedwig1',
  ]) {
    const added = await api.ask('POST', users, {
      token: admin,
      body: `<User name="hedwig"><Role name="user"/><Password>${weak}</Password></User>`,
    })
    assert.equal(added.status, 400, weak)
    const changed = await api.ask('PUT', path, {
      token: admin,
      body: `<User><Password>${weak}</Password></User>`,
    })
    assert.equal(changed.status, 400, weak)
  }
  await change(path, '<User><IsEnabled>false</IsEnabled></User>')
  await Promise.all(feeds.map(({ ended }) => ended))
})

test('a full image store is reported when an image is announced and while it is sent; freed, the upload continues', async () => {
  const image = join(api.images, '..', `${randomBytes(8).toString('hex')}.qcow2`)
  await run('qemu-img', ['create', '-q', '-f', 'qcow2', image, '8M'])
  await run('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'none', api.images])
  try {
    const body = await readFile(image)
    const announce = (bytes: number) =>
      api.ask('POST', `/api/catalog/${api.eng.ids['catalog']}/action/upload`, {
        token: api.eng.token,
        body: `<UploadParams name="image-${(count += 1)}" size="${bytes}"/>`,
      })
    const early = await announce(64 * 1024 ** 2)
    assert.equal(early.status, 503)
    assert.match(early.text, /the image store has no room for 67108864 bytes/)
    const path = pathOf(hrefOf(read(await announce(body.length), 201)))
    const filler = join(api.images, 'filler')
    await assert.rejects(writeFile(filler, Buffer.alloc(2 * 1024 ** 2)), { code: 'ENOSPC' })
    const send = () =>
      fetch(`http://127.0.0.1:${api.port}${path}`, {
        method: 'PUT',
        headers: { accept: XML, 'x-cloud-authorization': api.eng.token },
        body,
      })
    const refused = await send()
    assert.equal(refused.status, 503)
    assert.match(await refused.text(), /the image store is full/)
    await rm(filler)
    assert.equal((await send()).status, 201)
  } finally {
    await run('umount', ['--lazy', api.images])
    await rm(image, { force: true })
  }
})
