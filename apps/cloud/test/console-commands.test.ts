// Goal: the commands create a console that can redeem tickets and nothing else, and list the open screens.
// Method: the real commands on a real PostgreSQL that requires passwords of consoles.
import assert from 'node:assert/strict'
import { randomBytes, X509Certificate } from 'node:crypto'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'

import { whoIsPeer } from '@skerry/host-api'
import type { Postgres } from '@skerry/lab'
import { openDatabase } from '@skerry/postgres'
import { isIssuedBy, splitBundle } from '@skerry/service'
import { redeemTicket } from '@skerry/ticket'
import { sql } from 'kysely'

import { readConfig } from '../src/config.ts'
import { startDatabases } from './cloud-database.ts'
import { openCommands } from './command-site.ts'

let postgres: (Postgres & AsyncDisposable) | undefined
before(async () => {
  postgres = await startDatabases('nothing')
  // The lab's own server needs no password; here consoles must have one.
  const file = join(postgres.dir, 'pg/pg_hba.conf')
  const rules = await readFile(file, 'utf8')
  await writeFile(
    file,
    `host all postgres all trust\nhost all +skerry_console all scram-sha-256\n${rules}`,
  )
  await postgres.restart()
})
after(async () => {
  await postgres?.[Symbol.asyncDispose]()
})

const openSite = () => openCommands(postgres)
type Site = Awaited<ReturnType<typeof openSite>>

interface Made {
  readonly name: string
  readonly page: string
  readonly pages: readonly string[]
  readonly listen: { readonly address: string; readonly port: number }
  readonly database: string
  readonly identity: string
  readonly renewFrom: readonly { readonly address: string; readonly port: number }[]
}

const PAGE = 'https://127.0.0.2:9443'

async function make({ type, dir }: Site, ...more: string[]): Promise<Made> {
  await type(['console-server', 'create', 'k1', '--out', join(dir, 'k1'), '--page', PAGE, ...more])
  return JSON.parse(await readFile(join(dir, 'k1/console.json'), 'utf8')) as Made
}

/** The result of redeeming an unknown ticket with this login. */
async function tryTicket(url: string): Promise<unknown> {
  const db = openDatabase<object>({ url, applicationName: 'test', size: 1 })
  try {
    return await redeemTicket(db, 'no ticket', 'k1')
  } catch (error) {
    return (error as { code?: string }).code ?? error
  } finally {
    await db.destroy()
  }
}

test('a console gets certificates, a configuration and a login that can redeem tickets; a second run replaces them', async () => {
  await using site = await openSite()
  await site.init()
  const made = await make(site)
  const { name, page, pages, listen, renewFrom } = made
  assert.deepEqual([name, page, listen], ['k1', PAGE, { address: '::', port: 9443 }])
  const { base } = await readConfig(site.config)
  assert.deepEqual(pages, [new URL(base).origin], 'the web UI may open screens')
  assert.deepEqual(renewFrom, [{ address: '127.0.0.1', port: 8444 }])
  const files = await readdir(made.identity)
  assert.deepEqual(files.toSorted(), ['console.pem', 'control.pem', 'hosts.pem', 'server.pem'])
  for (const file of ['console.json', 'identity/console.pem', 'identity/server.pem']) {
    assert.equal((await stat(join(site.dir, 'k1', file))).mode & 0o077, 0, file)
  }
  const { identity } = await readConfig(site.config)
  const cert = async (file: string) => {
    const text = await readFile(join(made.identity, file), 'utf8')
    return new X509Certificate(splitBundle(text).cert)
  }
  const trusted = (file: string) => readFile(join(identity, file), 'utf8')
  const shown = await cert('console.pem')
  const { id: cloud } = await site.db.selectFrom('cloud').select('id').executeTakeFirstOrThrow()
  assert.deepEqual(whoIsPeer(shown), { cloud, role: 'console', id: 'k1', epoch: 1 })
  assert.ok(isIssuedBy(shown, await trusted('control.pem')))
  const server = await cert('server.pem')
  assert.ok(isIssuedBy(server, await trusted('ca.pem')))
  assert.equal(server.checkIP('127.0.0.2'), '127.0.0.2')
  assert.equal(await tryTicket(made.database), 'unknown')
  const { rows } = await sql<{ of: string[] }>`select array_agg(r.rolname::text) as of
    from pg_auth_members m join pg_roles r on r.oid = m.roleid join pg_roles l on l.oid = m.member
    where l.rolname = ${new URL(made.database).username}`.execute(site.db)
  assert.deepEqual(rows[0]?.of, ['skerry_console'])

  const again = await make(site, '--listen', '127.0.0.2:9443')
  assert.equal(new URL(again.database).username, new URL(made.database).username)
  assert.equal(await tryTicket(made.database), '28P01', 'the old password is invalid')
  assert.equal(await tryTicket(again.database), 'unknown')
  assert.notEqual((await cert('console.pem')).serialNumber, shown.serialNumber)
  assert.deepEqual(again.listen, { address: '127.0.0.2', port: 9443 })
})

test('the password of a console is in no SQL statement', async () => {
  assert(postgres)
  await using site = await openSite()
  await site.init()
  await postgres.psql(`alter system set log_statement = 'all'`)
  await postgres.restart()
  const made = await make(site)
  const log = await readFile(postgres.log, 'utf8')
  const { username, password } = new URL(made.database)
  assert.ok(log.includes(username) && password.length === 43)
  assert.ok(!log.includes(password))
})

test('a console can have another database address than the cells', async () => {
  await using site = await openSite()
  await site.init()
  const made = await make(
    site,
    '--database',
    'postgres://someone@db.example:6432/cloud?sslmode=require',
  )
  const { host, pathname, search, username } = new URL(made.database)
  assert.deepEqual([host, pathname, search], ['db.example:6432', '/cloud', '?sslmode=require'])
  assert.match(username, /^skerry_console_[0-9a-f]{8}_k1$/)
})

test('a console has another host than the cloud; init sets it, and can change it', async () => {
  await using site = await openSite()
  await site.init()
  const isRefused = { kind: 'invalid', message: /another host than the cloud/ }
  await assert.rejects(site.type(['init', '--console', '127.0.0.1:9443']), isRefused)
  const page = (url: string) =>
    site.type(['console-server', 'create', 'k1', '--out', join(site.dir, 'k1'), '--page', url])
  await assert.rejects(page('https://127.0.0.1:9443'), isRefused)
  for (const url of ['http://console.example', 'https://console.example/console', 'console']) {
    await assert.rejects(page(url), { kind: 'invalid', message: /--page must be like/ }, url)
  }
  for (const name of ['a b', '', 'x'.repeat(31), '"; drop']) {
    const line = ['console-server', 'create', name, '--out', site.dir, '--page', PAGE]
    await assert.rejects(site.type(line), { kind: 'invalid' }, name)
  }
  assert.equal((await readConfig(site.config)).console, undefined)
  const hint = /skerry admin init --console 127\.0\.0\.2:9443/
  assert.match(await page(PAGE), hint)
  await site.type(['init', '--console', '127.0.0.2:9443'])
  assert.equal((await readConfig(site.config)).console, '127.0.0.2:9443')
  assert.doesNotMatch(await page(PAGE), hint)
  await site.init()
  assert.equal((await readConfig(site.config)).console, '127.0.0.2:9443', 'it stays')
})

test('limits are set separately; open screens are listed as a table and as JSON', async () => {
  await using site = await openSite()
  await site.init()
  const { type, db } = site
  const limits = async (...more: string[]) =>
    JSON.parse(await type(['console', 'set', ...more, '--json'])) as unknown
  assert.deepEqual(await limits(), { perVm: 4, perUser: 20 })
  assert.deepEqual(await limits('--per-vm', '2'), { perVm: 2, perUser: 20 })
  assert.deepEqual(await limits('--per-user', '0'), { perVm: 2, perUser: 0 })
  assert.match(await type(['console', 'set']), /^limits: 2 open screens per VM, 0 per user/)
  for (const bad of ['-1', 'many', '1.5', '1000000']) {
    await assert.rejects(limits(`--per-vm=${bad}`), { kind: 'invalid' }, bad)
  }
  assert.deepEqual(JSON.parse(await type(['console', 'list', '--json'])), [])
  await type(['org', 'create', 'eng'])
  await see(site, 'alice', '0 s')
  await see(site, 'lost', '11 s')
  const [seen, ...more] = JSON.parse(await type(['console', 'list', '--json'])) as Record<
    string,
    unknown
  >[]
  assert.deepEqual(more, [], 'a screen of a dead process is not listed')
  const { org, vapp, name, user, from, via, bytes } = seen ?? {}
  assert.deepEqual(
    [org, vapp, name, user, from, via, bytes],
    ['eng', 'shop', 'web', 'alice', '192.0.2.7', 'k1', '1234'],
  )
  const table = await type(['console', 'list'])
  assert.match(
    table,
    /^ORG +VAPP +NAME +USER +FROM +VIA +OPENED +BYTES\neng +shop +web +alice +192/,
  )
  assert.ok((await db.selectFrom('console').select('id').execute()).length === 2)
})

/** An open screen, last renewed this long ago. */
async function see({ db }: Site, user: string, ago: string): Promise<void> {
  const digest = randomBytes(32).toString('hex')
  await sql`with host as (insert into host (name, address, port, public_key)
      values (${user}, '127.0.0.1', 1, ${user}) returning id),
    image as (insert into image (digest, bytes, virtual_mib) values (${digest}, 1, 1) returning digest),
    made as (insert into vapp (org, vdc, name, owner)
      select vdc.org, vdc.id, ${user === 'alice' ? 'shop' : user}, 'x' from vdc limit 1 returning org, id)
    insert into vm (org, vapp, name, image, cpus, memory_mib, disk_mib, status, boot, host)
      select made.org, made.id, 'web', digest, 1, 1, 1, 'POWERED_ON', 'b', host.id from made, host, image`.execute(
    db,
  )
  await sql`insert into console (org, vapp, vm, boot, host, account_org, account, user_name, address, via, bytes, renewed_at)
    select vm.org, vm.vapp, vm.id, 'b', vm.host, vm.org, vm.org, ${user}, '192.0.2.7', 'k1', 1234,
      clock_timestamp() - ${ago}::interval
    from vm join host on host.id = vm.host where host.name = ${user}`.execute(db)
}
