// Goal: address, screen, serial log, statistics and use of a guest can be read. Method: a booted guest, its own output, and the first
// bytes of QEMU's VNC socket.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { reasonToSkip, until } from '@skerry/lab'

import { BOOT_MS, inGuest, startPlace, untilUp } from './guest.ts'

const skip = reasonToSkip('host', 'small') ?? false
const PNG = '89504e47'

/** Reads from the disk, not from the cache, and counts for more than a second. */
const BUSY = [
  'echo 3 > /proc/sys/vm/drop_caches',
  'dd if=/dev/vda of=/dev/null bs=64k count=16 2> /dev/null',
  'until=$(( $(date +%s) + 2 )); while [ $(date +%s) -lt $until ]; do :; done',
].join('; ')

/** Two clients at once on a VNC socket: both must get the greeting, and neither may be disconnected. */
const greetTwice = `
  const { connect } = require('node:net')
  const { once } = require('node:events')
  const clients = [0, 1].map(() => connect(process.argv[1]))
  Promise.all(clients.map((client) => once(client, 'data'))).then((all) => {
    console.log(all.map(([data]) => data.toString().trim()).join())
    process.exit(0)
  })`

test('a guest is seen from outside as it sees itself', { skip }, async () => {
  await using place = await startPlace()
  const { engine, host } = place
  await engine.createVm({ id: 'seen', memoryMiB: 128 })
  await assert.rejects(engine.readAddress('seen'), { message: /is off and has no address/ })
  await assert.rejects(engine.takeScreenshot('seen'), { kind: 'conflict', message: /is off/ })
  assert.equal(await engine.readSerialLog('seen'), '')
  // Paused, so that it cannot have an address yet, however long this process pauses.
  assert.equal((await host.run(['virsh', '-q', 'start', '--paused', 'local-seen'])).code, 0)
  await assert.rejects(engine.readAddress('seen'), {
    message: /has no address yet: .*agent does not answer/,
  })
  await engine.changePower('seen', 'unpause')
  const { address } = await engine.waitForAddress('seen', BOOT_MS)
  await untilUp(engine, 'seen')

  assert.match(await inGuest(engine, 'seen', 'ifconfig'), new RegExp(`addr:${address} `))
  assert.equal((await engine.readAddress('seen')).address, address)
  const reached = await host.run(['bash', '-c', `head -c 4 < /dev/tcp/${address}/22`])
  assert.equal(reached.stdout, 'SSH-', reached.stderr)

  const { mediaType, bytes } = await engine.takeScreenshot('seen')
  assert.deepEqual([mediaType, bytes.subarray(0, 4).toString('hex')], ['image/png', PNG])
  const socket = await engine.displaySocket('seen')
  const greeted = await host.run([process.execPath, '-e', greetTwice, socket])
  assert.equal(greeted.stdout.trim(), 'RFB 003.008,RFB 003.008', greeted.stderr)
  assert.match(await engine.readSerialLog('seen'), /guest up in/)

  const stats = await engine.readStats('seen')
  assert.ok(stats.cpuNanoseconds > 0n && stats.memoryBytes > 0n)
  assert.ok(stats.disk.readBytes > 0n && stats.network.receivedBytes > 0n)

  await until('a busy guest is measured', async () => {
    await engine.sampleUsage()
    await inGuest(engine, 'seen', BUSY)
    await host.run(['bash', '-c', `head -c 4 < /dev/tcp/${address}/22`])
    await engine.sampleUsage()
    const used = await engine.readUsage('seen', { step: 15, points: 1 })
    const [cpu, memory] = [used.cpuPercent[0] ?? 0, used.memoryMB[0] ?? 0]
    assert.ok(cpu <= 100 && memory <= 512, JSON.stringify(used))
    const others = [used.diskRead, used.netIn, used.netOut].map(([value]) => value ?? 0)
    return cpu > 0 && memory > 0 && others.every((value) => value > 0)
  })
  await engine.changePower('seen', 'off')
  await until('it has no values any more', async () => {
    await engine.sampleUsage()
    return (await engine.readUsage('seen', { step: 15, points: 1 })).cpuPercent.length === 0
  })
})
