// Goal: a VM has the cards of its spec, on networks across hosts or on that of its organisation, regardless of crashes.
// Method: a real libvirtd whose guests and networks exist in name only.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { test } from 'node:test'

import { Fault } from '@skerry/fault'
import { reasonWithoutRoot } from '@skerry/lab'
import * as libvirt from '@skerry/libvirt'
import type { Nic } from '@skerry/vm'

import { storeImage } from '../src/disk/image-cache.ts'
import { findVm, readFacts } from '../src/domain/find-domain.ts'
import { networkOf } from '../src/domain/segment.ts'
import { heal } from '../src/heal.ts'
import type { Host } from '../src/host/host.ts'
import { fixedAddressesDirectory } from '../src/host/paths.ts'
import { Records } from '../src/host/record.ts'
import { settleOverlay } from '../src/network/overlay.ts'
import { writeZone } from '../src/network/zone.ts'
import { cloneVm } from '../src/vm/clone.ts'
import { createFromImage } from '../src/vm/create-from-image.ts'
import { changeNics, joinNetwork } from '../src/vm/join-network.ts'
import { reachPower } from '../src/vm/power.ts'
import { createSnapshot, revertSnapshot } from '../src/vm/snapshot.ts'
import { readVm } from '../src/vm/vms.ts'
import { startEmulatedHost } from './emulated-host.ts'

const skip = reasonWithoutRoot('host') ?? false
const owner = 'cloud'
type Called = [libvirt.Procedure<unknown, unknown>, unknown]

const nic = (index: number, more: Partial<Nic> = {}): Nic => ({
  index,
  id: `7b0f0dc1-0000-4000-8000-00000000000${index}`,
  mac: `52:54:00:00:00:0${index}`,
  mtu: 1442,
  connected: true,
  network: '7b0f0dc1-0000-4000-8000-0000000000ff',
  address: `192.168.10.${index + 2}`,
  ...more,
})

async function start() {
  const emulated = await startEmulatedHost()
  const { host } = emulated
  const bytes = await readFile(join(host.paths.data, 'templates/default.qcow2'))
  const image = createHash('sha256').update(bytes).digest('hex')
  await storeImage(host, image, async () => ({ bytes: Readable.from([bytes]) }))
  /** As a host whose Open vSwitch has stopped: its VMs can have cards, which are silent. */
  const joinZone = async () => {
    const zone = { fencingToken: '1', remote: 'ssl:192.0.2.1:6642', systemId: 'h', mtu: 1442 }
    await writeZone(host.paths, {
      join: { ...zone, tunnelAddress: '192.0.2.7' },
      connected: true,
    })
    await settleOverlay(host)
    host.overlay.see(host.overlay.now, 'netdev')
  }
  const sizes = { incarnation: '1', cpus: 1, memoryMiB: 64, diskMiB: 64 }
  const make = (id: string, nics?: readonly Nic[]) =>
    createFromImage(host, { id, org: 'blue', image, name: id, ...sizes, ...(nics && { nics }) })
  const factsOf = async (id: string) => readFacts(host, (await findVm(host, id, owner)).dom)
  const pluggedOf = async (id: string) => (await factsOf(id)).plugged?.map((each) => each.id)
  return {
    host,
    make,
    factsOf,
    pluggedOf,
    joinZone,
    [Symbol.asyncDispose]: () => emulated[Symbol.asyncDispose](),
  }
}

async function hasOrgNetwork({ link }: Host): Promise<boolean> {
  const { nets } = await link.call(libvirt.connectListAllNetworks, { needResults: 1, flags: 0 })
  return nets.some(({ name }) => name === networkOf('blue'))
}

test(
  'a VM has up to ten cards on networks across hosts, and no address or network on this host',
  { skip },
  async () => {
    await using started = await start()
    const { host, make, pluggedOf } = started
    await started.joinZone()
    const ten = Array.from({ length: 10 }, (_, index) => nic(index))
    const vm = await make('ten', ten.toReversed())
    assert.equal(vm.card, undefined)
    assert.deepEqual(
      await pluggedOf('ten'),
      ten.map(({ id }) => id),
    )
    assert.deepEqual(await readVm(host, 'ten', owner), vm)
    assert.equal(await hasOrgNetwork(host), false)
    const kept = (await Records.load(host.paths)).get('ten', owner)
    assert.deepEqual(kept?.nics, ten.toReversed())
    assert.equal(kept.address, undefined)
    await reachPower(host, 'ten', 'on', { owner })
    await make('none', [])
    assert.deepEqual(await pluggedOf('none'), [])
  },
)

test(
  'a VM moves from the network of its organisation to networks across hosts and back, only while it is off',
  { skip },
  async () => {
    await using started = await start()
    const { host, make, factsOf, pluggedOf } = started
    await started.joinZone()
    const before = await make('old')
    assert.ok(before.card)
    const { uuid } = host.records.get('old', owner) ?? assert.fail()
    const entry = join(fixedAddressesDirectory(host.paths, networkOf('blue')), uuid)
    assert.ok(existsSync(entry))
    await reachPower(host, 'old', 'on', { owner })
    const wanted = { org: 'blue', nics: [nic(0)] }
    await joinNetwork(host, 'old', wanted)
    assert.equal((await factsOf('old')).plugged, undefined, 'it runs')
    await assert.rejects(changeNics(host, 'old', wanted), { kind: 'wrong-state', detail: 'on' })
    await reachPower(host, 'old', 'off', { owner })
    await joinNetwork(host, 'old', wanted)
    assert.deepEqual(await pluggedOf('old'), [nic(0).id])
    assert.equal((await readVm(host, 'old', owner)).card, undefined)
    assert.ok(!existsSync(entry))
    assert.equal(await hasOrgNetwork(host), false, 'the network is removed with its last VM')

    await changeNics(host, 'old', { org: 'blue', nics: [nic(0, { connected: false }), nic(1)] })
    const plugged = (await factsOf('old')).plugged?.map((each) => [each.id, each.connected])
    assert.deepEqual(plugged, [
      [nic(0).id, false],
      [nic(1).id, true],
    ])
    await changeNics(host, 'old', { org: 'blue' })
    const { card } = await readVm(host, 'old', owner)
    assert.deepEqual([card?.network, card?.mac], [before.card.network, before.card.mac])
    assert.equal((await factsOf('old')).mac, before.card.mac)
  },
)

test(
  'a VM starts with the cards of its record, also after a crash between record and definition or a revert',
  { skip },
  async () => {
    await using started = await start()
    const { host, make, pluggedOf } = started
    await started.joinZone()
    await make('one')
    await createSnapshot(host, 'one', { name: 'before' }, owner)
    await changeNics(host, 'one', { org: 'blue', nics: [nic(0)] })
    await revertSnapshot(host, 'one', 'before', owner)
    await reachPower(host, 'one', 'on', { owner })
    assert.deepEqual(await pluggedOf('one'), [nic(0).id])
    await make('two', [nic(2)])
    const record = host.records.get('two', owner) ?? assert.fail()
    await host.records.write({ ...record, nics: [nic(3)] })
    await reachPower(host, 'two', 'on', { owner })
    assert.deepEqual(await pluggedOf('two'), [nic(3).id])
  },
)

test(
  'a link that was not changed after its record is changed by the next attempt and by a repair',
  { skip },
  async (t) => {
    await using started = await start()
    const { host, make } = started
    await started.joinZone()
    await make('one', [nic(0)])
    await reachPower(host, 'one', 'on', { owner })
    const { live, config } = libvirt.DomainDeviceModifyFlags
    const links: string[] = []
    let isBroken = true
    const call = host.link.call.bind(host.link)
    // The in-memory driver cannot change a device.
    t.mock.method(host.link, 'call', (...[procedure, args]: Called) => {
      if (procedure !== libvirt.domainUpdateDeviceFlags) return call(procedure, args)
      if (isBroken) return Promise.reject(new Fault('unavailable', 'libvirt does not answer'))
      const { flags, xml } = args as { flags: number; xml: string }
      links.push(`${flags} ${/<link [^>]*>/.exec(xml)?.[0]}`)
      return Promise.resolve(undefined)
    })
    const wanted = { org: 'blue', nics: [nic(0, { connected: false })] }
    const both = [`${live} <link state="down"/>`, `${config} <link state="down"/>`]
    await assert.rejects(changeNics(host, 'one', wanted), { kind: 'unavailable' })
    assert.deepEqual(host.records.get('one', owner)?.nics, wanted.nics)
    isBroken = false
    for (const repair of [
      () => changeNics(host, 'one', wanted),
      () => reachPower(host, 'one', 'on', { owner }),
      () => heal(host),
    ]) {
      await repair()
      assert.deepEqual(links.splice(0), both)
    }
    await reachPower(host, 'one', 'off', { owner })
    await changeNics(host, 'one', wanted)
    await heal(host)
    assert.deepEqual(links, [], 'the next start does it')
  },
)

test(
  'a clone has its own cards; without any it is on the network that it is given',
  { skip },
  async () => {
    await using started = await start()
    const { host, make, pluggedOf } = started
    await started.joinZone()
    await make('parent', [nic(0)])
    const clone = { parent: 'parent', owner, incarnation: '1' } as const
    await cloneVm(host, { ...clone, id: 'child', nics: [nic(1)] })
    assert.deepEqual(await pluggedOf('child'), [nic(1).id])
    const plain = await cloneVm(host, { ...clone, id: 'plain', network: networkOf('blue') })
    assert.equal(plain.card?.network, networkOf('blue'))
  },
)

test(
  'without Open vSwitch no VM gets such cards, and two cards are never the same port',
  { skip },
  async () => {
    await using started = await start()
    const { host, make } = started
    await assert.rejects(make('twice', [nic(0), nic(1, { id: nic(0).id })]), { kind: 'invalid' })
    await make('plain')
    await assert.rejects(make('one', [nic(0)]), { kind: 'wrong-state', message: /Open vSwitch/ })
    const wanted = { org: 'blue', nics: [nic(0)] }
    await assert.rejects(changeNics(host, 'plain', wanted), { kind: 'wrong-state' })
    assert.ok((await readVm(host, 'plain', owner)).card)
    await started.joinZone()
    assert.equal(host.overlay.now.state, 'failing')
    await make('later', [nic(0)])
  },
)
