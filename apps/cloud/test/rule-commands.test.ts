// Goal: an operator creates, lists, changes and disables organisations, users, quotas and tokens by commands. Method: the
// real commands on a real PostgreSQL.
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'

import type { Postgres } from '@skerry/lab'

import { verifyPassword } from '../src/auth/password.ts'
import { commands } from '../src/commands.ts'
import { startDatabases } from './cloud-database.ts'
import { openCommands } from './command-site.ts'

let postgres: (Postgres & AsyncDisposable) | undefined
before(async () => {
  postgres = await startDatabases()
})
after(async () => {
  await postgres?.[Symbol.asyncDispose]()
})
const openSite = () => openCommands(postgres)

async function rulers(site: Awaited<ReturnType<typeof openSite>>) {
  await site.init()
  await site.type(['org', 'add', 'eng'])
  await site.type(['user', 'add', 'alice@eng', '--role', 'author'], 'secret word\n')
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
  await assert.rejects(type(['org', 'disable', 'ops']), { hint: 'skerry cloud org add ops' })
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
  await assert.rejects(type(['user', 'add', 'mallory@eng', '--role', RULER], 'secret word'), {
    kind: 'forbidden',
    hint: /organisation administrator/,
  })
  await assert.rejects(type(['user', 'role', 'alice@eng', RULER]), { kind: 'forbidden' })
  await assert.rejects(type(['user', 'role', 'alice@eng', 'king']), { message: /console only/ })
  await type(['user', 'role', 'alice@eng', 'console only'])
  await assert.rejects(type(['user', 'password', 'alice@eng'], 'short\n'), /8 to 256/)
  const alice = () =>
    db.selectFrom('account').selectAll().where('name', '=', 'alice').executeTakeFirst()
  const { org, id } = (await alice()) ?? assert.fail()
  await db
    .insertInto('session')
    .values({ token_hash: randomBytes(32), org, account: id })
    .execute()
  await type(['user', 'password', 'alice@eng'], 'another word\n')
  assert.ok(await verifyPassword('another word', (await alice())?.password ?? ''))
  assert.deepEqual(await db.selectFrom('session').selectAll().execute(), [])
  assert.match(await type(['user', 'disable', 'alice@eng']), /is logged out/)
  const [head, first, second] = (await type(['user', 'list'])).split('\n')
  assert.match(head ?? '', /^USER +ORG +ROLE +ENABLED +SESSIONS +TOKENS$/)
  assert.match(first ?? '', /^administrator +System +system administrator +yes +0 +0$/)
  assert.match(second ?? '', /^alice +eng +console only +no +0 +0$/)
  assert.deepEqual(
    (await rows('user', 'list', '--org', 'eng')).map(({ user, enabled }) => [user, enabled]),
    [['alice', false]],
  )
  await type(['user', 'enable', 'alice@eng'])
  await type(['user', 'remove', 'alice@eng'])
  assert.equal(await alice(), undefined)
  await assert.rejects(type(['user', 'disable', 'alice@eng']), {
    kind: 'not-found',
    hint: 'skerry cloud user list --org eng',
  })
  await assert.rejects(type(['user', 'remove', 'alice']), { message: /USER@ORG/ })
  for (const line of [
    ['user', 'remove', 'administrator@System'],
    ['user', 'disable', 'administrator@System'],
    ['user', 'role', 'administrator@System', 'author'],
  ]) {
    await assert.rejects(type(line), { kind: 'conflict', hint: /create another one first/ })
  }
  await type(['user', 'add', 'ann@System', '--role', RULER], 'secret word')
  await type(['user', 'remove', 'administrator@System'])
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
  const lines = (await type(['quota', 'show', 'eng'])).split('\n')
  assert.deepEqual(
    lines.map((line) => line.replaceAll(/ +/g, ' ')),
    [
      'BOUND MOST USED',
      'vms none 0',
      'running-vms 0 0',
      'cpus none 0',
      'memory-mib 2048 0',
      'storage-mib none 0',
    ],
  )
  const { quota } = JSON.parse(await type(['quota', 'show', 'eng', '--json'])) as { quota: object }
  assert.deepEqual(quota, { runningVms: 0, memoryMiB: 2048 })
  await assert.rejects(set('--vms', 'many'), { message: /--vms must be a whole number or none/ })
  await assert.rejects(set(), { hint: 'skerry cloud quota set eng --vms 10' })
  await assert.rejects(type(['quota', 'show', 'ops']), { kind: 'not-found' })
})

test('access tokens are created for a user, printed once, listed without their value and revoked', async () => {
  await using site = await openSite()
  const { db, type } = site
  const { rows } = await rulers(site)
  const token = await type(['token', 'add', 'alice@eng', 'nightly'])
  assert.match(token, /^skat_[\w-]{43}$/)
  const { token_hash: hash } = await db
    .selectFrom('access_token')
    .selectAll()
    .executeTakeFirstOrThrow()
  assert.deepEqual(hash, createHash('sha256').update(token).digest())
  await assert.rejects(type(['token', 'add', 'alice@eng', 'nightly']), { kind: 'conflict' })
  assert.deepEqual(
    (await rows('token', 'list', 'alice@eng')).map(({ name, used }) => [name, used]),
    [['nightly', null]],
  )
  assert.match(await type(['token', 'list', 'alice@eng']), /^NAME +MADE +USED\nnightly +20/)
  await assert.rejects(type(['token', 'revoke', 'alice@eng', 'daily']), {
    hint: 'skerry cloud token list alice@eng',
  })
  await type(['token', 'revoke', 'alice@eng', 'nightly'])
  assert.deepEqual(await rows('token', 'list', 'alice@eng'), [])
})

test('the help lists every command; the help of a command shows its usage', async () => {
  await using site = await openSite()
  const help = await site.type(['--help'])
  for (const { name, summary } of commands) {
    assert.ok(help.includes(`skerry cloud ${name}`) && help.includes(summary), name)
    assert.match(await site.type([...name.split(' '), '--help']), /^usage: skerry cloud /)
  }
})
