import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import {
  chmod,
  chown,
  mkdir,
  mkdtempDisposable,
  readdir,
  readFile,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import { copyDurably, removeUnfinished, writeDurably } from '../src/index.ts'

const temporaryDirectory = async () => mkdtempDisposable(join(tmpdir(), 'skerry-durable-'))
const isRoot = process.getuid?.() === 0
const texts = ['a', 'b'].map((letter) => letter.repeat(100_000))

test('a reader during a write sees either the old or the new text', async () => {
  await using directory = await temporaryDirectory()
  const file = join(directory.path, 'record')
  await writeDurably(file, texts[0] ?? '')
  const progress = { isDone: false, reads: 0 }
  const write = async () => {
    for (let round = 0; round < 50; round += 1) await writeDurably(file, texts[round % 2] ?? '')
    progress.isDone = true
  }
  const read = async () => {
    for (; !progress.isDone; progress.reads += 1) {
      assert(texts.includes(await readFile(file, 'utf8')))
    }
  }
  await Promise.all([write(), read()])
  assert(progress.reads > 10, `only ${progress.reads} reads`)
  assert.deepEqual(await readdir(directory.path), ['record'])
})

test('two processes that write the same file, one of them killed, leave a whole file', async () => {
  await using directory = await temporaryDirectory()
  const file = join(directory.path, 'record')
  await writeDurably(file, texts[0] ?? '')
  for (let round = 0; round < 5; round += 1) {
    const writer = fork(join(import.meta.dirname, 'endless-writer.ts'), [file])
    await once(writer, 'message')
    const exited = once(writer, 'exit')
    const killed = sleep(20 * round).then(() => writer.kill('SIGKILL'))
    for (let each = 0; each < 20; each += 1) await writeDurably(file, texts[each % 2] ?? '')
    await Promise.all([killed, exited])
    assert(texts.includes(await readFile(file, 'utf8')))
  }
})

test('only the owner may read a file, unless another mode is given, whatever the umask is', async () => {
  await using directory = await temporaryDirectory()
  const [secret, known, copy] = ['secret', 'known', 'copy'].map((name) =>
    join(directory.path, name),
  ) as [string, string, string]
  await writeFile(secret, 'old')
  await chmod(secret, 0o644)
  const before = process.umask(0o077)
  try {
    await writeDurably(secret, 'new')
    await writeDurably(known, 'all', 0o644)
    await copyDurably(known, copy)
  } finally {
    process.umask(before)
  }
  const modes = [secret, known, copy].map(async (file) => (await stat(file)).mode & 0o777)
  assert.deepEqual(await Promise.all(modes), [0o600, 0o644, 0o600])
  assert.equal(await readFile(copy, 'utf8'), 'all')
})

test(
  'what root writes belongs to the owner of the directory, or of the replaced file',
  {
    skip: !isRoot && 'needs root',
  },
  async () => {
    await using directory = await temporaryDirectory()
    const theirs = join(directory.path, 'theirs')
    await mkdir(theirs)
    await chown(theirs, 1234, 1235)
    await writeDurably(join(theirs, 'a'), '')
    const replaced = join(directory.path, 'b')
    await writeFile(replaced, '')
    await chown(replaced, 1236, 1237)
    await writeDurably(replaced, '')
    const owners = [join(theirs, 'a'), replaced].map(async (file) => {
      const { uid, gid } = await stat(file)
      return [uid, gid]
    })
    assert.deepEqual(await Promise.all(owners), [
      [1234, 1235],
      [1236, 1237],
    ])
  },
)

test('a link in place of the temporary file is replaced, not followed', async () => {
  await using directory = await temporaryDirectory()
  const other = join(directory.path, 'other')
  await writeFile(other, 'untouched')
  await symlink(other, join(directory.path, `.record.${process.pid}.tmp`))
  await writeDurably(join(directory.path, 'record'), 'new')
  assert.equal(await readFile(other, 'utf8'), 'untouched')
  assert.equal(await readFile(join(directory.path, 'record'), 'utf8'), 'new')
})

test('what killed processes left is removed, what running ones write is not', async () => {
  await using directory = await temporaryDirectory()
  const dead = fork(join(import.meta.dirname, 'endless-writer.ts'), [join(directory.path, 'other')])
  dead.kill('SIGKILL')
  await once(dead, 'exit')
  const mine = `.record.${process.pid}.tmp`
  for (const name of [`.record.${dead.pid}.tmp`, mine, 'record', '.hidden'])
    await writeFile(join(directory.path, name), '')
  await removeUnfinished(directory.path)
  assert.deepEqual((await readdir(directory.path)).toSorted(), ['.hidden', mine, 'record'])
})

test('a failed write leaves the old file and nothing beside it', async () => {
  await using directory = await temporaryDirectory()
  const file = join(directory.path, 'record')
  await mkdir(join(file, 'in-the-way'), { recursive: true })
  await assert.rejects(writeDurably(file, 'new'))
  assert.deepEqual(await readdir(directory.path), ['record'])
  assert.deepEqual(await readdir(file), ['in-the-way'])
})
