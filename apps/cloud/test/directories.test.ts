// Goal: people of a directory log in with the role of their groups, and no one else gets in.
// Method: a real OpenLDAP and a real PostgreSQL; the tenant API over HTTP, two cells.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { after, before, test } from 'node:test'

import { Fault } from '@skerry/fault'
import { until } from '@skerry/lab'
import type { UserId } from '@skerry/vm'
import { attribute, text } from '@skerry/xml'
import { sql } from 'kysely'

import { makeCheck } from '../src/auth/credentials.ts'
import type { Tx } from '../src/database/tables.ts'
import { provePerson, type DirectoryAccess } from '../src/directories/ask-directory.ts'
import {
  changeProvider,
  deleteProvider,
  findProvider,
  readSealed,
  settingsOf,
  writeGroupRoles,
} from '../src/directories/identity-providers.ts'
import type { Principal } from '../src/domain/authorize.ts'
import { rightsOf } from '../src/domain/roles.ts'
import { FREE_FAILURES } from '../src/tenants/login-failures.ts'
import { openSealed } from './cloud-database.ts'
import { openDirectoryApi, type DirectoryApi } from './directory-api.ts'
import { prolongWaits } from './login-waits.ts'
import { addProviderRow } from './provider-row.ts'
import { find, read } from './tenants-api.ts'

let on: DirectoryApi
before(async () => {
  on = await openDirectoryApi()
})
after(() => on[Symbol.asyncDispose]())

test('people log in with the highest role of their groups, also by groups in groups and in a ring', async () => {
  await using _ = await on.add()
  for (const [user, role] of [
    ['alice-2', undefined],
    ['bob', 'author'],
    ['carol', 'author'],
    ['dave', 'user'],
    ['nobody', undefined],
  ] as const) {
    const login = await on.enter(user)
    assert.equal(login.status, role === undefined ? 401 : 200, `${user}: ${login.text}`)
    if (role !== undefined) assert.equal(await on.roleOf(login.token), role)
  }
  assert.deepEqual(
    (await on.eventsOf('user.added')).filter(({ via }) => via === 'corp').map(({ user }) => user),
    ['bob', 'carol', 'dave'],
  )
  const hostile = await on.enter('o*(cn=)\\', 'hostile-secret')
  assert.equal(hostile.status, 200, 'a name that is made of what filters are written with')
})

test('wrong, empty and forged credentials are refused, and reported', async () => {
  await using _ = await on.add()
  assert.equal((await on.enter('bob')).status, 200)
  for (const [user, password] of [
    ['bob', 'wrong'],
    ['bob', ''],
    ['*', 'bob-secret'],
    ['b*', 'bob-secret'],
    ['bob)(uid=*', 'bob-secret'],
    ['bob)(|(uid=*', 'bob-secret'],
    ['bob\u0000', 'bob-secret'],
    ['reader', 'reader-secret'],
    ['', 'bob-secret'],
  ] as const) {
    assert.equal((await on.enter(user, password)).status, 401, JSON.stringify([user, password]))
  }
  const refused = (await on.eventsOf('session.refused')).filter(({ by }) => by === 'bob')
  assert.ok(refused.length >= 2)
})

test('wrong passwords at a directory are limited as those of local accounts are', async () => {
  await using _ = await on.add()
  for (let n = 0; n < FREE_FAILURES; n += 1) assert.equal((await on.enter('bob', 'x')).status, 401)
  await prolongWaits(on.api.cloud.db)
  for (const user of ['bob', 'BOB', ' Bob ', 'b\u00f3b']) {
    const late = await on.enter(user, 'bob-secret')
    assert.deepEqual([late.status, Number(late.headers['retry-after']) > 0], [429, true], user)
  }
})

test('without TLS nothing is sent, and a server with another issuer is not trusted', async () => {
  for (const body of [
    on.bodyOf({ url: on.directory.clearUrl }),
    on.bodyOf({ url: on.directory.url, startTls: true }),
    on.bodyOf({ url: 'https://127.0.0.1' }),
    on.bodyOf({ url: 'ldaps://user:word@127.0.0.1' }),
    on.bodyOf({ ca: 'no certificate' }),
  ]) {
    const refused = await on.api.ask('POST', on.listPath(), { token: on.ruler, body })
    assert.equal(refused.status, 400, refused.text)
  }
  {
    await using provider = await on.add({ ca: '' })
    assert.equal((await on.enterOnce('bob')).status, 503)
    const tested = read(
      await on.api.ask('POST', `${provider.path}/action/test`, { token: on.ruler }),
    )
    assert.equal(attribute(tested, 'answers'), 'false')
  }
  await using _ = await on.add({ url: on.directory.clearUrl, startTls: true })
  assert.equal((await on.enter('bob')).status, 200, 'StartTLS')
})

/** A network between a cell and the directory that does with the bytes what it wants. */
async function openNetwork(
  url: string,
  pass: (client: Socket, server: Socket, all: readonly Socket[]) => void,
) {
  const { port, protocol } = new URL(url)
  const clients: Socket[] = []
  const network = createServer((client) => {
    const server = connect(Number(port), '127.0.0.1')
    clients.push(client)
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      one.on('error', () => undefined).on('close', () => other.destroy())
    }
    client.pipe(server)
    pass(client, server, clients)
  })
  await new Promise<void>((resolve) => network.listen(0, '127.0.0.1', resolve))
  const access: DirectoryAccess = {
    name: 'corp',
    secret: on.directory.reader.password,
    settings: {
      urls: [`${protocol}//127.0.0.1:${(network.address() as AddressInfo).port}`],
      startTls: protocol === 'ldap:',
      ca: on.directory.ca,
      reader: on.directory.reader.dn,
      people: {
        base: `ou=people,${on.directory.base}`,
        filter: '(objectClass=inetOrgPerson)',
        name: 'uid',
        subject: 'entryUUID',
      },
      groups: {
        base: `ou=groups,${on.directory.base}`,
        member: 'member',
        name: 'cn',
        nested: 'levels',
      },
    },
  }
  return { access, clients, [Symbol.dispose]: () => void network.close() }
}

const UNAVAILABLE = { kind: 'unavailable' }

test('a connection that is lost is not made again without its reader', async () => {
  using network = await openNetwork(on.directory.url, (client, server, all) => {
    server.pipe(client)
    // The reader has found the person, and its password is being checked.
    if (all.length === 2) all[0]?.destroy()
  })
  const { access, clients } = network
  await assert.rejects(provePerson(access, 'bob', 'bob-secret'), UNAVAILABLE)
  assert.equal(clients.length, 2)
})

test('what a network adds to the answer before TLS is no answer', async () => {
  using network = await openNetwork(on.directory.clearUrl, (client, server, all) => {
    server.once('data', (first: Buffer) => {
      // The beginning of the answer to the next message: a bind that succeeds, whose text are the 14 bytes of the directory's refusal.
      const forged = [0x30, 26, 2, 1, (first[4] ?? 0) + 1, 0x61, 21, 10, 1, 0, 4, 0, 4, 14]
      client.write(all.length === 2 ? Buffer.concat([first, Buffer.from(forged)]) : first)
      server.pipe(client)
    })
  })
  await assert.rejects(provePerson(network.access, 'bob', 'wrong'), UNAVAILABLE)
})

test('twenty first logins at once, at two cells, make one account', async () => {
  await using _ = await on.add()
  const eventsBefore = (await on.eventsOf('user.added')).length
  const other = makeCheck(on.api.cloud.db, 'none', {
    now: () => performance.now(),
    open: openSealed,
    clock: { now: () => new Date() },
  })
  const credentials = { user: 'bob', org: 'eng', password: 'bob-secret' }
  const logins = Array.from({ length: 20 }, async (__, at) =>
    at % 2 === 0
      ? (await on.enter('bob')).status
      : until('the directory answers', () =>
          other(credentials, '192.0.2.7').then(
            ({ name }) => name,
            (error: unknown) => {
              if (error instanceof Fault && error.kind === 'unavailable') return false
              throw error
            },
          ),
        ),
  )
  const found = new Set(await Promise.all(logins))
  assert.deepEqual(found, new Set([200, 'bob']))
  assert.equal((await on.accountsOf('bob')).length, 1)
  assert.equal((await on.eventsOf('user.added')).length, eventsBefore + 1)
})

test('a local account is never taken over by a name, and has only its password', async () => {
  await using _ = await on.add()
  assert.equal((await on.enter('alice', 'secret')).status, 200)
  assert.equal((await on.enter('alice', 'alice-secret')).status, 401, 'the directory’s alice')
  const { db } = on.api.cloud
  assert.equal((await on.enter('bob')).status, 200)
  await assert.rejects(
    sql`update account set password = 'x' where name = 'bob' and org = ${on.api.eng.org}`.execute(
      db,
    ),
    /account_proof/,
  )
  const [bob] = await on.accountsOf('bob')
  for (const body of [
    '<User><Password>driftwood and rope</Password></User>',
    '<User><Role name="user"/></User>',
  ]) {
    const refused = await on.api.ask('PUT', `/api/admin/user/${bob?.id}`, { token: on.chief, body })
    assert.equal(refused.status, 409)
  }
  const disable = '<User><IsEnabled>false</IsEnabled></User>'
  assert.equal(
    (await on.api.ask('PUT', `/api/admin/user/${bob?.id}`, { token: on.chief, body: disable }))
      .status,
    200,
  )
  assert.equal((await on.enter('bob')).status, 401, 'an administrator’s word stays')
})

test('a person who is renamed keeps the account; the old name of a new person does not get it', async () => {
  await using _ = await on.add()
  await on.enter('p-1')
  const [before] = await on.accountsOf('p-1')
  await on.change((client) => client.modifyDN(on.personDn('p-1'), 'uid=q-1'))
  await on.member('delete', 'crowd', 'p-1').catch(() => undefined)
  await on.member('add', 'crowd', 'q-1')
  const login = await on.enter('q-1', 'p-1-secret')
  assert.equal(login.status, 200, login.text)
  assert.deepEqual(
    (await on.accountsOf('q-1')).map(({ id }) => id),
    [before?.id],
  )
  await on.change((client) =>
    client.add(on.personDn('p-1'), {
      objectClass: 'inetOrgPerson',
      uid: 'p-1',
      cn: 'New',
      sn: 'New',
      userPassword: 'new-secret',
    }),
  )
  await on.member('add', 'crowd', 'p-1')
  assert.equal((await on.enter('p-1', 'new-secret')).status, 200)
  assert.notEqual((await on.accountsOf('p-1'))[0]?.id, before?.id)
})

test('a directory that hangs holds up no other login, of another directory or with a password', async () => {
  const sockets = new Set<Socket>()
  const hanging = createServer((socket) => void sockets.add(socket.on('error', () => undefined)))
  await new Promise<void>((resolve) => hanging.listen(0, '127.0.0.1', resolve))
  const { port } = hanging.address() as AddressInfo
  try {
    await using _ = await on.add()
    assert.equal((await on.enter('bob')).status, 200)
    // Unknown names are looked up in the other directory first.
    await using other = await on.add({ name: 'z-hanging', url: `ldaps://127.0.0.1:${port}` })
    let answered = 0
    const connected = once(hanging, 'connection')
    const slow = Promise.all(
      Array.from({ length: 40 }, async (__, at) => {
        const { status } = await on.enterOnce(`unknown-${at}`, 'x')
        answered += 1
        return status
      }),
    )
    await connected
    assert.equal((await on.enter('bob')).status, 200)
    assert.equal((await on.enter('alice', 'secret')).status, 200)
    // Four at once, and each hangs for two seconds.
    assert.ok(answered < 30, `both waited for ${answered} that hang`)
    assert.deepEqual(new Set(await slow), new Set([503]))
    assert.ok(other.id)
  } finally {
    for (const socket of sockets) socket.destroy()
    hanging.close()
  }
})

test('an identity server is listed, tested, changed and removed; the password is never shown', async () => {
  await using provider = await on.add()
  const list = read(await on.api.ask('GET', on.listPath(), { token: on.chief }))
  const names = find(list, 'IdentityProviderReference').map((each) => attribute(each, 'name'))
  assert.ok(names.includes('corp'))
  const shown = await on.api.ask('GET', provider.path, { token: on.chief })
  assert.ok(!shown.text.includes(on.directory.reader.password))
  const tested = read(await on.api.ask('POST', `${provider.path}/action/test`, { token: on.ruler }))
  assert.equal(attribute(tested, 'answers'), 'true', text(find(tested, 'Message')[0]) ?? '')
  assert.ok(Number(attribute(tested, 'people')) >= 60)
  const withoutPassword = on.bodyOf().replace(/<Password>.*<\/Password>/, '')
  const put = (body: string) => on.api.ask('PUT', provider.path, { token: on.ruler, body })
  assert.equal((await put(withoutPassword)).status, 200)
  assert.equal((await on.enter('bob')).status, 200)
  const moved = withoutPassword.replace(on.directory.url, 'ldaps://192.0.2.1')
  assert.equal((await put(moved)).status, 400, 'another server does not get the stored password')
  const deleted = await on.api.ask('DELETE', provider.path, { token: on.ruler })
  assert.equal(deleted.status, 409, 'bob depends on it')
  const { rows } = await sql<{ all: string }>`select
    (select string_agg(to_jsonb(e)::text, '') from event e) ||
    (select string_agg(to_jsonb(p)::text, '') from identity_provider p) as all`.execute(
    on.api.cloud.db,
  )
  assert.ok(!rows[0]?.all.includes('-secret'), 'no password is stored')
  await sql`delete from account where name = 'bob' and provider is not null`.execute(
    on.api.cloud.db,
  )
  assert.equal((await on.api.ask('DELETE', provider.path, { token: on.ruler })).status, 204)
})

test('an identity server that another request deletes meanwhile is not found', async () => {
  const { db } = on.api.cloud
  const id = await addProviderRow(db, on.api.eng.org, 'short')
  const row = await findProvider(db, id)
  assert.ok(row)
  await db.deleteFrom('identity_provider').where('id', '=', id).execute()
  const { rows } = await sql<{
    account: UserId
  }>`select id as account from account limit 1`.execute(db)
  const [{ account } = assert.fail()] = rows
  const role = rightsOf('system administrator')
  const chief: Principal = { user: 'chief', account, org: row.org, orgName: 'System', ...role }
  const change = { how: settingsOf(row), enabled: undefined, secret: 'new' }
  const groups = [{ name: 'admins', role: 'author' as const }]
  const works: Record<string, (tx: Tx) => Promise<unknown>> = {
    'not-found test': (tx) => readSealed(tx, id),
    'not-found change': (tx) => changeProvider(tx, chief, row, change, () => Buffer.alloc(0)),
    'not-found delete': (tx) => deleteProvider(tx, chief, row),
    'conflict groups': (tx) => writeGroupRoles(tx, chief, row, groups),
  }
  for (const [name, work] of Object.entries(works)) {
    const failure = await db
      .transaction()
      .execute(work)
      .catch((error: unknown) => error)
    assert.ok(failure instanceof Fault, name)
    assert.equal(failure.kind, name.split(' ')[0])
  }
})

test('an organisation has at most 16 enabled identity servers, also when one is enabled later', async () => {
  await using provider = await on.add()
  const { db } = on.api.cloud
  const put = (enabled: boolean) =>
    on.api.ask('PUT', provider.path, {
      token: on.ruler,
      body: on.bodyOf().replace('<Url>', `<IsEnabled>${enabled}</IsEnabled><Url>`),
    })
  assert.equal((await put(false)).status, 200)
  for (let n = 0; n < 16; n += 1) await addProviderRow(db, on.api.eng.org, `row-${n}`)
  await sql`update identity_provider set disabled = false where name like 'row-%'`.execute(db)
  assert.equal((await put(true)).status, 409)
  await sql`update identity_provider set disabled = true where name = 'row-0'`.execute(db)
  assert.equal((await put(true)).status, 200)
  await sql`update identity_provider set disabled = true where name like 'row-%'`.execute(db)
})

test('only a system administrator gives the role of one to a group, and only in System', async () => {
  await using provider = await on.add()
  const put = (token: string, role: string) =>
    on.api.ask('PUT', `${provider.path}/groups`, {
      token,
      body: `<GroupRoles><GroupRole name="admins" role="${role}"/></GroupRoles>`,
    })
  assert.equal((await put(on.chief, 'system administrator')).status, 403)
  assert.equal((await put(on.ruler, 'system administrator')).status, 403)
  assert.equal((await put(on.chief, 'author')).status, 200)
  assert.equal((await put(on.chief, 'king')).status, 400)
  const { db } = on.api.cloud
  await sql`update group_role set role = 'system administrator' where provider = ${provider.id}`.execute(
    db,
  )
  assert.equal((await put(on.chief, 'author')).status, 403, 'nor takes it away')
  assert.equal((await put(on.ruler, 'author')).status, 200)
  const own = await on.api.enter(on.api.ops.org, 'organisation administrator')
  assert.equal((await put(own, 'author')).status, 404)
  await on.enter('bob')
  assert.equal((await on.enter('bob')).status, 401, 'the list was replaced')
})
