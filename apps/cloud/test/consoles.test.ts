// Goal: a ticket opens one screen, once, in time, for a user with the right; an open screen ends when any of these ends.
// Method: a real PostgreSQL with a console's own login; the cloud's rows are changed as its own code changes them.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'

import { until, type Postgres } from '@skerry/lab'
import {
  closeConsole,
  hashOf,
  issueTicket,
  reasonOf,
  reasons,
  redeemTicket,
  renewConsoles,
  type EndedConsole,
  type Redeemed,
} from '@skerry/ticket'
import type { VmId } from '@skerry/vm'
import { sql } from 'kysely'

import { roles } from '../src/domain/roles.ts'
import { prepare, startDatabases, vmOf } from './cloud-database.ts'
import { openConsoleDatabase, type ConsoleDatabase, type User } from './console-database.ts'

let postgres: Postgres & AsyncDisposable
let it: ConsoleDatabase
before(async () => {
  postgres = await startDatabases()
  it = await openConsoleDatabase(postgres)
})
after(async () => {
  await it[Symbol.asyncDispose]()
  await postgres[Symbol.asyncDispose]()
})

const VIA = 'console-1'
const redeem = (secret: string, via = VIA) => redeemTicket(it.console, secret, via, '192.0.2.7')
const change = (statement: ReturnType<typeof sql>) => statement.execute(it.cloud.db)

async function open(vm: VmId, user: User, via = VIA): Promise<Redeemed> {
  const redeemed = await redeem(await it.ticket(vm, user), via)
  assert.ok(typeof redeemed === 'object', JSON.stringify(redeemed))
  return redeemed
}

const renew = (consoles: readonly string[], via = VIA): Promise<EndedConsole[]> =>
  renewConsoles(
    it.console,
    via,
    consoles.map((console) => ({ console, bytes: 7 })),
  )

async function eventsOf(kind: string, vm: VmId): Promise<Record<string, unknown>[]> {
  const { rows } = await sql<{ details: Record<string, unknown> }>`
    select details from event where kind = ${kind} and vm = ${vm} order by seq`.execute(it.cloud.db)
  return rows.map(({ details }) => details)
}

test('the roles with access to screens in the database match the table of roles', async () => {
  const known = await it.cloud.db.selectFrom('console_role').selectAll().orderBy('role').execute()
  const held = Object.entries(roles)
    .filter(([, rights]) => (rights as readonly string[]).includes('vm:console'))
    .map(([role]) => ({ role, everywhere: role === 'system administrator' }))
  assert.deepEqual(
    known,
    held.toSorted((a, b) => (a.role < b.role ? -1 : 1)),
  )
})

test('of twenty consoles that redeem one ticket at the same time, one opens the screen', async () => {
  const [vm, user] = [await it.addVm(), await it.addUser()]
  const secret = await it.ticket(vm, user)
  const all = await Promise.all(Array.from({ length: 20 }, (_, n) => redeem(secret, `c-${n}`)))
  const opened = all.filter((each) => typeof each === 'object')
  assert.equal(opened.length, 1)
  assert.equal(all.filter((each) => each === 'unknown').length, 19)
  const { rows } = await sql<{ name: string; host: string }>`
    select name, host from vm where id = ${vm}`.execute(it.cloud.db)
  const where = { address: '127.0.0.1', port: 1, boot: 'boot-1' }
  assert.deepEqual(opened[0]?.screen, { vm, ...rows[0], ...where })
  assert.equal((await eventsOf('console.opened', vm)).length, 1)
})

test('a ticket is valid for 30 seconds of the database’s clock', async () => {
  const [vm, user] = [await it.addVm(), await it.addUser()]
  await change(sql`update cloud set consoles_per_vm = 100, consoles_per_user = 100`)
  const show = async (seconds: number): Promise<'taken' | 'refused' | false> => {
    const secret = await it.ticket(vm, user)
    await change(sql`update screen_ticket set made_at = clock_timestamp() - make_interval(secs => ${seconds})
      where ticket_hash = ${hashOf(secret)}`)
    if (typeof (await redeem(secret)) === 'object') return 'taken'
    const { rows } = await sql<{ age: number }>`
      select extract(epoch from clock_timestamp() - made_at)::float as age from screen_ticket
      where ticket_hash = ${hashOf(secret)}`.execute(it.cloud.db)
    // On a busy machine the ticket may expire on its way, so that none of 29 s was tried: try another.
    return seconds < 30 && (rows[0]?.age ?? 0) >= 30 ? false : 'refused'
  }
  for (const [seconds, expected] of [
    [29, 'taken'],
    [31, 'refused'],
  ] as const) {
    const all = Array.from({ length: 20 }, () => until('a ticket is redeemed', () => show(seconds)))
    assert.deepEqual(new Set(await Promise.all(all)), new Set([expected]), `${seconds} s`)
  }
  await change(sql`update cloud set consoles_per_vm = 4, consoles_per_user = 20`)
})

test('its expiry is by the database’s clock', async () => {
  const [vm, principal] = [await it.addVm(), await it.addUser()]
  const { db, host } = it.cloud
  const row = await vmOf(db, vm)
  const ticket = { hash: randomBytes(32), vm: row, boot: 'boot-1', host, principal }
  const expires = await db.transaction().execute((tx) => issueTicket(tx, ticket))
  const { rows } = await sql<{ left: number }>`
    select extract(epoch from ${expires}::timestamptz - clock_timestamp())::float as left`.execute(
    db,
  )
  const left = rows[0]?.left ?? 0
  assert.ok(left > 20 && left <= 30, `${left} s`)
})

/** Everything that closes a screen: the code of the reason, and how it happens. */
const losses: Readonly<Record<string, readonly [string, (vm: VmId, user: User) => Statement[]]>> = {
  'powered off': [
    'vm-powered-off',
    (vm) => [sql`update vm set status = 'POWERED_OFF', boot = null where id = ${vm}`],
  ],
  suspended: [
    'vm-suspended',
    (vm) => [sql`update vm set status = 'SUSPENDED', boot = null where id = ${vm}`],
  ],
  'powered off and on again': [
    'vm-restarted',
    (vm) => [sql`update vm set boot = 'boot-2' where id = ${vm}`],
  ],
  'at another host': [
    'vm-restarted',
    (vm) => [
      sql`insert into host (name, address, port, public_key) values (${vm}, '127.0.0.1', 2, ${vm})`,
      sql`update vm set host = (select id from host where name = ${vm}) where id = ${vm}`,
    ],
  ],
  'deleted, and created again with the same name': [
    'vm-deleted',
    (vm) => [
      sql`update vm set deleted_at = clock_timestamp() where id = ${vm}`,
      sql`insert into vm (org, vapp, name, image, cpus, memory_mib, disk_mib, status, boot, host)
        select org, vapp, name, image, cpus, memory_mib, disk_mib, status, boot, host from vm where id = ${vm}`,
    ],
  ],
  'being deleted': ['vm-deleted', (vm) => [sql`update vm set closed = true where id = ${vm}`]],
  'missing after a restore': [
    'vm-lost',
    (vm) => [sql`update vm set lost_reason = 'MISSING' where id = ${vm}`],
  ],
  'the user disabled': [
    'user-disabled',
    (_, { account }) => [sql`update account set disabled = true where id = ${account}`],
  ],
  'the user removed': [
    'user-removed',
    (_, { account }) => [sql`delete from account where id = ${account}`],
  ],
  'a role without the right': [
    'no-permission',
    (_, { account }) => [sql`update account set role = 'reader' where id = ${account}`],
  ],
  'the organisation disabled': [
    'org-disabled',
    (_, { org }) => [sql`update org set disabled = true where id = ${org}`],
  ],
}
type Statement = ReturnType<typeof sql>

for (const [loss, [why, takeAway]] of Object.entries(losses)) {
  test(`${loss}: no ticket opens the screen any more, and the next renewal closes it with the reason`, async () => {
    const [vm, user] = [await it.addVm(), await it.addUser()]
    const [early, late] = [await open(vm, user), await it.ticket(vm, user)]
    assert.deepEqual(await renew([early.console]), [])
    for (const statement of takeAway(vm, user)) await change(statement)
    try {
      assert.equal(await redeem(late), 'unknown')
      const ended = { console: early.console, why, ...reasons[why] }
      assert.deepEqual(await renew([early.console]), [ended])
      assert.deepEqual(await renew([early.console]), [ended], 'also if the response was lost')
      await closeConsole(it.console, early.console, 9, 'the browser left')
      const [closed, ...more] = await eventsOf('console.closed', vm)
      assert.deepEqual([closed?.['why'], closed?.['bytes'], more.length], [why, 9, 0])
    } finally {
      await change(sql`update org set disabled = false`)
    }
  })
}

test('every reason that the database gives is a code with words, and an unknown one ends the screen too', async () => {
  const { rows } = await sql<{ text: string }>`select prosrc as text from pg_proc
    where proname in ('why_no_screen', 'renew_consoles', 'end_access_of_account')`.execute(
    it.cloud.db,
  )
  const codes = rows.flatMap(({ text }) => [...text.matchAll(/'([a-z]+(?:-[a-z]+)+)'/g)])
  // No screen is left to show the one: it is only in the event. A cell writes the other, when an administrator closes the screen.
  const given = new Set(codes.map(([, code]) => code))
  const known = new Set([...Object.keys(reasons), 'process-lost'])
  assert.deepEqual(given.union(new Set(['closed-by-administrator'])), known)
  assert.deepEqual(reasonOf('new-code'), {
    cause: 'silence',
    words: 'the cloud ended this screen: new-code',
  })
})

test('a VM whose host is unreachable keeps its screen', async () => {
  const [vm, user] = [await it.addVm(), await it.addUser()]
  const { console } = await open(vm, user)
  await change(sql`update vm set host_silent = true where id = ${vm}`)
  assert.deepEqual(await renew([console]), [])
})

test('a system administrator sees every screen while having that role; others see their own organisation’s', async () => {
  const { id: other } = await it.cloud.db
    .insertInto('org')
    .values({ name: `org-${randomBytes(4).toString('hex')}` })
    .returning('id')
    .executeTakeFirstOrThrow()
  const root = await it.addUser('system administrator', other)
  const stranger = await it.addUser('organisation administrator', other)
  const vm = await it.addVm()
  assert.equal(await redeem(await it.ticket(vm, stranger)), 'unknown')
  const { console } = await open(vm, root)
  await change(sql`update account set role = 'author' where id = ${root.account}`)
  const [ended] = await renew([console])
  assert.equal(ended?.why, 'no-permission')
})

test('the limit per VM and per user holds, also for concurrent requests', async () => {
  const vm = await it.addVm()
  const users = await Promise.all(Array.from({ length: 12 }, () => it.addUser()))
  const tickets = await Promise.all(users.map((user) => it.ticket(vm, user)))
  const all = await Promise.all(tickets.map((each) => redeem(each)))
  const opened = all.filter((each) => typeof each === 'object')
  assert.equal(opened.length, 4)
  assert.equal(all.filter((each) => each === 'too many').length, 8)
  const refused = tickets[all.indexOf('too many')] ?? ''
  assert.equal(await redeem(refused), 'unknown', 'a ticket is used up in any case')
  const user = await it.addUser()
  const vms = await Promise.all(Array.from({ length: 25 }, () => it.addVm()))
  const many = await Promise.all(vms.map((each) => it.ticket(each, user)))
  const seen = await Promise.all(many.map((each) => redeem(each)))
  assert.equal(seen.filter((each) => typeof each === 'object').length, 20)
  const [first] = opened
  assert.ok(first)
  await closeConsole(it.console, first.console, 0, 'the browser left')
  await open(vm, await it.addUser())
})

/** As if this process had renewed without interruption for a while. */
async function speaking(via: string): Promise<void> {
  await renew([], via)
  await change(sql`update console_process set since = since - interval '11 s' where via = ${via}`)
}

test('a console that its process does not renew no longer counts, and the next renewal of any process closes it', async () => {
  const vm = await it.addVm()
  const users = await Promise.all(Array.from({ length: 4 }, () => it.addUser()))
  const opened = await Promise.all(users.map((user) => open(vm, user, 'lost')))
  await renewConsoles(
    it.console,
    'lost',
    opened.map(({ console }) => ({ console, bytes: 1000 })),
  )
  const early = await it.ticket(vm, await it.addUser())
  await change(
    sql`update console set renewed_at = clock_timestamp() - interval '7 s' where vm = ${vm}`,
  )
  assert.equal(await redeem(early), 'too many')
  await change(
    sql`update console set renewed_at = clock_timestamp() - interval '10.1 s' where vm = ${vm}`,
  )
  const later = await open(vm, await it.addUser())
  await Promise.all(['console-2', 'console-3'].map((via) => speaking(via)))
  await Promise.all([renew([later.console]), renew([], 'console-2'), renew([], 'console-3')])
  const closed = await eventsOf('console.closed', vm)
  assert.deepEqual(
    closed.map(({ why, bytes, via }) => [why, bytes, via]),
    Array.from({ length: 4 }, () => ['process-lost', 1000, 'lost']),
  )
  const [first] = opened
  assert.ok(first)
  assert.deepEqual(await renew([first.console], 'lost'), [
    {
      console: first.console,
      why: 'console-silent',
      cause: 'silence',
      words: 'the console was silent for too long',
    },
  ])
})

test('after a database outage for all of them, no process takes another for lost', async () => {
  const [vm, user] = [await it.addVm(), await it.addUser()]
  const opened = await open(vm, user, 'slow to come back')
  await speaking('first to come back')
  await change(sql`update console set renewed_at = renewed_at - interval '30 s' where vm = ${vm}`)
  await change(sql`update console_process set renewed_at = renewed_at - interval '30 s'`)
  await renew([], 'first to come back')
  await renew([], 'first to come back')
  assert.deepEqual(await eventsOf('console.closed', vm), [])
  assert.deepEqual(await renew([opened.console], 'slow to come back'), [], 'it goes on')
})

test('one process renews nothing of another', async () => {
  const { console } = await open(await it.addVm(), await it.addUser(), 'mine')
  await change(
    sql`update console set renewed_at = clock_timestamp() - interval '5 s' where id = ${console}`,
  )
  await renew([console], 'other')
  const { rows } = await sql<{
    old: boolean
  }>`select renewed_at < clock_timestamp() - interval '4 s' as old
    from console where id = ${console}`.execute(it.cloud.db)
  assert.equal(rows[0]?.old, true)
})

test('a screen emits one event: user, address, console, start and end, bytes, and reason of the end', async () => {
  const [vm, user] = [await it.addVm(), await it.addUser()]
  const { console } = await open(vm, user)
  await renewConsoles(it.console, VIA, [{ console, bytes: 5 }])
  await closeConsole(it.console, console, 1234, 'the browser left')
  await closeConsole(it.console, console, 9999, 'once more')
  const by = { by: user.user, from: '192.0.2.7', via: VIA }
  assert.deepEqual(await eventsOf('console.opened', vm), [by])
  const [closed, ...more] = await eventsOf('console.closed', vm)
  assert.ok(closed && more.length === 0)
  const { opened, closed: end, ...rest } = closed
  assert.deepEqual(rest, { ...by, bytes: 1234, why: 'the browser left' })
  const [from, to] = [Date.parse(String(opened)), Date.parse(String(end))]
  assert.ok(from <= to && Math.abs(Date.now() - to) < 60_000, `${from} ${to}`)
})

test('a console cannot read or write any table, and cannot create a ticket', async () => {
  const { rows: tables } = await sql<{ name: string }>`
    select c.oid::regclass::text as name from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'S')`.execute(
    it.cloud.db,
  )
  assert.ok(tables.length > 30, `${tables.length}`)
  for (const { name } of tables) {
    await assert.rejects(sql`select * from ${sql.raw(name)}`.execute(it.console), /denied/, name)
  }
  const [vm, user] = [await it.addVm(), await it.addUser()]
  await assert.rejects(
    sql`insert into screen_ticket (ticket_hash, org, vm, boot, host, account_org, account)
      values (${randomBytes(32)}, ${user.org}, ${vm}, 'boot-1', ${it.cloud.host}, ${user.org}, ${user.account})`.execute(
      it.console,
    ),
    /denied/,
  )
  for (const role of ['skerry_tenant', 'skerry_system', 'postgres']) {
    await assert.rejects(sql`set role ${sql.raw(role)}`.execute(it.console), /denied/, role)
  }
})

test('the functions see all rows also if the owner of the tables is not a superuser', async () => {
  const owner = `owner_${randomBytes(4).toString('hex')}`
  await postgres.psql(
    `create role ${owner} login createrole; create database ${owner} owner ${owner} template template0`,
  )
  try {
    await prepare(postgres.urlOf(owner, owner))
    const hash = randomBytes(32).toString('hex')
    const said = await postgres.psql(
      `with made as (insert into org (name) values ('o') returning id),
        vdc as (insert into vdc (org, name) select id, 'v' from made returning org, id),
        vapp as (insert into vapp (org, vdc, name, owner) select org, id, 'a', 'x' from vdc returning org, id),
        host as (insert into host (name, address, port, public_key) values ('h', '127.0.0.1', 1, 'k') returning id),
        image as (insert into image (digest, bytes, virtual_mib) values (repeat('a', 64), 1, 1) returning digest),
        vm as (insert into vm (org, vapp, name, image, cpus, memory_mib, disk_mib, status, boot, host)
          select vapp.org, vapp.id, 'm', digest, 1, 1, 1, 'POWERED_ON', 'b', host.id from vapp, host, image returning org, id, host),
        account as (insert into account (org, name, role, password) select id, 'u', 'user', 'none' from made returning org, id)
      insert into screen_ticket (ticket_hash, org, vm, boot, host, account_org, account)
        select '\\x${hash}', vm.org, vm.id, 'b', vm.host, account.org, account.id from vm, account;
      set role skerry_console;
      select outcome from redeem_ticket('\\x${hash}', 'c', null)`,
      owner,
    )
    assert.equal(said.trim(), 'open')
  } finally {
    await postgres.psql(`drop database ${owner} with (force)`)
  }
})

test('of ten thousand guesses none opens a screen', async () => {
  await it.ticket(await it.addVm(), await it.addUser())
  const { rows } = await sql<{ hits: number }>`
    select count(*) filter (where outcome <> 'unknown')::integer as hits
    from generate_series(1, 10000) as guess, lateral redeem_ticket(sha256(guess::text::bytea), 'guess', null)`.execute(
    it.console,
  )
  assert.equal(rows[0]?.hits, 0)
})
