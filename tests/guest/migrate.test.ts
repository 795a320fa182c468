// Goal: a running guest moves from one host to another with its disk without an interruption that it notices. Method: two lab
// hosts, an engine on each; the test forwards messages between them, and the guest's own uptime and bytes are checked.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { guestImage, reasonToSkip, startLab, until, type LabHost } from '@skerry/lab'

import { startEngine, type Errands, type RemoteEngine } from './engine.ts'
import { BOOT_MS, tryInGuest, uptime } from './guest.ts'

const INCARNATION = '2'

/** The steps of the other host on request of the first. */
const errandsOf =
  (engine: RemoteEngine, address: string): Errands =>
  (call, args) => {
    const functions = engine as unknown as Record<
      string,
      (...args: readonly unknown[]) => Promise<unknown>
    >
    const more = { makeReady: [INCARNATION], prepareArrival: [address] }[call] ?? []
    return functions[call]?.(...args, ...more) ?? Promise.reject(new Error(call))
  }

/** Two hosts of a lab with an engine on each; the first reaches the second at the given address. */
async function startTwo(reachedBy?: string) {
  await using stack = new AsyncDisposableStack()
  const dir = await mkdtemp(join(tmpdir(), 'move-'))
  stack.defer(() => rm(dir, { recursive: true, force: true }))
  const lab = stack.use(await startLab({ dir, hosts: 2 }))
  const [from, to] = lab.hosts
  assert.ok(from && to?.address !== undefined)
  const there = stack.use(await startEngine(to))
  const here = stack.use(await startEngine(from, errandsOf(there, reachedBy ?? to.address)))
  await here.importTemplate('default', await guestImage('small'))
  const all = stack.move()
  return { from, to, here, there, [Symbol.asyncDispose]: () => all.disposeAsync() }
}

test('a running guest moves to another host with its disk and continues', async (t) => {
  const reason = reasonToSkip('host', 'small')
  if (reason !== undefined) return t.skip(reason)
  await using two = await startTwo()
  const { from, to, here, there } = two
  const fixed = async (host: LabHost) =>
    (await host.run(['sh', '-c', 'cat /var/lib/skerry/dhcp/* 2>/dev/null'])).stdout

  await here.createVm({
    id: 'walker',
    memoryMiB: 128,
    diskMiB: 64,
    tag: 'kept',
    seed: { sshKeys: [] },
  })
  await here.changePower('walker', 'on')
  await until('the agent of walker answers', () => here.pingGuest('walker'), BOOT_MS)
  await here.enableSharing('walker')
  await tryInGuest(here, 'walker', 'echo carried over | dd of=/dev/vda bs=1M seek=60 conv=fsync')
  const before = await uptime(here, 'walker')
  const { address } = await here.waitForAddress('walker', BOOT_MS)
  const line = await fixed(from)
  assert.ok(line.endsWith(`,${address}\n`), line)

  await here.migrateVm('walker', 'host-2')

  assert.deepEqual([await fixed(from), await fixed(to)], ['', line])

  assert.equal(await there.readPower('walker'), 'on')
  const after = await uptime(there, 'walker')
  assert.ok(after >= before, `uptime went from ${before} to ${after}`)
  const { stdout } = await tryInGuest(
    there,
    'walker',
    'dd if=/dev/vda bs=1M skip=60 count=1 | head -n 1',
  )
  assert.equal(stdout, 'carried over\n')
  const vm = await there.readVm('walker')
  assert.deepEqual(
    [vm.tag, vm.incarnation, vm.diskMiB, vm.sharing],
    ['kept', INCARNATION, 64, true],
  )
  const { stdout: mounted } = await tryInGuest(there, 'walker', 'grep virtiofs /proc/mounts')
  assert.match(mounted, /shares \/mnt\/shares virtiofs/)

  await assert.rejects(here.readPower('walker'), { kind: 'not-found' })
  // All files of a VM are in directories; files of the host itself stay.
  const look = 'find /var/lib/skerry/vms -mindepth 1; find /run/skerry -mindepth 2'
  const { stdout: left } = await from.run(['sh', '-c', look])
  assert.equal(left, '')
  assert.deepEqual(await here.listVms(), [])

  // It is a complete VM there: it can be stopped, started from the moved disk, and deleted.
  await there.changePower('walker', 'off')
  await there.changePower('walker', 'on')
  await until('the agent of walker answers', () => there.pingGuest('walker'), BOOT_MS)
  const again = await tryInGuest(
    there,
    'walker',
    'dd if=/dev/vda bs=1M skip=60 count=1 | head -n 1',
  )
  assert.equal(again.stdout, 'carried over\n')
  assert.equal((await there.waitForAddress('walker', BOOT_MS)).address, address)
})

test('a failed move leaves the guest running where it was and nothing on the other host', async (t) => {
  const reason = reasonToSkip('host', 'small')
  if (reason !== undefined) return t.skip(reason)
  // An address without a listener: memory and disk cannot be sent.
  await using two = await startTwo('127.0.0.1')
  const { to, here, there } = two
  await here.createVm({ id: 'stayer', memoryMiB: 128 })
  await here.changePower('stayer', 'on')
  await until('the agent of stayer answers', () => here.pingGuest('stayer'), BOOT_MS)
  const before = await uptime(here, 'stayer')

  await assert.rejects(here.migrateVm('stayer', 'host-2'), { name: 'Fault' })

  assert.equal(await here.readPower('stayer'), 'on')
  assert.ok((await uptime(here, 'stayer')) >= before)
  assert.deepEqual(await there.listVms(), [])
  const { stdout: left } = await to.run(['find', '/var/lib/skerry/vms', '-mindepth', '1'])
  assert.equal(left, '')
})
