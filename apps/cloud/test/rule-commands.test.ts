// Goal: an operator creates, lists, changes and disables organisations, users, quotas and tokens by commands. Method: the
// real commands on a real PostgreSQL.
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'

import { adminCommands, tenantAdmin } from '@skerry/command-line'
import type { Postgres } from '@skerry/lab'

import { commands } from '../src/admin/commands.ts'
import { verifyPassword } from '../src/auth/password.ts'
import { roles } from '../src/domain/roles.ts'
import { startDatabases } from './cloud-database.ts'
import { openCommands } from './command-site.ts'

let postgres: (Postgres & AsyncDisposable) | undefined
before(async () => {
  postgres = await startDatabases('nothing')
})
after(async () => {
  await postgres?.[Symbol.asyncDispose]()
})
const openSite = () => openCommands(postgres)

async function rulers(site: Awaited<ReturnType<typeof openSite>>) {
  await site.init()
  await site.type(['org', 'create', 'eng'])
  await site.type(['user', 'create', 'alice@eng', '--role', 'author'], 'secret word\n')
  const rows = async (...line: readonly string[]) =>
    JSON.parse(await site.type([...line, '--json'])) as Record<string, unknown>[]
  const eventsOf = async () =>
    (await site.db.selectFrom('event').select(['kind', 'details']).orderBy('seq').execute()).map(
      ({ kind, details }) => [kind, (details as Record<string, unknown>)['by']],
    )
  return { rows, eventsOf }
}

test('organisations are listed, disabled and enabled; System cannot be disabled', async () => {
  await using site = await openSite()
  const { type } = site
  const { rows, eventsOf } = await rulers(site)
  const [head, eng, system] = (await type(['org', 'list'])).split('\n')
  assert.match(head ?? '', /^NAME +ENABLED +USERS +VMS +ID$/)
  assert.match(system ?? '', /^eng +yes +1 +0 /)
  assert.match(eng ?? '', /^System +yes +1 +0 /)
  assert.match(await type(['org', 'disable', 'eng']), /its users are logged out/)
  const now = async () => (await rows('org', 'list')).map(({ name, enabled }) => [name, enabled])
  assert.deepEqual(await now(), [
    ['System', true],
    ['eng', false],
  ])
  await type(['org', 'enable', 'eng'])
  await assert.rejects(type(['org', 'disable', 'System']), { kind: 'conflict' })
  await assert.rejects(type(['org', 'disable', 'ops']), { hint: 'skerry admin org create ops' })
  assert.deepEqual(await eventsOf(), [
    ['org.changed', 'operator'],
    ['org.changed', 'operator'],
  ])
})

test('users get another role or password, are disabled and removed; system administrators are only in System', async () => {
  await using site = await openSite()
  const { db, type } = site
  const { rows, eventsOf } = await rulers(site)
  const RULER = 'system administrator'
  await assert.rejects(type(['user', 'create', 'mallory@eng', '--role', RULER], 'secret word'), {
    kind: 'forbidden',
    hint: /organisation administrator/,
  })
  await assert.rejects(type(['user', 'set', 'alice@eng', '--role', RULER]), { kind: 'forbidden' })
  await assert.rejects(type(['user', 'set', 'alice@eng', '--role', 'king']), {
    message: /console only/,
  })
  await type(['user', 'set', 'alice@eng', '--role', 'console only'])
  await assert.rejects(type(['user', 'set', 'alice@eng', '--password'], 'short\n'), /8 to 256/)
  const alice = () =>
    db.selectFrom('account').selectAll().where('name', '=', 'alice').executeTakeFirst()
  const { org, id } = (await alice()) ?? assert.fail()
  await db
    .insertInto('session')
    .values({ token_hash: randomBytes(32), org, account: id })
    .execute()
  await type(['user', 'set', 'alice@eng', '--password'], 'another word\n')
  assert.ok(await verifyPassword('another word', (await alice())?.password ?? ''))
  assert.deepEqual(await db.selectFrom('session').selectAll().execute(), [])
  const sealed = randomBytes(32)
  await db.insertInto('second_factor').values({ org, account: id, name: 'phone', sealed }).execute()
  const removed = await type(['user', 'set', 'alice@eng', '--remove-second-factors'])
  assert.match(removed, /has no second factor any more/)
  assert.deepEqual(await db.selectFrom('second_factor').select('id').execute(), [])
  assert.match(await type(['user', 'set', 'alice@eng', '--disable']), /is logged out/)
  const [head, first, second] = (await type(['user', 'list'])).split('\n')
  assert.match(head ?? '', /^USER +ORG +ROLE +ENABLED +SESSIONS +TOKENS$/)
  assert.match(first ?? '', /^administrator +System +system administrator +yes +0 +0$/)
  assert.match(second ?? '', /^alice +eng +console only +no +0 +0$/)
  assert.deepEqual(
    (await rows('user', 'list', '--org', 'eng')).map(({ user, enabled }) => [user, enabled]),
    [['alice', false]],
  )
  await type(['user', 'set', 'alice@eng', '--enable'])
  await type(['user', 'rm', 'alice@eng'])
  assert.equal(await alice(), undefined)
  await assert.rejects(type(['user', 'set', 'alice@eng', '--disable']), {
    kind: 'not-found',
    hint: 'skerry admin user list --org eng',
  })
  await assert.rejects(type(['user', 'rm', 'alice']), { message: /USER@ORG/ })
  for (const line of [
    ['user', 'rm', 'administrator@System'],
    ['user', 'set', 'administrator@System', '--disable'],
    ['user', 'set', 'administrator@System', '--role', 'author'],
  ]) {
    await assert.rejects(type(line), { kind: 'conflict', hint: /create another one first/ })
  }
  await type(['user', 'create', 'ann@System', '--role', RULER], 'secret word')
  await type(['user', 'rm', 'administrator@System'])
  const events = await eventsOf()
  assert.ok(events.every(([, by]) => by === 'operator'))
  assert.deepEqual(events.at(-1)?.[0], 'user.removed')
})

test('quotas are shown with their usage, set bound by bound, and removed', async () => {
  await using site = await openSite()
  const { type } = site
  await rulers(site)
  const set = (...words: readonly string[]) => type(['quota', 'set', 'eng', ...words])
  await set('--vms', '3', '--memory-mib', '2048')
  await set('--vms', 'none', '--running-vms', '0')
  const lines = (await type(['quota', 'info', 'eng'])).split('\n')
  assert.deepEqual(
    lines.map((line) => line.replaceAll(/ +/g, ' ')),
    [
      'BOUND MOST USED',
      'vms none 0',
      'running-vms 0 0',
      'cpus none 0',
      'memory-mib 2048 0',
      'storage-mib none 0',
      'networks none 0',
    ],
  )
  const { quota } = JSON.parse(await type(['quota', 'info', 'eng', '--json'])) as { quota: object }
  assert.deepEqual(quota, { runningVms: 0, memoryMiB: 2048 })
  await assert.rejects(set('--vms', 'many'), { message: /--vms must be a whole number or none/ })
  await assert.rejects(set(), { hint: 'skerry admin quota set eng --vms 10' })
  await assert.rejects(type(['quota', 'info', 'ops']), { kind: 'not-found' })
})

test('API tokens are created for a user, printed once, listed without their value and revoked', async () => {
  await using site = await openSite()
  const { db, type } = site
  const { rows } = await rulers(site)
  const token = await type(['token', 'create', 'alice@eng', 'nightly'])
  assert.match(token, /^skat_[\w-]{43}$/)
  const { token_hash: hash } = await db
    .selectFrom('access_token')
    .selectAll()
    .executeTakeFirstOrThrow()
  assert.deepEqual(hash, createHash('sha256').update(token).digest())
  await assert.rejects(type(['token', 'create', 'alice@eng', 'nightly']), { kind: 'conflict' })
  assert.deepEqual(
    (await rows('token', 'list', 'alice@eng')).map(({ name, used }) => [name, used]),
    [['nightly', null]],
  )
  assert.match(
    await type(['token', 'list', 'alice@eng']),
    /^NAME +MADE +USED +EXPIRES\nnightly +20/,
  )
  await assert.rejects(type(['token', 'revoke', 'alice@eng', 'daily']), {
    hint: 'skerry admin token list alice@eng',
  })
  await type(['token', 'revoke', 'alice@eng', 'nightly'])
  assert.deepEqual(await rows('token', 'list', 'alice@eng'), [])
  await type(['token', 'create', 'alice@eng', 'short', '--days', '1'])
  const [short] = await rows('token', 'list', 'alice@eng')
  assert.match(String(short?.['expires']), /^20/)
  await assert.rejects(type(['token', 'create', 'alice@eng', 'none', '--days', '0']), {
    kind: 'invalid',
  })
})

test('every declared command has something to run, and nothing else has', () => {
  assert.deepEqual(
    commands.map(({ name }) => name).toSorted(),
    adminCommands.map(({ name }) => name).toSorted(),
  )
})

test('the help of users names every role', () => {
  for (const { role } of [tenantAdmin.createUser.options, tenantAdmin.setUser.options]) {
    for (const each of Object.keys(roles)) assert.match(role.doc, new RegExp(`[ "]${each}[",]`))
  }
})

test('a user is changed in several ways at once; without a change the command is refused', async () => {
  await using site = await openSite()
  const { rows } = await rulers(site)
  const set = (...more: readonly string[]) => site.type(['user', 'set', 'alice@eng', ...more])
  assert.match(
    await set('--role', 'user', '--disable'),
    /^user alice@eng now has the role user, is logged out/,
  )
  const [alice] = await rows('user', 'list', '--org', 'eng')
  assert.deepEqual([alice?.['role'], alice?.['enabled']], ['user', false])
  await assert.rejects(set(), { kind: 'invalid', message: 'no change given' })
  await assert.rejects(set('--enable', '--disable'), { kind: 'invalid' })
})
