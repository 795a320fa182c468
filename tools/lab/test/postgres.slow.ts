// Goal: tests get a database that fails like one in production. Method: kill it, restart it, promote a copy.
import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { freshDatabase, reasonWithoutRoot, startPostgres } from '../src/index.ts'
import { killEngines } from '../src/servers/daemon.ts'
import { childrenOf, isAlive } from '../src/system/processes.ts'
import { run } from '../src/system/run.ts'
import { sharedMemory } from '../src/system/shared-memory.ts'

const skip = reasonWithoutRoot('cloud') ?? false

async function ownDirectory() {
  const path = await mkdtemp(join(tmpdir(), 'lab-pg-'))
  return {
    path,
    async [Symbol.asyncDispose]() {
      await rm(path, { recursive: true, force: true })
    },
  }
}

/** Runs a test with its own cache. */
async function withCache(cache: string, work: () => Promise<void>): Promise<void> {
  const before = process.env['XDG_CACHE_HOME']
  process.env['XDG_CACHE_HOME'] = cache
  try {
    await work()
  } finally {
    if (before === undefined) delete process.env['XDG_CACHE_HOME']
    else process.env['XDG_CACHE_HOME'] = before
  }
}

/** Whether a server has shared memory: other tests run at the same time and have their own servers. */
const hasMemory = (pid: number) => sharedMemory().some(({ maker }) => maker === pid)

test('a killed PostgreSQL comes back on its port with all committed data', { skip }, async (t) => {
  await using dir = await ownDirectory()
  const began = performance.now()
  await using postgres = await startPostgres(dir.path)
  t.diagnostic(`up after ${Math.round(performance.now() - began)} ms`)
  const { port, pid } = postgres
  await postgres.psql(`create table kept (n int); insert into kept values (7)`)

  await postgres.kill9()
  assert.equal(isAlive(pid), false)
  assert.throws(() => postgres.pid, /restart it first/)
  await assert.rejects(postgres.psql('select 1'), /refused/)
  await postgres.restart()
  assert.equal(postgres.port, port)
  assert.notEqual(postgres.pid, pid)
  assert.equal(await postgres.psql('select n from kept'), '7')

  process.kill(postgres.pid, 'SIGKILL')
  await postgres.restart()
  assert.equal(await postgres.psql('select n from kept'), '7')
  assert.equal(await postgres.psql('show fsync'), 'on')
  await assert.doesNotReject(startPostgres(dir.path), 'a running server is reused')
})

test(
  'an empty data directory is created once, also by two concurrent calls, and then copied',
  { skip },
  async () => {
    await using dir = await ownDirectory()
    await withCache(join(dir.path, 'cache'), async () => {
      const identityIn = async (name: string) => {
        await using postgres = await startPostgres(join(dir.path, name), { durable: false })
        return await postgres.psql('select system_identifier from pg_control_system()')
      }
      const first = await Promise.all([identityIn('one'), identityIn('two')])
      const kept = await readdir(join(dir.path, 'cache', 'skerry'))
      assert.deepEqual(
        [kept.length, kept[0]?.replace(/[0-9a-f]{16}$/, 'HASH')],
        [1, 'postgres-HASH'],
      )
      const { mode } = await stat(join(dir.path, 'cache', 'skerry', kept[0] ?? ''))
      assert.equal(mode & 0o777, 0o700)
      const third = await identityIn('three')
      assert.ok(first.includes(third), 'made by the initdb of one of the first two')
      assert.equal(await identityIn('four'), third)
    })
  },
)

test(
  'databases are prepared once for all servers, and again when a file changes that defines the result',
  { skip },
  async () => {
    await using dir = await ownDirectory()
    await using from = await ownDirectory()
    const file = join(from.path, '1.sql')
    let times = 0
    const by = async (url: string) => {
      times++
      await run(['psql', url, '-qf', file])
    }
    const columnsIn = async (name: string) => {
      await using postgres = await startPostgres(join(dir.path, name), {
        durable: false,
        prepared: { by, from: [from.path] },
      })
      await using prepared = await freshDatabase(postgres, by)
      await using another = await freshDatabase(postgres, by)
      await using empty = await freshDatabase(postgres)
      const columns = `select string_agg(attname, ' ') from pg_attribute where attrelid = to_regclass('seen') and attnum > 0`
      assert.equal(await postgres.psql(columns, empty.name), '', 'unless it is asked for')
      assert.equal(
        await postgres.psql(columns, another.name),
        await postgres.psql(columns, prepared.name),
      )
      return await postgres.psql(columns, prepared.name)
    }
    await withCache(join(dir.path, 'cache'), async () => {
      await writeFile(file, 'create table seen (n int)')
      assert.equal(await columnsIn('one'), 'n')
      assert.equal(await columnsIn('two'), 'n')
      assert.equal(times, 1)
      await writeFile(file, 'create table seen (m int)')
      assert.equal(await columnsIn('three'), 'm')
      assert.equal(times, 2)
    })
  },
)

test('a disposed PostgreSQL leaves nothing behind, killed or not', { skip }, async () => {
  await using dir = await ownDirectory()
  for (const end of ['as it is', 'killed', 'swept'] as const) {
    await using postgres = await startPostgres(dir.path, { durable: false })
    const { pid } = postgres
    assert.ok(hasMemory(pid), 'it has some while it runs')
    // A child that does not notice by itself that its server was killed.
    if (end !== 'as it is') process.kill(childrenOf(pid)[0] ?? 0, 'SIGSTOP')
    if (end === 'killed') await postgres.kill9()
    if (end === 'swept') await killEngines(dir.path)
    await postgres[Symbol.asyncDispose]()
    assert.equal(isAlive(pid), false, end)
    assert.equal(hasMemory(pid), false, `${end}: its memory is gone with its last process`)
  }
})

test('each test has its own database, prepared once', { skip }, async () => {
  await using dir = await ownDirectory()
  await using postgres = await startPostgres(dir.path, { durable: false })
  let times = 0
  const prepare = async (url: string) => {
    times++
    await run(['psql', url, '-qc', 'create table seen (n int)'])
  }
  await using one = await freshDatabase(postgres, prepare)
  await using other = await freshDatabase(postgres, prepare)
  await postgres.psql('insert into seen values (1)', one.name)
  assert.equal(await postgres.psql('select count(*) from seen', one.name), '1')
  assert.equal(await postgres.psql('select count(*) from seen', other.name), '0')
  assert.equal(times, 1)

  await one[Symbol.asyncDispose]()
  assert.equal(
    await postgres.psql(`select count(*) from pg_database where datname = '${one.name}'`),
    '0',
  )
})

test(
  'a standby has the data of its primary, and accepts writes once promoted',
  { skip },
  async () => {
    await using dir = await ownDirectory()
    await using primary = await startPostgres(join(dir.path, 'primary'), { durable: false })
    await primary.psql('create table kept (n int); insert into kept values (7)')
    await using copy = await primary.standby(join(dir.path, 'copy'))
    assert.equal(await copy.psql('select n from kept'), '7')
    await assert.rejects(copy.psql('insert into kept values (8)'), /read-only/)

    await primary.kill9()
    await copy.promote()
    await copy.psql('insert into kept values (8)')
    assert.equal(await copy.psql('select sum(n) from kept'), '15')
  },
)
