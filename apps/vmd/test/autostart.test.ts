// Goal: the right VMs start with the machine, and only with the machine.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'

import type { Host } from '@skerry/engine'
import type { PowerState } from '@skerry/vm'

import { noteBoot, startGuests, type Restore } from '../src/guests/autostart.ts'
import type { NewJournalEvent } from '../src/journal/journal-state.ts'
import { Journal } from '../src/journal/journal.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const clock = { now: () => new Date('2026-01-02T03:04:05Z') }
const machine = (path: string, bootId: string) => ({
  run: join(path, 'run'),
  bootId,
  vms: [
    { id: 'always', autostart: true },
    { id: 'ran', autostart: false },
    { id: 'rested', autostart: false },
  ],
})

async function journalAt(path: string): Promise<Journal> {
  const directory = join(path, 'journal')
  const journal = await Journal.open({ directory, clock, log: () => undefined })
  const vm = (id: string, power: PowerState): NewJournalEvent => ({
    type: 'vm.created',
    vm: id,
    now: { name: id, tag: '', power },
  })
  const all = [vm('always', 'off'), vm('ran', 'on'), vm('rested', 'off'), vm('gone', 'on')]
  for (const news of all) await journal.append(news)
  return journal
}

const wanted: readonly [Restore, boolean, readonly string[]][] = [
  ['autostart', false, ['always']],
  ['autostart', true, ['always', 'ran']],
  ['previous', false, ['always', 'ran']],
]
for (const [restore, orderly, expected] of wanted) {
  const end = orderly ? 'in order' : 'by a power cut'
  test(`restore ${restore}, after the machine was stopped ${end}: ${expected.join(' and ')}`, async () => {
    await using dir = await temporaryDirectory()
    await using journal = await journalAt(dir.path)
    if (orderly) {
      await journal.append({ type: 'machine.stopping', vms: ['ran', 'gone'] })
      await journal.append({ type: 'vm.power', vm: 'ran', power: 'suspended' })
    }
    await noteBoot(journal, machine(dir.path, 'boot-1'), restore)
    assert.deepEqual([...journal.known.toStart], expected)
  })
}

test('a restart of vmd alone starts no VM, a reboot does', async () => {
  await using dir = await temporaryDirectory()
  await using journal = await journalAt(dir.path)
  await noteBoot(journal, machine(dir.path, 'boot-1'), 'autostart')
  await journal.append({ type: 'machine.ready' })
  await noteBoot(journal, machine(dir.path, 'boot-1'), 'autostart')
  assert.deepEqual([...journal.known.toStart], [])
  await noteBoot(journal, machine(dir.path, 'boot-2'), 'autostart')
  assert.deepEqual([...journal.known.toStart], ['always'])
})

test('a VM that is on again or deleted is no longer pending', async () => {
  await using dir = await temporaryDirectory()
  await using journal = await journalAt(dir.path)
  await journal.append({ type: 'machine.stopping', vms: ['ran', 'gone', 'always'] })
  await journal.append({ type: 'vm.power', vm: 'ran', power: 'suspended' })
  await journal.append({ type: 'vm.power', vm: 'ran', power: 'on' })
  await journal.append({ type: 'vm.deleted', vm: 'gone' })
  assert.deepEqual([...journal.known.toStart], ['always'])
})

test('VM states are recorded before the machine is ready, even if none of them starts', async () => {
  await using dir = await temporaryDirectory()
  await using journal = await journalAt(dir.path)
  await noteBoot(journal, machine(dir.path, 'boot-1'), 'autostart')
  const notes: string[] = []
  const locks = { run: async () => assert.fail('nothing starts here') }
  const host = { locks, log: (message: string) => notes.push(message) } as unknown as Host
  await startGuests(journal, host, async () => {
    await journal.append({ type: 'vm.power', vm: 'ran', power: 'off' })
  })
  assert.deepEqual(notes, ['failed to start VM always with the machine'])
  const types: string[] = []
  for await (const { type, id } of journal.follow(0, new AbortController().signal)) {
    types.push(type)
    if (id === journal.last) break
  }
  assert.deepEqual(types.slice(-3), ['machine.started', 'vm.power', 'machine.ready'])
})
