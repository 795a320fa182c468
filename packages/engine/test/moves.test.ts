// Goal: a VM that another host may have is never changed, and a target never revokes its answer. Method: the state after a lost
// answer is written manually; libvirt's in-memory driver keeps the states of domains. Real moves are in tests/faults.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'

import { reasonWithoutRoot } from '@skerry/lab'
import type { DepartureStage, TargetWord, VmId } from '@skerry/vm'

import { heal } from '../src/heal.ts'
import { Moves, type DepartingVm } from '../src/host/moves.ts'
import { deleteVm, removeVm } from '../src/recover/delete.ts'
import { decideArrival } from '../src/recover/settle-arrival.ts'
import { settleDeparture } from '../src/recover/settle-departure.ts'
import { createVm } from '../src/vm/create.ts'
import { migrateVm } from '../src/vm/migrate.ts'
import { changePower, discardMemory, reachPower, readPower } from '../src/vm/power.ts'
import { createSnapshot } from '../src/vm/snapshot.ts'
import { startEmulatedHost, type EmulatedHost } from './emulated-host.ts'

const skip = reasonWithoutRoot('host') ?? false
const DAY_MS = 24 * 3_600_000

let emulated: EmulatedHost | undefined
before(async () => {
  if (!skip) emulated = await startEmulatedHost()
})
after(() => emulated?.[Symbol.asyncDispose]())

/** A VM with a paused guest, in the middle of a move to another host. */
async function cutOff(id: string, stage: DepartureStage) {
  assert.ok(emulated)
  const { host } = emulated
  await createVm(host, { id })
  await changePower(host, id, 'on')
  await changePower(host, id, 'pause')
  const departing: DepartingVm = {
    side: 'source',
    move: randomUUID(),
    id: id as VmId,
    owner: 'local',
    to: 'host-2',
    power: 'on',
    flags: 0,
    stage,
    changedAt: host.clock.now().toISOString(),
  }
  return { host, departing: await host.moves.write(departing) }
}

test(
  'a VM that was handed over accepts no change until its target has answered',
  { skip },
  async () => {
    const { host, departing } = await cutOff('handed', 'handed')
    const attempts = {
      unpause: () => changePower(host, 'handed', 'unpause'),
      off: () => changePower(host, 'handed', 'off'),
      reach: () => reachPower(host, 'handed', 'on'),
      discard: () => discardMemory(host, 'handed'),
      snapshot: () => createSnapshot(host, 'handed', { name: 'no' }),
      move: () => migrateVm(host, 'handed', 'host-3'),
      delete: () => deleteVm(host, 'handed'),
      remove: () => removeVm(host, 'handed', 'local'),
    }
    for (const [name, attempt] of Object.entries(attempts))
      await assert.rejects(attempt, { kind: 'unavailable', message: /host-2/ }, name)
    await heal(host)
    assert.equal(await readPower(host, 'handed'), 'paused')
    assert.equal(host.moves.departure(departing.move)?.stage, 'handed')
  },
)

const answers: Readonly<Record<TargetWord, 'on' | 'gone'>> = { refused: 'on', landed: 'gone' }
for (const [word, end] of Object.entries(answers) as [TargetWord, 'on' | 'gone'][]) {
  test(
    `once the target answers ${word}, a VM that was handed over is ${end}`,
    { skip },
    async () => {
      const { host, departing } = await cutOff(`is-${word}`, 'handed')
      await host.locks.run(departing.id, () => settleDeparture(host, departing, word))
      if (end === 'on') assert.equal(await readPower(host, departing.id), 'on')
      else await assert.rejects(readPower(host, departing.id), { kind: 'not-found' })
    },
  )
}

test('a VM that was not handed over resumes at the next start', { skip }, async () => {
  const { host, departing } = await cutOff('departing', 'departing')
  await heal(host)
  assert.equal(await readPower(host, 'departing'), 'on')
  assert.equal(host.moves.departure(departing.move)?.stage, 'stayed')
})

test('a VM that has left is removed at the next start', { skip }, async () => {
  const { host, departing } = await cutOff('left', 'left')
  await heal(host)
  await assert.rejects(readPower(host, 'left'), { kind: 'not-found' })
  assert.equal(host.moves.departure(departing.move), undefined)
})

test('a target that is queried about an unknown move refuses it forever', { skip }, async () => {
  assert.ok(emulated)
  const { host } = emulated
  const [move, id] = [randomUUID(), 'unseen' as VmId]
  const question = { move, id, owner: 'local' } as const
  // The files of a handed-over move are lost: its outcome is unknown.
  await assert.rejects(decideArrival(host, { ...question, handed: true }), { kind: 'not-found' })
  assert.equal(await decideArrival(host, { ...question, handed: false }), 'refused')
  assert.equal(await decideArrival(host, { ...question, handed: true }), 'refused')
  const again = await Moves.load(host.paths)
  assert.equal(again.arrival(move)?.stage, 'refused')
  await again.forgetOld(new Date(89 * DAY_MS))
  assert.equal(again.arrival(move)?.stage, 'refused')
  await again.forgetOld(new Date(91 * DAY_MS))
  assert.equal(again.arrival(move), undefined)
})

test('a move id is a UUID, because it becomes a file name', { skip }, () => {
  assert.ok(emulated)
  const { host } = emulated
  for (const move of ['', '../vms/x', 'A'.repeat(36), `${randomUUID()}/x`])
    assert.throws(
      () => decideArrival(host, { move, id: 'x' as VmId, owner: 'local', handed: false }),
      { kind: 'invalid' },
    )
})
