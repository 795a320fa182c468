// Goal: a running guest can be cloned any number of times, and each clone has the disk of that moment. Method: a mark on the disk
// before each clone, more clones than a chain may have layers, and the marks read from outside.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { reasonToSkip } from '@skerry/lab'

import { inGuest, startPlace, untilUp } from './guest.ts'

const CLONES = 10

test('a running guest is cloned ten times, continues meanwhile, and starts again afterwards', async (t) => {
  const reason = reasonToSkip('host', 'small')
  if (reason !== undefined) return t.skip(reason)
  await using place = await startPlace()
  const { engine, host } = place
  const sh = async (script: string) => {
    const { code, stdout, stderr } = await host.run(['sh', '-ec', script])
    assert.equal(code, 0, stderr)
    return stdout
  }
  const layersOf = async (id: string) =>
    (await sh(`ls /var/lib/skerry/vms/${id}.vm/1/ | grep -c layer`)).trim()
  const readMark = (id: string) =>
    sh(`top=$(ls -v /var/lib/skerry/vms/${id}.vm/1/layer-*.qcow2 | tail -n 1); rm -f /run/mark
      qemu-img dd -U -f qcow2 -O raw bs=1M skip=60 count=61 if=$top of=/run/mark; head -n 1 /run/mark`)

  await engine.createVm({ id: 'parent', memoryMiB: 128, diskMiB: 64 })
  await engine.changePower('parent', 'on')
  await untilUp(engine, 'parent')
  const { boot } = await engine.readVm('parent')
  const layers: string[] = []
  for (let round = 1; round <= CLONES; round++) {
    await inGuest(engine, 'parent', `echo mark ${round} | dd of=/dev/vda bs=1M seek=60 conv=fsync`)
    await engine.cloneVm({ id: `clone-${round}`, parent: 'parent' })
    layers.push(await layersOf('parent'))
  }
  await inGuest(engine, 'parent', 'echo mark last | dd of=/dev/vda bs=1M seek=60 conv=fsync')
  assert.deepEqual(layers, ['3', '4', '5', '6', '7', '8', '2', '3', '4', '5'])
  assert.equal((await engine.readVm('parent')).boot, boot, 'the parent never stopped')
  for (let round = 1; round <= CLONES; round++)
    assert.equal(await readMark(`clone-${round}`), `mark ${round}\n`)

  await engine.changePower('parent', 'off')
  assert.equal(await readMark('parent'), 'mark last\n')
  await engine.changePower('parent', 'on')
  await untilUp(engine, 'parent', 2)
  await engine.deleteVm('parent')
  assert.equal(await readMark('clone-7'), 'mark 7\n')
})
