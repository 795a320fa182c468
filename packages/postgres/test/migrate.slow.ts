// Goal: a database reaches the same schema in any start order. Method: real files, two concurrent migrators, changed files.
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'

import { Fault } from '@skerry/fault'
import { freshDatabase, type Postgres, reasonWithoutRoot, startPostgres } from '@skerry/lab'
import { sql, type Kysely } from 'kysely'

import { openDatabase, partsOf, raiseAbove, raiseEra } from '../src/index.ts'
import { migrate } from '../src/migrate.ts'

const skip = reasonWithoutRoot('cloud') ?? false

/** As the cloud draws them, in its own statements. */
async function drawNumber<DB>(db: Kysely<DB>): Promise<string> {
  const { rows } = await sql<{ fence: string }>`select next_fence() as fence`.execute(db)
  return rows[0]?.fence ?? ''
}
const isAbove = (one: string, other: string) => BigInt(one) > BigInt(other)

let dir: string
let postgres: Postgres

before(async () => {
  if (skip) return
  dir = await mkdtemp(join(tmpdir(), 'postgres-migrate-'))
  postgres = await startPostgres(join(dir, 'primary'), { durable: false })
})
after(async () => {
  if (skip) return
  await postgres[Symbol.asyncDispose]()
  await rm(dir, { recursive: true, force: true })
})

type Nothing = Record<string, never>
const open = (url: string) => openDatabase<Nothing>({ url, applicationName: 'test' })

async function files(name: string, texts: Readonly<Record<string, string>>): Promise<string> {
  const directory = join(dir, name)
  await mkdir(directory, { recursive: true })
  for (const [file, text] of Object.entries(texts)) await writeFile(join(directory, file), text)
  return directory
}

const TWO = {
  '0001-first.sql': 'create table t (n int); insert into t values (1);',
  '0002-second.sql': 'update t set n = n + 1; select pg_sleep(0.1);',
}

test('concurrent migrators apply everything once', { skip }, async () => {
  await using fresh = await freshDatabase(postgres)
  const directory = await files('together', TWO)
  const pools = Array.from({ length: 4 }, () => open(fresh.url))
  const done = await Promise.all(pools.map((db) => migrate(db, directory)))
  assert.deepEqual(done.flat().sort(), [
    '0001-fencing-token.sql',
    '0001-first.sql',
    '0002-second.sql',
  ])
  assert.equal(await postgres.psql('select n from t', fresh.name), '2')
  for (const db of pools) {
    assert.deepEqual(await migrate(db, directory), [])
    await db.destroy()
  }
})

test('a failing file leaves no changes, and is applied once it is fixed', { skip }, async () => {
  await using fresh = await freshDatabase(postgres)
  await using db = open(fresh.url)
  const directory = await files('failing', {
    ...TWO,
    '0003-third.sql': 'create table u (); select 1/0;',
  })
  await assert.rejects(migrate(db, directory), /division by zero/)
  assert.equal(await postgres.psql(`select to_regclass('u') is null`, fresh.name), 't')
  await files('failing', { '0003-third.sql': 'create table u ();' })
  assert.deepEqual(await migrate(db, directory), ['0003-third.sql'])
})

test('applied migrations cannot be changed, skipped or removed', { skip }, async () => {
  await using fresh = await freshDatabase(postgres)
  await using db = open(fresh.url)
  const directory = await files('history', TWO)
  await migrate(db, directory)
  const refuses = async (path: string, words: RegExp) =>
    assert.rejects(
      migrate(db, path),
      (error) => error instanceof Fault && words.test(error.message),
    )
  await refuses(
    await files('older', { '0001-first.sql': TWO['0001-first.sql'] }),
    /newer than this program/,
  )
  await refuses(await files('gap', { '0002-second.sql': '' }), /out of order/)
  await refuses(await files('named', { 'first.sql': '' }), /0001-what-it-does/)
  await files('history', { '0001-first.sql': 'create table other ();' })
  await refuses(directory, /was changed after/)
})

test('fencing tokens increase, and are decimal strings', { skip }, async () => {
  await using fresh = await freshDatabase(postgres)
  await using db = open(fresh.url)
  await migrate(db, await files('numbers', {}))
  const drawn = await Promise.all(Array.from({ length: 20 }, () => drawNumber(db)))
  assert.equal(new Set(drawn).size, 20)
  assert.ok(drawn.every((number) => /^\d+$/.test(number) && partsOf(number).era === 1n))
  const [one, two] = [await drawNumber(db), await drawNumber(db)]
  assert.ok(isAbove(two, one))
  for (const wrong of ['', '-1', '01', '1.5', '0x10', '9'.repeat(20)]) {
    assert.throws(() => partsOf(wrong), Fault, wrong)
  }
})

test(
  'a promoted standby issues tokens above all that the old primary issued and still issues',
  { skip },
  async () => {
    await using fresh = await freshDatabase(postgres)
    await using old = open(fresh.url)
    await migrate(old, await files('promotion', {}))
    await drawNumber(old)
    await using standby = await postgres.standby(join(dir, 'standby'))
    await using heir = open(standby.urlOf(fresh.name))
    await assert.rejects(drawNumber(heir), Fault, 'a standby issues none')
    // The old primary continues, and most of it never reaches the standby.
    await sql`select count(next_fence()) from generate_series(1, 1000)`.execute(old)
    await standby.promote()
    const first = await drawNumber(heir)
    assert.equal(partsOf(first).era, 2n)
    await sql`select count(next_fence()) from generate_series(1, 1000)`.execute(old)
    assert.ok(isAbove(first, await drawNumber(old)))
  },
)

test(
  'tokens of a restored database are raised above those that hosts have seen',
  { skip },
  async () => {
    await using fresh = await freshDatabase(postgres)
    await using db = open(fresh.url)
    await migrate(db, await files('restored', {}))
    const highest = String((5n << 40n) + 777n)
    const floor = await raiseAbove(db, highest)
    const next = await drawNumber(db)
    assert.deepEqual([isAbove(floor, highest), isAbove(next, floor)], [true, true])
    assert.deepEqual(partsOf(next).era, 5n)
    assert.ok(partsOf(next).counter > 777n + 2n ** 20n)
    assert.equal(await raiseEra(db, 9n), 10n)
    assert.equal(await raiseEra(db, 3n), 10n, 'it never falls')
    assert.ok(isAbove(await drawNumber(db), next))
  },
)
