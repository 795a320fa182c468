// Goal: a cell remembers what it saw of the numbers, and a database that knows less is found out. Method: a file, and a real Postgres.
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'

import type { Postgres } from '@skerry/lab'

import { noticeRestore } from '../src/store/recovery.ts'
import { NumberSeen } from '../src/worker/number-seen.ts'
import { openCloudDatabase, startDatabases } from './cloud-database.ts'
import { cloudOf, highestNumber } from './recovering-cell.ts'

let postgres: Postgres
let dir: string
before(async () => {
  postgres = await startDatabases()
  dir = await mkdtemp(join(tmpdir(), 'seen-'))
})
after(async () => {
  await postgres[Symbol.asyncDispose]()
  await rm(dir, { recursive: true, force: true })
})

test('the highest number is kept, whichever comes last, and a new cell has none', async () => {
  const file = join(dir, 'seen-a')
  const seen = new NumberSeen(file)
  assert.equal(await seen.read(), undefined)
  for (const number of ['7', '41', '12']) await seen.keep(number)
  assert.equal(await readFile(file, 'utf8'), '41\n')
  const again = new NumberSeen(file)
  assert.equal(await again.read(), '41')
  await again.keep('40')
  assert.equal(await again.read(), '41')
})

test('a file that holds no number is told of, with what to do', async () => {
  const file = join(dir, 'seen-b')
  await writeFile(file, 'rubbish\n')
  await assert.rejects(new NumberSeen(file).read(), { kind: 'invalid', hint: /recover/ })
})

test('a database that has not given out what a cell has seen is recovering, once', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { db } = cloud
  const known = await highestNumber(db)
  assert.equal(await noticeRestore(db, String(known)), false)
  assert.equal((await cloudOf(db)).recovering, false)
  const seen = known + 5n
  assert.equal(await noticeRestore(db, String(seen)), true)
  assert.equal((await cloudOf(db)).recovering, true)
  assert.ok((await highestNumber(db)) > seen, 'what is given out next was never given out before')
  assert.equal(await noticeRestore(db, String(seen)), false, 'the next cell finds nothing')
  assert.equal((await cloudOf(db)).recovery, 1)
})
