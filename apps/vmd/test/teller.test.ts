import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { PowerState, VmId, VmSummary } from '@skerry/vm'

import { Journal } from '../src/journal.ts'
import { Teller } from '../src/teller.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const clock = { now: () => new Date('2026-01-02T03:04:05Z') }
const vm = (id: string, power: PowerState, name = id): VmSummary => ({
  ...{ id: id as VmId, name, tag: '', power },
})

async function open(directory: string, look: () => Promise<readonly VmSummary[]>) {
  const journal = await Journal.open({ directory, clock, note: () => undefined })
  const told = async (): Promise<string[]> => {
    const seen: string[] = []
    if (journal.last === 0) return seen
    for await (const event of journal.follow(0, new AbortController().signal)) {
      seen.push(`${event.type} ${'vm' in event ? event.vm : ''}`)
      if (event.id === journal.last) break
    }
    return seen
  }
  return { journal, told, teller: new Teller(journal, look) }
}

test('the difference is told: who came, who changed, who went; and nothing twice', async () => {
  await using dir = await temporaryDirectory()
  let now = [vm('a', 'off'), vm('b', 'on')]
  const { journal, teller, told } = await open(dir.path, async () => now)
  await using _ = journal
  await teller.tell()
  await teller.tell()
  now = [vm('a', 'on'), vm('c', 'off')]
  await teller.tell()
  now = [vm('a', 'on', 'another'), vm('c', 'off')]
  await teller.tell()
  const first = ['vm.created a', 'vm.created b']
  assert.deepEqual(await told(), [
    ...first,
    ...['vm.deleted b', 'vm.power a', 'vm.created c', 'vm.changed a'],
  ])
})

test('whoever asks while a look is under way is answered by one that began later', async () => {
  await using dir = await temporaryDirectory()
  const looks: PromiseWithResolvers<readonly VmSummary[]>[] = []
  const { journal, teller, told } = await open(dir.path, () => {
    const look = Promise.withResolvers<readonly VmSummary[]>()
    looks.push(look)
    return look.promise
  })
  await using _ = journal
  const first = teller.tell()
  await Promise.resolve()
  const late = [teller.tell(), teller.tell(), teller.tell()]
  assert.equal(looks.length, 1, 'one look at a time')
  looks[0]?.resolve([vm('a', 'off')])
  await first
  assert.deepEqual(await told(), ['vm.created a'])
  await Promise.resolve()
  looks[1]?.resolve([vm('a', 'on')])
  await Promise.all(late)
  assert.equal(looks.length, 2, 'they share the next one')
  assert.deepEqual(await told(), ['vm.created a', 'vm.power a'])
})

test('a look that fails fails those who wait for it and nobody else', async () => {
  await using dir = await temporaryDirectory()
  let away = true
  const { journal, teller, told } = await open(dir.path, async () => {
    if (away) throw new Error('libvirt is away')
    return [vm('a', 'off')]
  })
  await using _ = journal
  await assert.rejects(teller.tell(), /libvirt is away/)
  away = false
  await teller.tell()
  assert.deepEqual(await told(), ['vm.created a'])
})
