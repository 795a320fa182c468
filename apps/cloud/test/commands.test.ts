// Goal: the operator commands create a cloud, and a second run changes nothing. Method: the real
// commands on a real PostgreSQL, with certificates checked by real TLS.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { readdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'

import { whoIsPeer } from '@skerry/host-api'
import type { Postgres } from '@skerry/lab'
import { isIssuedBy } from '@skerry/service'

import { verifyPassword } from '../src/auth/password.ts'
import { readConfig } from '../src/config.ts'
import { readIdentity } from '../src/identity/issuers.ts'
import { openIdentity } from '../src/identity/keep-identity.ts'
import { raiseEpoch } from '../src/identity/machines.ts'
import { openMachineListener } from '../src/machine-api/server.ts'
import { addTemplate } from '../src/tenants/accounts.ts'
import { openCloudDatabase, startDatabases } from './cloud-database.ts'
import { openCommands } from './command-site.ts'

const run = promisify(execFile)
const DAY_MS = 24 * 60 * 60 * 1000

let postgres: (Postgres & AsyncDisposable) | undefined
before(async () => {
  postgres = await startDatabases('nothing')
})
after(async () => {
  await postgres?.[Symbol.asyncDispose]()
})

const openSite = () => openCommands(postgres)

async function filesIn(dir: string): Promise<Record<string, string>> {
  const names = (await readdir(dir, { recursive: true, withFileTypes: true })).filter((each) =>
    each.isFile(),
  )
  const all = names.map(async ({ parentPath, name }) => {
    const file = join(parentPath, name)
    assert.equal((await stat(file)).mode & 0o077, 0, `${file} is for its owner only`)
    return [file, await readFile(file, 'utf8')] as const
  })
  return Object.fromEntries(await Promise.all(all))
}

test('init creates a cloud once; a second run changes nothing, and fails without the issuer keys', async () => {
  await using site = await openSite()
  const { db, dir, config, init } = site
  const { password } = JSON.parse(await init()) as { password: string }
  const account = await db.selectFrom('account').selectAll().executeTakeFirstOrThrow()
  assert.deepEqual([account.name, account.role], ['administrator', 'system administrator'])
  assert.ok(await verifyPassword(password, account.password ?? ''))
  const { name, epoch, trusted, server, cell } = await readIdentity(
    (await readConfig(config)).identity,
  )
  const { id: cloud } = await db.selectFrom('cloud').select('id').executeTakeFirstOrThrow()
  assert.deepEqual([name, epoch], [{ cloud, role: 'cell', id: 'cell-1' }, 1])
  assert.ok(isIssuedBy(new X509Certificate(cell.cert), trusted.control))
  assert.ok(isIssuedBy(new X509Certificate(server.cert), trusted.site))
  assert.equal(new X509Certificate(server.cert).checkIP('127.0.0.1'), '127.0.0.1')
  const files = await filesIn(dir)
  assert.deepEqual(JSON.parse(await init()), {
    config,
    ca: join(dir, 'identity/ca.pem'),
    user: 'administrator',
    org: 'System',
  })
  assert.deepEqual(await filesIn(dir), files)
  await rename(join(dir, 'identity'), join(dir, 'away'))
  await assert.rejects(init(), /its issuer keys are not on this machine/)
})

test('another cell gets its own certificate and no issuer key', async () => {
  await using site = await openSite()
  await site.init()
  const out = join(site.dir, 'two')
  await site.type(['cell', 'create', 'cell-2', '--out', out, '--machines', '127.0.0.1:9444'])
  const config = await readConfig(join(out, 'cloud.json'))
  const identity = await readIdentity(config.identity)
  assert.deepEqual([identity.name.id, identity.issuers], ['cell-2', undefined])
  const issuer = await readIdentity((await readConfig(site.config)).identity)
  assert.equal(Buffer.from(identity.sealKey ?? '', 'base64').length, 32)
  assert.equal(identity.sealKey, issuer.sealKey, 'all cells seal with the same key')
  assert.deepEqual(config.renewFrom, [{ address: '127.0.0.1', port: 8444 }])
  assert.equal(config.machines.port, 9444)
  await site.type(['certificate', 'revoke'])
  const first = await readIdentity((await readConfig(site.config)).identity)
  assert.equal(first.epoch, 2)
  assert.notEqual(first.sealKey, issuer.sealKey, 'a stolen cell has the old one')
  assert.equal(whoIsPeer(new X509Certificate(identity.cell.cert)).epoch, 1)
})

/** Moves the clock in steps of half a day for this many days. Returns the certificates that were used. */
async function keepFor(site: Awaited<ReturnType<typeof openSite>>, file: string, days: number) {
  const config = await readConfig(file)
  const ended = new AbortController()
  const began = site.issuing.clock.now().getTime()
  const logged: string[] = []
  const identity = await openIdentity({
    config,
    db: site.db,
    issuing: site.issuing,
    log: (message) => logged.push(message),
    renewed: () => shown.push(identity.current().cell.cert),
    async pause() {
      site.pass(DAY_MS / 2)
      if (site.issuing.clock.now().getTime() - began > days * DAY_MS) ended.abort()
    },
  })
  const shown = [identity.current().cell.cert]
  await identity.keep(ended.signal)
  assert.deepEqual(await readIdentity(config.identity), identity.current())
  return { shown, logged, epoch: identity.current().epoch }
}

test('a cell with issuer keys renews itself each day, and at once after all certificates were revoked', async () => {
  await using site = await openSite()
  await site.init()
  assert.equal((await keepFor(site, site.config, 3.2)).shown.length, 4)
  await raiseEpoch(site.db)
  const { shown, epoch } = await keepFor(site, site.config, 0.1)
  assert.deepEqual([new Set(shown).size, epoch], [2, 2])
})

test('a cell without issuer keys is renewed by one that has them, and retries while that one is unreachable', async () => {
  await using site = await openSite()
  await site.init()
  const out = join(site.dir, 'two')
  const first = await readIdentity((await readConfig(site.config)).identity)
  await using api = openMachineListener({
    db: site.db,
    identity: () => first,
    issuing: site.issuing,
    images: site.dir,
    log: () => undefined,
  })
  api.server.listen(0, '127.0.0.1')
  await once(api.server, 'listening')
  const { port } = api.server.address() as AddressInfo
  await site.type(['cell', 'create', 'cell-2', '--out', out])
  const file = join(out, 'cloud.json')
  const away = await keepFor(site, file, 1.2)
  assert.equal(away.shown.length, 1)
  assert.match(away.logged[0] ?? '', /will retry/)
  const config = JSON.parse(await readFile(file, 'utf8')) as object
  const renewFrom = [{ address: '127.0.0.1', port }]
  await writeFile(file, JSON.stringify({ ...config, renewFrom }))
  const { shown } = await keepFor(site, file, 0.1)
  assert.equal(shown.length, 2)
  assert.equal(whoIsPeer(new X509Certificate(shown[1] ?? '')).id, 'cell-2')
})

test('a file can contain the database URL, so that other users cannot read its password', async () => {
  await using site = await openSite()
  const file = join(site.dir, 'database')
  const init = ['init', '--base', 'https://127.0.0.1:8443', '--images', join(site.dir, 'images')]
  await assert.rejects(site.type(init), /--database is required/)
  await assert.rejects(site.type([...init, '--database-file', file]), /cannot be read/)
  await writeFile(file, `${site.url}\n`)
  await site.type([...init, '--database-file', file])
  assert.equal((await readConfig(site.config)).database, site.url)
})

test('templates are listed, of all organisations or of one', async () => {
  await using site = await openSite()
  await site.init()
  for (const org of ['blue', 'green']) await site.type(['org', 'create', org])
  const digest = 'a'.repeat(64)
  const image = { digest, bytes: 1, virtualMiB: 1 }
  const sizes = { cpus: 2, memoryMiB: 256, diskMiB: 1 }
  for (const org of ['green', 'blue'])
    await addTemplate(site.db, { org, name: 'small', image, ...sizes })
  const list = async (...words: string[]) => {
    const said = await site.type(['template', 'list', ...words, '--json'])
    return (JSON.parse(said) as { name: string; org: string; cpus: number }[]).map(
      ({ name, org, cpus }) => `${name} of ${org}: ${cpus}`,
    )
  }
  assert.deepEqual(await list(), ['small of blue: 2', 'small of green: 2'])
  assert.deepEqual(await list('--org', 'green'), ['small of green: 2'])
})

test('an invitation is one command line; hosts are listed, disabled, revoked and declared lost', async () => {
  await using site = await openSite()
  const { db, type } = site
  await site.init()
  assert.match(
    await type(['host', 'invite']),
    /^skerry vmd join --cloud https:\/\/127\.0\.0\.1:8444 --token skjt_[\w-]{43} --fingerprint [0-9a-f]{64}$/,
  )
  const { id } = await db
    .insertInto('host')
    .values({ name: 'one', address: '192.0.2.7', port: 8443, public_key: 'k', enabled: true })
    .returning('id')
    .executeTakeFirstOrThrow()
  const [head, line] = (await type(['host', 'list'])).split('\n')
  assert.match(head ?? '', /^ID +NAME +STATE/)
  assert.match(line ?? '', new RegExp(`^${id} +one +joined +yes +no +- +0 +192.0.2.7 +8443$`))
  await type(['host', 'disable', id])
  const listed = JSON.parse(await type(['host', 'list', '--json'])) as { enabled: boolean }[]
  assert.equal(listed[0]?.enabled, false)
  await type(['host', 'revoke', id])
  await assert.rejects(type(['host', 'enable', id]), { kind: 'conflict' })
  assert.match(await type(['host', 'declare-lost', id]), /is lost with 0 VMs/)
  await assert.rejects(type(['host', 'invite', '--host', id]), { kind: 'forbidden' })
  await assert.rejects(type(['host', 'revoke', 'x']), { kind: 'invalid' })
  await assert.rejects(type(['nothing']), { kind: 'invalid', hint: /^skerry admin --help/ })
})

test('tasks of the VMs of a lost host fail', async () => {
  assert(postgres)
  await using cloud = await openCloudDatabase(postgres)
  const { db, host } = cloud
  const { vms } = await cloud.addVms(1)
  const { submitTask } = await import('../src/tasks/submit-task.ts')
  const { operationNamed } = await import('../src/operations/vm-operations.ts')
  const { declareLost } = await import('../src/hosts/host-states.ts')
  const [vm] = vms
  assert(vm)
  await cloud.as(cloud.principal, (tx) =>
    submitTask(tx, operationNamed('powerOn'), { vm, owner: cloud.principal.user }),
  )
  assert.equal(await declareLost(db, host), 1)
  const task = await db.selectFrom('task').select(['state', 'message']).executeTakeFirstOrThrow()
  assert.equal(task.state, 'error')
  assert.match(task.message ?? '', /lost/)
})

test('the status of a recovery includes the next step; a host can be waived', async () => {
  await using site = await openSite()
  const { db, type } = site
  await site.init()
  assert.match(await type(['recovery', 'info']), /^the cloud is not recovering; .* era 1$/)
  const { id } = await db
    .insertInto('host')
    .values({ name: 'one', address: '192.0.2.7', port: 8443, public_key: 'k', enabled: true })
    .returning('id')
    .executeTakeFirstOrThrow()
  await assert.rejects(type(['recovery', 'waive', id]), /not recovering/)
  const [first = '', head, line, next] = (await type(['recovery', 'start'])).split('\n')
  assert.match(first, /^recovery started at .*: 0 of 1 hosts are read or waived$/)
  assert.match(head ?? '', /^ID +NAME +IS +SEENAT$/)
  assert.match(line ?? '', new RegExp(`^${id} +one +waited for +-$`))
  assert.match(next ?? '', /skerry admin recovery waive HOST/)
  await assert.rejects(type(['recovery', 'waive', 'one']), { kind: 'invalid' })
  assert.match(await type(['recovery', 'waive', id]), /1 of 1 hosts/)
  const status = JSON.parse(await type(['recovery', 'info', '--json'])) as { era: string }
  assert.equal(status.era, '2', 'reading the status does not change the era')
  const { finishRecovery } = await import('../src/recovery/recovery.ts')
  assert.ok(await finishRecovery(db, 1))
  assert.match(await type(['recovery', 'info']), /vm\.missing +0/)
  assert.match(await type(['orphan', 'list']), /^VM +HOST +HOSTNAME +FOUND$/)
  const unknown = '01980000-0000-7000-8000-000000001111'
  await assert.rejects(type(['vm', 'adopt', unknown]), { kind: 'not-found' })
  await assert.rejects(type(['host', 'adopt', id]), /not in quarantine/)
})

test('organisations, users and templates are created from arguments and a file', async () => {
  await using site = await openSite()
  const { db, dir, type } = site
  await site.init()
  await type(['org', 'create', 'eng'])
  await assert.rejects(type(['org', 'create', 'eng']), { kind: 'conflict' })
  await type(['user', 'create', 'alice@eng', '--role', 'author'], 'secret word\n')
  const alice = await db
    .selectFrom('account')
    .selectAll()
    .where('name', '=', 'alice')
    .executeTakeFirst()
  assert.ok(await verifyPassword('secret word', alice?.password ?? ''))
  await assert.rejects(type(['user', 'create', 'bob@eng', '--role', 'king'], 'x'), {
    kind: 'invalid',
  })
  await assert.rejects(type(['user', 'create', 'bob@ops', '--role', 'user'], 'x'), {
    kind: 'not-found',
  })
  const image = join(dir, 'disk.qcow2')
  await run('qemu-img', ['create', '-q', '-f', 'qcow2', image, '64M'])
  const add = ['template', 'import', image, '--org', 'eng', '--name', 'small'] as const
  const { digest } = JSON.parse(await type([...add, '--json'])) as { digest: string }
  const bytes = await readFile(image)
  assert.equal(digest, createHash('sha256').update(bytes).digest('hex'))
  assert.deepEqual(await readFile(join(dir, 'images', digest)), bytes)
  const row = await db.selectFrom('template').selectAll().executeTakeFirstOrThrow()
  assert.deepEqual([row.image, row.cpus, row.memory_mib, row.disk_mib], [digest, 1, 512, 64])
  await assert.rejects(type(add), { kind: 'conflict' })
  const based = join(dir, 'based.qcow2')
  await run('qemu-img', ['create', '-q', '-f', 'qcow2', '-b', image, '-F', 'qcow2', based])
  const hostile = ['template', 'import', based, '--org', 'eng', '--name', 'based'] as const
  await assert.rejects(type(hostile), { kind: 'image-refused' })
  assert.deepEqual(await readdir(join(dir, 'images')), [digest])
})
