// Goal: tests get a database that behaves as one in production does when it dies. Method: kill it, start it again, promote a copy.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { killEngines } from '../src/daemon.ts'
import { freshDatabase, reasonWithoutRoot, startPostgres } from '../src/index.ts'
import { isAlive } from '../src/processes.ts'
import { run } from '../src/run.ts'

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

/** Who made the shared memory that there is: other tests run beside this one and have servers of their own. */
const memoryMakers = async (): Promise<number[]> =>
  (await run(['ipcs', '-m', '-p']))
    .split('\n')
    .map((line) => Number(line.trim().split(/\s+/)[2]))
    .filter((pid) => pid > 0)

test('a killed PostgreSQL comes back on its port with what was committed', { skip }, async (t) => {
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
  await assert.doesNotReject(startPostgres(dir.path), 'one that runs is taken as it is')
})

test('nothing is left of a PostgreSQL that was disposed of, killed or not', { skip }, async () => {
  await using dir = await ownDirectory()
  for (const end of ['as it is', 'killed', 'swept'] as const) {
    await using postgres = await startPostgres(dir.path, { durable: false })
    const { pid } = postgres
    assert.ok((await memoryMakers()).includes(pid), 'it has some while it runs')
    if (end === 'killed') await postgres.kill9()
    if (end === 'swept') await killEngines(dir.path)
    await postgres[Symbol.asyncDispose]()
    assert.equal(isAlive(pid), false, end)
    assert.ok(!(await memoryMakers()).includes(pid), end)
  }
})

test('each test has a database of its own, prepared once', { skip }, async () => {
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

test('a standby has what its primary had, and takes writes once promoted', { skip }, async () => {
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
})
