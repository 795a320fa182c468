// Goal: a guest can run its own guests exactly if that was turned on. Method: the guest reads its processor's features and prints
// them on its serial port.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { reasonToSkip } from '@skerry/lab'

import type { RemoteEngine } from './engine.ts'
import { startPlace, untilUp } from './guest.ts'

const skip = reasonToSkip('host', 'small') ?? false

/** The processor features that the guest printed at its last boot. */
async function saysAfterStart(engine: RemoteEngine, id: string, times: number): Promise<string> {
  await engine.changePower(id, 'on')
  await untilUp(engine, id, times)
  return (await engine.readSerialLog(id)).match(/svm=\d kvm=\w+/g)?.at(-1) ?? 'nothing'
}

test('nested is off unless turned on, and changes only while the VM is off', { skip }, async () => {
  await using place = await startPlace()
  const { engine } = place
  const both = ['a', 'b'] as const
  for (const id of both) {
    assert.equal((await engine.createVm({ id, memoryMiB: 128 })).nested, false)
  }
  assert.equal((await engine.setNested('a', true)).nested, true)
  const first = await Promise.all(both.map((id) => saysAfterStart(engine, id, 1)))
  assert.deepEqual(first, ['svm=1 kvm=yes', 'svm=0 kvm=no'])

  await assert.rejects(engine.setNested('a', false), { kind: 'conflict', message: /a is on/ })
  await assert.rejects(engine.setNested('b', true), { kind: 'conflict' })
  assert.equal((await engine.setNested('a', true)).nested, true, 'it is already set')
  for (const id of both) await engine.changePower(id, 'off')
  await engine.setNested('a', false)
  await engine.setNested('b', true)
  const second = await Promise.all(both.map((id) => saysAfterStart(engine, id, 2)))
  assert.deepEqual(second, ['svm=0 kvm=no', 'svm=1 kvm=yes'])
  assert.deepEqual(await Promise.all(both.map(async (id) => (await engine.readVm(id)).nested)), [
    false,
    true,
  ])
})
