// Goal: a delivered event is permanent, in one order, regardless of crashes.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { appendFile, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'

import type { JournalEvent, NewJournalEvent } from '../src/journal/journal-state.ts'
import { Journal } from '../src/journal/journal.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const clock = { now: () => new Date('2026-01-02T03:04:05Z') }
const log = () => undefined
const small = { clock, log, fullSegments: 3, segmentEvents: 10 }
const born = (vm: string): NewJournalEvent => ({
  type: 'vm.created',
  vm,
  now: { name: vm, tag: '', power: 'off' },
})
const power = (vm: string, to: 'on' | 'off'): NewJournalEvent => ({
  type: 'vm.power',
  vm,
  power: to,
})

/** Exactly this number of events. */
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

test('events are numbered from 1 and delivered in order, past and future ones', async () => {
  await using dir = await temporaryDirectory()
  await using journal = await Journal.open({ directory: dir.path, clock, log })
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

test('a reopened journal continues its numbers and restores its state', async () => {
  await using dir = await temporaryDirectory()
  {
    await using journal = await Journal.open({ directory: dir.path, clock, log })
    await journal.append(born('a'))
    await journal.append(power('a', 'on'))
  }
  await using journal = await Journal.open({ directory: dir.path, clock, log })
  assert.equal(journal.last, 2)
  assert.equal(journal.known.vms.get('a')?.power, 'on')
  assert.equal((await journal.append(power('a', 'off'))).id, 3)
  assert.deepEqual(ids(await take(journal, 0, 3)), [1, 2, 3])
})

test('wherever a crash cuts the file, complete events stay and an incomplete one is dropped', async () => {
  await using dir = await temporaryDirectory()
  {
    await using journal = await Journal.open({ directory: dir.path, clock, log })
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
    await using journal = await Journal.open({ directory: dir.path, clock, log })
    assert.equal(journal.last, kept, `cut at ${length}`)
    assert.equal((await journal.append(born('d'))).id, kept + 1)
    assert.deepEqual(ids(await take(journal, 0, kept + 1)), range(1, kept + 1))
  }
})

test('garbage after the last flush, left by a power cut, is ignored', async () => {
  await using dir = await temporaryDirectory()
  {
    await using journal = await Journal.open({ directory: dir.path, clock, log })
    await journal.append(born('a'))
  }
  const [name = ''] = await readdir(dir.path)
  await appendFile(join(dir.path, name), '\0\0\0\0\n{"id":3')
  await using journal = await Journal.open({ directory: dir.path, clock, log })
  assert.equal((await journal.append(born('b'))).id, 2)
  assert.deepEqual(ids(await take(journal, 0, 2)), [1, 2])
})

test('old segments are removed, their state stays known, and a cursor into them is rejected with the oldest id', async () => {
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

test('a reader that falls behind the kept events gets an error instead of a gap', async () => {
  await using dir = await temporaryDirectory()
  await using journal = await Journal.open({ directory: dir.path, ...small })
  await journal.append(born('a'))
  const reader = journal.follow(0, new AbortController().signal)
  assert.equal((await reader.next()).value?.id, 1)
  await Promise.all(range(1, 2000).map(() => journal.append(power('a', 'on'))))
  await assert.rejects(reader.next(), { kind: 'conflict' })
})

test('many readers beside many writers: each gets every event once', async () => {
  await using dir = await temporaryDirectory()
  await using journal = await Journal.open({ directory: dir.path, clock, log, segmentEvents: 700 })
  const readers = range(1, 8).map(() => take(journal, 0, 5000))
  await Promise.all(range(1, 5000).map((at) => journal.append(born(`vm-${at}`))))
  for (const events of await Promise.all(readers)) assert.deepEqual(ids(events), range(1, 5000))
  assert.deepEqual(ids(await take(journal, 0, 5000)), range(1, 5000))
})

test('readers end when the journal is closed', async () => {
  await using dir = await temporaryDirectory()
  const journal = await Journal.open({ directory: dir.path, clock, log })
  const reading = Array.fromAsync(journal.follow(0, new AbortController().signal))
  await journal[Symbol.asyncDispose]()
  assert.deepEqual(await reading, [])
  await assert.rejects(journal.append(born('a')), { kind: 'unavailable' })
})

test('a full disk rejects an event and confirms nothing; with free space, numbering continues', async (t) => {
  await using dir = await temporaryDirectory()
  const options = ['-t', 'tmpfs', '-o', 'size=64k', 'journal', dir.path]
  if (spawnSync('mount', options).status !== 0) return t.skip('needs root, to mount a small disk')
  try {
    await using journal = await Journal.open({ directory: dir.path, clock, log })
    await journal.append(born('a'))
    const filler = join(dir.path, 'filler')
    await assert.rejects(writeFile(filler, Buffer.alloc(128 * 1024)), { code: 'ENOSPC' })
    let accepted = 1
    const fill = async () => {
      for (;;) {
        await journal.append(born(`vm-${accepted}`))
        accepted += 1
      }
    }
    await assert.rejects(fill(), { kind: 'unavailable', hint: /space/ })
    assert.ok(journal.failure)
    assert.deepEqual([journal.last, journal.known.vms.size], [accepted, accepted])
    await rm(filler)
    assert.equal((await journal.append(born('z'))).id, accepted + 1)
    assert.equal(journal.failure, undefined)
    assert.deepEqual(ids(await take(journal, 0, accepted + 1)), range(1, accepted + 1))
  } finally {
    spawnSync('umount', [dir.path])
  }
})
