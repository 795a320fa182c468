// Goal: a running guest moves from one host to another with its disk without an interruption that it notices. Method: two lab
// hosts, an engine on each; the test forwards messages between them, and the guest's own uptime and bytes are checked.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { reasonToSkip, until, type LabHost } from '@skerry/lab'

import { BOOT_MS, tryInGuest, uptime } from './guest.ts'
import { beginPings, beginTalk, chassisOf, moving, startNetwork } from './moved-card.ts'
import { INCARNATION, startTwo } from './two-hosts.ts'

/** Of a guest that moves, for those who talk to it. */
const SILENCE_MS = 2000

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
  // libvirt of the target learns after the move that the agent is connected.
  await until('the agent of walker answers', () => there.pingGuest('walker'), BOOT_MS)
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
  // They are mounted once the agent answers.
  const isMounted = async () =>
    /shares \/mnt\/shares virtiofs/.test(
      (await tryInGuest(there, 'walker', 'grep virtiofs /proc/mounts')).stdout,
    )
  await until('its shared folders are mounted', isMounted, BOOT_MS)

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
  await using two = await startTwo({ reachedBy: '127.0.0.1' })
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

test('a guest with cards on networks across hosts moves with its ports and its connections, and is silent for at most 2 s', async (t) => {
  const reason = reasonToSkip('host', 'small', 'network')
  if (reason !== undefined) return t.skip(reason)
  await using two = await startTwo({ network: true })
  const { lab, from, to, here, there } = two
  await using network = await startNetwork(lab, [here, there])
  const { id, mac, address } = moving
  const card = { index: 0, id, mac, mtu: 1442, connected: true, network: id }
  await network.request({ 'requested-chassis': chassisOf(0) })
  await here.createVm({ id: 'walker', memoryMiB: 128, nics: [card] })
  await here.changePower('walker', 'on')
  const ports = async (host: LabHost) => {
    const asked = ['--bare', '--columns=external_ids', 'find', 'Interface']
    const { stdout } = await host.run(['ovs-vsctl', ...asked, `external_ids:iface-id=${id}`])
    return stdout.includes(id)
  }
  assert.deepEqual([await ports(from), await ports(to)], [true, false])
  await until('the agent of walker answers', () => here.pingGuest('walker'), BOOT_MS)
  const script = `ip address add ${address}/24 dev eth0; nc -ll -p 7 -e cat >/dev/null 2>&1 &`
  await tryInGuest(here, 'walker', script)
  const traffic = [beginPings(from), beginPings(to), beginTalk(from), beginTalk(to)]
  await Promise.all(traffic.map((each) => each.more(20)))

  // While it moves, OVN lets both hosts have the port; the target's carries packets once the guest announces itself there.
  const both = { 'requested-chassis': `${chassisOf(0)},${chassisOf(1)}` }
  await network.request({ ...both, 'activation-strategy': 'rarp' })
  await here.migrateVm('walker', 'other')
  await network.request({ 'requested-chassis': chassisOf(1) })
  await Promise.all(traffic.map((each) => each.more(20)))
  const silences = await Promise.all(traffic.map((each) => each.end()))
  const times = silences.map(({ ms, between }) => `${ms} ms (between ${between})`).join(', ')
  t.diagnostic(`silent for ${times}`)
  assert.ok(Math.max(...silences.map(({ ms }) => ms)) <= SILENCE_MS, times)

  assert.deepEqual([await ports(from), await ports(to)], [false, true])
  assert.equal((await there.readVm('walker')).power, 'on')
  await there.changePower('walker', 'off')
  await there.changePower('walker', 'on')
  assert.equal(await ports(to), true, 'also at its next start')
})
