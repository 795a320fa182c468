// Goal: a caller that did not wait finds the result later, even if vmd was killed in between.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { Fault } from '@skerry/fault'

import { Journal } from '../src/journal/journal.ts'
import { Operations, type VmLookup } from '../src/journal/operations.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const clock = { now: () => new Date('2026-01-02T03:04:05Z') }
const NOW = '2026-01-02T03:04:05.000Z'

async function open(directory: string) {
  const journal = await Journal.open({ directory, clock, log: () => undefined })
  let last = journal.last
  const failure = (error: unknown) => ({ code: 409, message: (error as Error).message })
  return { journal, operations: new Operations(journal, clock, () => `op-${++last}`, failure) }
}

test('an operation runs, reports its progress, and keeps its result', async () => {
  await using dir = await temporaryDirectory()
  const { journal, operations } = await open(dir.path)
  await using _ = journal
  const gate = Promise.withResolvers<void>()
  const begun = await operations.start({ name: 'createVm', vm: 'a' }, async (progress) => {
    progress(41.7)
    await gate.promise
    return { status: 201, body: { id: 'a' } }
  })
  assert.deepEqual(begun, {
    id: 'op-1',
    name: 'createVm',
    vm: 'a',
    state: 'running',
    progress: 0,
    started: NOW,
  })
  const reading = journal.follow(1, new AbortController().signal)
  await reading.next()
  assert.equal(operations.find('op-1').progress, 41)
  gate.resolve()
  await operations.idle()
  assert.deepEqual(operations.find('op-1'), {
    ...begun,
    state: 'succeeded',
    progress: 100,
    ended: NOW,
    result: { id: 'a' },
  })
  assert.throws(() => operations.find('op-9'), { kind: 'not-found' })
})

test('a failed operation has its error', async () => {
  await using dir = await temporaryDirectory()
  const { journal, operations } = await open(dir.path)
  await using _ = journal
  await operations.start({ name: 'changePower', vm: 'a', goal: 'on' }, () =>
    Promise.reject(new Fault('conflict', 'it is paused')),
  )
  await operations.idle()
  const [{ state, error } = {}] = operations.all()
  assert.deepEqual([state, error], ['failed', { code: 409, message: 'it is paused' }])
})

test('an operation interrupted by a crash of vmd succeeds if the VM has the intended state, and fails otherwise', async () => {
  await using dir = await temporaryDirectory()
  {
    const { journal, operations } = await open(dir.path)
    await using _ = journal
    const never = () => Promise.withResolvers<never>().promise
    for (const vm of ['made', 'older', 'missing'])
      await operations.start({ name: 'createVm', vm }, never)
    for (const vm of ['started', 'not-started'])
      await operations.start({ name: 'changePower', vm, goal: 'on' }, never)
  }
  const { journal, operations } = await open(dir.path)
  await using _ = journal
  const vms: Readonly<Record<string, ReturnType<VmLookup>>> = {
    made: { power: 'off', made: NOW },
    older: { power: 'off', made: '2026-01-01T00:00:00.000Z' },
    started: { power: 'on', made: NOW },
    'not-started': { power: 'off', made: NOW },
  }
  await operations.settle((vm) => vms[vm])
  const states = operations.all().map(({ vm, state }) => [vm ?? '', state])
  assert.deepEqual(Object.fromEntries(states), {
    made: 'succeeded',
    older: 'failed',
    missing: 'failed',
    started: 'succeeded',
    'not-started': 'failed',
  })
  const failed = operations.all().filter(({ state }) => state === 'failed')
  for (const { error } of failed) assert.match(error?.hint ?? '', /^retry/)
})
