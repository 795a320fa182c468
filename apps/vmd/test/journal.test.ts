// Goal: what the journal has told stays told, in one order, whatever dies when.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { appendFile, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'

import { Journal } from '../src/journal.ts'
import type { JournalEvent, News } from '../src/known.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const clock = { now: () => new Date('2026-01-02T03:04:05Z') }
const note = () => undefined
const small = { clock, note, fullSegments: 3, segmentEvents: 10 }
const born = (vm: string): News => ({
  type: 'vm.created',
  vm,
  now: { name: vm, tag: '', power: 'off' },
})
const power = (vm: string, to: 'on' | 'off'): News => ({ type: 'vm.power', vm, power: to })

/** So many events, and no more. */
async function take(journal: Journal, since: number, count: number): Promise<JournalEvent[]> {
  const enough = new AbortController()
  const taken: JournalEvent[] = []
  if (count === 0) return taken
  for await (const event of journal.follow(since, enough.signal)) {
    taken.push(event)
    if (taken.length === count) enough.abort()
  }
  return taken
}
const ids = (events: readonly JournalEvent[]) => events.map(({ id }) => id)
const range = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at)

test('events are numbered from 1 and told in order, those of before and those to come', async () => {
  await using dir = await temporaryDirectory()
  await using journal = await Journal.open({ directory: dir.path, clock, note })
  await journal.append(born('a'))
  const reading = take(journal, 0, 3)
  await Promise.all([journal.append(power('a', 'on')), journal.append(power('a', 'off'))])
  const events = await reading
  assert.deepEqual(ids(events), [1, 2, 3])
  assert.deepEqual(events[1], {
    id: 2,
    at: '2026-01-02T03:04:05.000Z',
    type: 'vm.power',
    vm: 'a',
    power: 'on',
  })
})

test('a journal that is opened again goes on counting and knows what it told', async () => {
  await using dir = await temporaryDirectory()
  {
    await using journal = await Journal.open({ directory: dir.path, clock, note })
    await journal.append(born('a'))
    await journal.append(power('a', 'on'))
  }
  await using journal = await Journal.open({ directory: dir.path, clock, note })
  assert.equal(journal.last, 2)
  assert.equal(journal.known.vms.get('a')?.power, 'on')
  assert.equal((await journal.append(power('a', 'off'))).id, 3)
  assert.deepEqual(ids(await take(journal, 0, 3)), [1, 2, 3])
})

test('wherever a crash cuts the file, whole events stay and a torn one is dropped', async () => {
  await using dir = await temporaryDirectory()
  {
    await using journal = await Journal.open({ directory: dir.path, clock, note })
    for (const vm of ['a', 'b', 'c']) await journal.append(born(vm))
  }
  const [name = ''] = await readdir(dir.path)
  const file = join(dir.path, name)
  const whole = await readFile(file)
  const head = whole.indexOf('\n') + 1
  for (let length = whole.length; length >= head; length--) {
    await writeFile(file, whole)
    await truncate(file, length)
    const kept = whole.subarray(head, length).toString().split('\n').length - 1
    await using journal = await Journal.open({ directory: dir.path, clock, note })
    assert.equal(journal.last, kept, `cut at ${length}`)
    assert.equal((await journal.append(born('d'))).id, kept + 1)
    assert.deepEqual(ids(await take(journal, 0, kept + 1)), range(1, kept + 1))
  }
})

test('rubbish that a power cut left behind the last flush is passed over', async () => {
  await using dir = await temporaryDirectory()
  {
    await using journal = await Journal.open({ directory: dir.path, clock, note })
    await journal.append(born('a'))
  }
  const [name = ''] = await readdir(dir.path)
  await appendFile(join(dir.path, name), '\0\0\0\0\n{"id":3')
  await using journal = await Journal.open({ directory: dir.path, clock, note })
  assert.equal((await journal.append(born('b'))).id, 2)
  assert.deepEqual(ids(await take(journal, 0, 2)), [1, 2])
})

test('old segments go, what they told stays known, and a cursor into them is refused with the oldest id', async () => {
  await using dir = await temporaryDirectory()
  {
    await using journal = await Journal.open({ directory: dir.path, ...small })
    await journal.append(born('old'))
    await Promise.all(range(1, 74).map((at) => journal.append(power('old', at % 2 ? 'on' : 'off'))))
    assert.equal(journal.last, 75)
  }
  await using journal = await Journal.open({ directory: dir.path, ...small })
  assert.equal(journal.oldest, 41)
  assert.equal((await readdir(dir.path)).length, 4)
  assert.deepEqual(journal.known.vms.get('old'), { name: 'old', tag: '', power: 'off' })
  assert.throws(() => journal.requireCursor(39), { kind: 'conflict', hint: /oldest id is 41/ })
  assert.throws(() => journal.requireCursor(76), { kind: 'conflict' })
  journal.requireCursor(40)
  for (const since of [40, 49, 50, 62, 74]) {
    assert.deepEqual(ids(await take(journal, since, 75 - since)), range(since + 1, 75))
  }
})

test('a reader that falls behind what is kept is told so instead of being given a gap', async () => {
  await using dir = await temporaryDirectory()
  await using journal = await Journal.open({ directory: dir.path, ...small })
  await journal.append(born('a'))
  const reader = journal.follow(0, new AbortController().signal)
  assert.equal((await reader.next()).value?.id, 1)
  await Promise.all(range(1, 2000).map(() => journal.append(power('a', 'on'))))
  await assert.rejects(reader.next(), { kind: 'conflict' })
})

test('many readers beside many writers: each is told every event once', async () => {
  await using dir = await temporaryDirectory()
  await using journal = await Journal.open({ directory: dir.path, clock, note, segmentEvents: 700 })
  const readers = range(1, 8).map(() => take(journal, 0, 5000))
  await Promise.all(range(1, 5000).map((at) => journal.append(born(`vm-${at}`))))
  for (const events of await Promise.all(readers)) assert.deepEqual(ids(events), range(1, 5000))
  assert.deepEqual(ids(await take(journal, 0, 5000)), range(1, 5000))
})

test('readers end when the journal is closed', async () => {
  await using dir = await temporaryDirectory()
  const journal = await Journal.open({ directory: dir.path, clock, note })
  const reading = Array.fromAsync(journal.follow(0, new AbortController().signal))
  await journal[Symbol.asyncDispose]()
  assert.deepEqual(await reading, [])
  await assert.rejects(journal.append(born('a')), { kind: 'unavailable' })
})

test('a full disk refuses an event and promises nothing; when there is room, counting goes on', async (t) => {
  await using dir = await temporaryDirectory()
  const options = ['-t', 'tmpfs', '-o', 'size=64k', 'journal', dir.path]
  if (spawnSync('mount', options).status !== 0) return t.skip('needs root, to mount a small disk')
  try {
    await using journal = await Journal.open({ directory: dir.path, clock, note })
    await journal.append(born('a'))
    const filler = join(dir.path, 'filler')
    await assert.rejects(writeFile(filler, Buffer.alloc(128 * 1024)), { code: 'ENOSPC' })
    let told = 1
    const fill = async () => {
      for (;;) {
        await journal.append(born(`vm-${told}`))
        told += 1
      }
    }
    await assert.rejects(fill(), { kind: 'unavailable', hint: /room/ })
    assert.ok(journal.failure)
    assert.deepEqual([journal.last, journal.known.vms.size], [told, told])
    await rm(filler)
    assert.equal((await journal.append(born('z'))).id, told + 1)
    assert.equal(journal.failure, undefined)
    assert.deepEqual(ids(await take(journal, 0, told + 1)), range(1, told + 1))
  } finally {
    spawnSync('umount', [dir.path])
  }
})
