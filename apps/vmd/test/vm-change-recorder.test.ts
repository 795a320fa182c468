import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { PowerState, VmId, VmSummary } from '@skerry/vm'

import { Journal } from '../src/journal/journal.ts'
import { VmChangeRecorder } from '../src/journal/vm-change-recorder.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const clock = { now: () => new Date('2026-01-02T03:04:05Z') }
const vm = (id: string, power: PowerState, name = id): VmSummary => ({
  id: id as VmId,
  name,
  tag: '',
  power,
})

async function open(directory: string, look: () => Promise<readonly VmSummary[]>) {
  const journal = await Journal.open({ directory, clock, log: () => undefined })
  const recorded = async (): Promise<string[]> => {
    const seen: string[] = []
    if (journal.last === 0) return seen
    for await (const event of journal.follow(0, new AbortController().signal)) {
      seen.push(`${event.type} ${'vm' in event ? event.vm : ''}`)
      if (event.id === journal.last) break
    }
    return seen
  }
  return { journal, recorded, changeRecorder: new VmChangeRecorder(journal, look) }
}

test('the difference is recorded: created, changed and deleted VMs, nothing twice', async () => {
  await using dir = await temporaryDirectory()
  let now = [vm('a', 'off'), vm('b', 'on')]
  const { journal, changeRecorder, recorded } = await open(dir.path, async () => now)
  await using _ = journal
  await changeRecorder.record()
  await changeRecorder.record()
  now = [vm('a', 'on'), vm('c', 'off')]
  await changeRecorder.record()
  now = [vm('a', 'on', 'another'), vm('c', 'off')]
  await changeRecorder.record()
  const first = ['vm.created a', 'vm.created b']
  assert.deepEqual(await recorded(), [
    ...first,
    'vm.deleted b',
    'vm.power a',
    'vm.created c',
    'vm.changed a',
  ])
})

test('a paused VM whose QEMU is ending is not recorded as powered on', async () => {
  await using dir = await temporaryDirectory()
  let now: VmSummary[] = [vm('a', 'paused'), vm('b', 'off')]
  const { journal, changeRecorder, recorded } = await open(dir.path, async () => now)
  await using _ = journal
  await changeRecorder.record()
  now = [
    { ...vm('a', 'on'), ending: true },
    { ...vm('b', 'on'), ending: true },
  ]
  await changeRecorder.record()
  now = [vm('a', 'off'), vm('b', 'off')]
  await changeRecorder.record()
  assert.deepEqual(await recorded(), [
    'vm.created a',
    'vm.created b',
    'vm.power b',
    'vm.power a',
    'vm.power b',
  ])
})

test('a call during a read is answered by a read that began later', async () => {
  await using dir = await temporaryDirectory()
  const looks: PromiseWithResolvers<readonly VmSummary[]>[] = []
  const { journal, changeRecorder, recorded } = await open(dir.path, () => {
    const look = Promise.withResolvers<readonly VmSummary[]>()
    looks.push(look)
    return look.promise
  })
  await using _ = journal
  const first = changeRecorder.record()
  await Promise.resolve()
  const late = [changeRecorder.record(), changeRecorder.record(), changeRecorder.record()]
  assert.equal(looks.length, 1, 'one read at a time')
  looks[0]?.resolve([vm('a', 'off')])
  await first
  assert.deepEqual(await recorded(), ['vm.created a'])
  await Promise.resolve()
  looks[1]?.resolve([vm('a', 'on')])
  await Promise.all(late)
  assert.equal(looks.length, 2, 'they share the next one')
  assert.deepEqual(await recorded(), ['vm.created a', 'vm.power a'])
})

test('a failed read fails only the callers that wait for it', async () => {
  await using dir = await temporaryDirectory()
  let away = true
  const { journal, changeRecorder, recorded } = await open(dir.path, async () => {
    if (away) throw new Error('libvirt is away')
    return [vm('a', 'off')]
  })
  await using _ = journal
  await assert.rejects(changeRecorder.record(), /libvirt is away/)
  away = false
  await changeRecorder.record()
  assert.deepEqual(await recorded(), ['vm.created a'])
})
