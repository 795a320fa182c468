// Goal: a cell stores the highest fencing token, and detects a database that is behind it. Method: a file, and a real Postgres.
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'

import type { Postgres } from '@skerry/lab'

import { noticeRestore } from '../src/recovery/recovery.ts'
import { TokenSeen } from '../src/worker/token-seen.ts'
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

test('the highest token is kept in any order, and a new cell has none', async () => {
  const file = join(dir, 'seen-a')
  const seen = new TokenSeen(file)
  assert.equal(await seen.read(), undefined)
  for (const number of ['7', '41', '12']) await seen.keep(number)
  assert.equal(await readFile(file, 'utf8'), '41\n')
  const again = new TokenSeen(file)
  assert.equal(await again.read(), '41')
  await again.keep('40')
  assert.equal(await again.read(), '41')
})

test('a file without a number is an error with a hint', async () => {
  const file = join(dir, 'seen-b')
  await writeFile(file, 'rubbish\n')
  await assert.rejects(new TokenSeen(file).read(), { kind: 'invalid', hint: /recover/ })
})

test('a database that never issued the token of a cell starts a recovery, once', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { db } = cloud
  const known = await highestNumber(db)
  assert.equal(await noticeRestore(db, String(known)), false)
  assert.equal((await cloudOf(db)).recovering, false)
  const seen = known + 5n
  assert.equal(await noticeRestore(db, String(seen)), true)
  assert.equal((await cloudOf(db)).recovering, true)
  assert.ok((await highestNumber(db)) > seen, 'the next number was never issued before')
  assert.equal(await noticeRestore(db, String(seen)), false, 'the next cell detects nothing')
  assert.equal((await cloudOf(db)).recovery, 1)
})
