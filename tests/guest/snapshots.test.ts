// Goal: a VM is reverted to a snapshot, including its memory if that was saved, and clones are independent. Method: marks that a
// booted guest writes to its disk and keeps in its memory.
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'

import { reasonToSkip } from '@skerry/lab'

import { inGuest, startPlace, untilUp, type Place } from './guest.ts'

const skip = reasonToSkip('host', 'small') ?? false
const VM = 'keeper'

const writeMark = (place: Place, id: string, mark: string) =>
  inGuest(place.engine, id, `echo ${mark} | dd of=/dev/vda bs=1M seek=60 conv=fsync 2>/dev/null`)
const readMark = (place: Place, id: string) =>
  inGuest(
    place.engine,
    id,
    'dd if=/dev/vda bs=1M skip=60 count=1 iflag=direct 2>/dev/null | head -n 1',
  )

suite('snapshots and clones of a booted guest', { skip }, () => {
  let place: Place
  before(async () => {
    place = await startPlace()
    await place.engine.createVm({ id: VM, memoryMiB: 128, diskMiB: 64 })
    await place.engine.changePower(VM, 'on')
    await untilUp(place.engine, VM)
  })
  after(() => place[Symbol.asyncDispose]())

  test('with memory the guest continues from the snapshot, including its disk', async () => {
    const { engine } = place
    await writeMark(place, VM, 'first')
    await inGuest(engine, VM, 'echo remembered > /tmp/memory')
    const kept = await engine.createSnapshot(VM, { name: 'running' })
    assert.deepEqual([kept.name, kept.memory, kept.current], ['running', true, true])
    await writeMark(place, VM, 'second')
    await inGuest(engine, VM, 'echo forgotten > /tmp/memory')
    await engine.revertSnapshot(VM, 'running')

    assert.equal(await engine.readPower(VM), 'on')
    assert.equal(await readMark(place, VM), 'first')
    assert.equal(await inGuest(engine, VM, 'cat /tmp/memory'), 'remembered')
  })

  test('without memory the disk of a running guest is saved, and it never stops', async () => {
    const { engine } = place
    await writeMark(place, VM, 'third')
    const { boot } = await engine.readVm(VM)
    const kept = await engine.createSnapshot(VM, { name: 'disk-only', memory: false })
    assert.equal(kept.memory, false)
    assert.equal((await engine.readVm(VM)).boot, boot)
    await writeMark(place, VM, 'fourth')

    await engine.revertSnapshot(VM, 'disk-only')

    assert.equal(await engine.readPower(VM), 'off', 'there is no memory to resume from')
    await engine.changePower(VM, 'on')
    await untilUp(engine, VM, 2)
    assert.equal(await readMark(place, VM), 'third')
  })

  test('they are listed in order, have unique names, and are removed one by one', async () => {
    const { engine } = place
    const names = async () => (await engine.listSnapshots(VM)).map(({ name }) => name)
    assert.deepEqual(await names(), ['running', 'disk-only'])
    await assert.rejects(engine.createSnapshot(VM, { name: 'running' }), { kind: 'conflict' })
    await assert.rejects(engine.createSnapshot(VM, { name: '-rf' }), { kind: 'invalid' })
    await assert.rejects(engine.revertSnapshot(VM, 'none'), { kind: 'not-found' })
    await assert.rejects(engine.cloneVm({ id: 'late', parent: VM }), {
      kind: 'conflict',
      message: /has snapshots/,
    })
    await engine.removeSnapshot(VM, 'running')
    await engine.removeSnapshot(VM, 'disk-only')
    assert.deepEqual(await names(), [])
    assert.equal(await readMark(place, VM), 'third')
  })

  test('a clone of the running guest has its disk, and each writes to its own', async () => {
    const { engine } = place
    const { boot } = await engine.readVm(VM)
    await writeMark(place, VM, 'common')
    const clone = await engine.cloneVm({ id: 'twin', parent: VM, tag: 'cloned' })
    assert.deepEqual(
      [clone.power, clone.tag, clone.memoryMiB, clone.diskMiB],
      ['off', 'cloned', 128, 64],
    )
    assert.equal((await engine.readVm(VM)).boot, boot, 'the parent never stopped')
    await writeMark(place, VM, 'parent')

    await engine.changePower('twin', 'on')
    await untilUp(engine, 'twin')
    assert.equal(await readMark(place, 'twin'), 'common')
    await writeMark(place, 'twin', 'child')
    assert.equal(await readMark(place, VM), 'parent')
  })

  test('the clone of a suspended VM is off and complete, and the VM continues', async () => {
    const { engine } = place
    await inGuest(engine, VM, 'sync')
    await engine.changePower(VM, 'suspend')
    const copy = await engine.cloneVm({ id: 'copy', parent: VM })
    assert.equal(copy.power, 'off')
    await engine.changePower(VM, 'on')
    await untilUp(engine, VM)
    assert.equal(await readMark(place, VM), 'parent')
  })

  test('the parent is deleted, and its clones continue', async () => {
    const { engine } = place
    await engine.deleteVm(VM)
    assert.equal(await readMark(place, 'twin'), 'child')
    await engine.changePower('twin', 'off')
    await engine.changePower('copy', 'on')
    await untilUp(engine, 'copy')
    assert.equal(await readMark(place, 'copy'), 'parent')
    for (const id of ['twin', 'copy']) await engine.deleteVm(id)
    const left = await place.host.run(['find', '/var/lib/skerry/vms', '-mindepth', '1'])
    assert.equal(left.stdout, '')
  })
})
