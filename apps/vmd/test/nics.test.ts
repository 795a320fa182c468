// Goal: a real host and a simulated one treat the cards of a spec alike.
import assert from 'node:assert/strict'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'

import type { Fault } from '@skerry/fault'
import type { Goal, HostApi } from '@skerry/host-api'
import { reasonWithoutRoot } from '@skerry/lab'
import { simulatedHost } from '@skerry/lab/simulated-host'
import type { HostOverlay, Nic, VmId } from '@skerry/vm'

import { overlayDirectory } from '../../../packages/engine/src/host/paths.ts'
import { settleOverlay } from '../../../packages/engine/src/network/overlay.ts'
import { startCloudHost, type CloudHost } from './cloud-host.ts'
import { idOf, orderOf, ordersTo, to } from './cloud-orders.ts'

const skip = reasonWithoutRoot('host') ?? false
let started: CloudHost | undefined
before(async () => {
  if (skip === false) started = await startCloudHost()
})
after(() => started?.[Symbol.asyncDispose]())
const cloud = (): CloudHost => {
  assert(started, 'the host has started')
  return started
}
const { defined } = ordersTo(cloud)

const nic = (index: number, more: Partial<Nic> = {}): Nic => ({
  index,
  id: idOf(900 + index),
  mac: `52:54:00:00:00:0${index}`,
  mtu: 1442,
  connected: true,
  network: idOf(999),
  ...more,
})
const withNics = (...nics: Nic[]): Goal => defined({ nics })

/** As a host whose Open vSwitch has stopped: its VMs can have cards, which are silent. */
async function joinZone(): Promise<void> {
  const { host } = cloud().emulated
  const directory = overlayDirectory(host.paths)
  await mkdir(directory, { recursive: true })
  const join = { fencingToken: '1', remote: 'ssl:192.0.2.1:6642', systemId: idOf(1), mtu: 1442 }
  const zone = { join: { ...join, tunnelAddress: '192.0.2.7' }, connected: true }
  await writeFile(`${directory}/zone.json`, JSON.stringify(zone))
  await settleOverlay(host)
}
const stopped = { state: 'failing', reason: 'Open vSwitch does not run', uplinks: [] } as const

/** The steps of one VM: whether it has a card of this host afterwards, or the fault. */
async function outcomes(link: HostApi, vm: VmId, steps: readonly Goal[]): Promise<unknown[]> {
  const all: unknown[] = []
  for (const [at, goal] of steps.entries()) {
    all.push(
      await link.step(orderOf(vm, `step-${at}`, 10 + at), goal).then(
        (report) => report.vm && [report.vm.power, report.vm.card !== undefined],
        ({ kind, detail }: Fault) => [kind, detail],
      ),
    )
  }
  return all
}

test('cards are given, exchanged and refused alike', { skip }, async () => {
  const image: Goal = { goal: 'image', digest: cloud().image }
  const steps = [
    image,
    defined(),
    withNics(nic(0)),
    to('on'),
    withNics(nic(0), nic(1)),
    defined({ nics: [nic(0, { address: '192.0.2.1' })], name: 'renamed' }),
    to('off'),
    withNics(nic(0), nic(1)),
    withNics(),
    defined(),
  ]
  const vm = idOf(1) as VmId
  const simulated = simulatedHost({ hello: { overlay: stopped } })
  await joinZone()
  const real = await outcomes(cloud().connect(), vm, steps)
  assert.deepEqual(await outcomes(simulated, vm, steps), real)
  assert.deepEqual(real, [
    undefined,
    ['off', true],
    ['off', false],
    ['on', false],
    ['wrong-state', 'on'],
    ['on', false],
    ['off', false],
    ['off', false],
    ['off', false],
    ['off', true],
  ])
  const [record] = await Array.fromAsync(cloud().connect().records())
  assert.equal(record?.spec?.nics, undefined, 'the spec of the last order is kept')
})

test('a VM whose spec has cards gets them when it starts', { skip }, async () => {
  const vm = idOf(2) as VmId
  const { host } = cloud().emulated
  await joinZone()
  const link = cloud().connect()
  await outcomes(link, vm, [{ goal: 'image', digest: cloud().image }, withNics(nic(0))])
  // As an older version of vmd would have left it.
  const { nics: _, ...record } = host.records.get(vm, 'cloud') ?? assert.fail()
  await host.records.write(record)
  await link.step(orderOf(vm, 'on', 30), to('on'))
  assert.deepEqual(host.records.get(vm, 'cloud')?.nics, [nic(0)])
})

test('a host without Open vSwitch refuses cards on networks across hosts', { skip }, async () => {
  const { host } = cloud().emulated
  await rm(overlayDirectory(host.paths), { recursive: true, force: true })
  await settleOverlay(host)
  const steps = [{ goal: 'image', digest: cloud().image } as const, withNics(nic(0))]
  const vm = idOf(3) as VmId
  const real = await outcomes(cloud().connect(), vm, steps)
  assert.deepEqual(real, [undefined, ['wrong-state', undefined]])
  assert.deepEqual(await outcomes(simulatedHost(), vm, steps), real)
})

test('the state of the overlay is in hello, and its changes follow', { skip }, async () => {
  const { host } = cloud().emulated
  await joinZone()
  const ended = new AbortController()
  const lines = cloud().connect().follow('900', ended.signal)
  const ready: HostOverlay = { state: 'ready', uplinks: ['out'] }
  const seen: HostOverlay[] = []
  for await (const line of lines) {
    if (line.kind === 'hello') seen.push(line.hello.overlay)
    if (line.kind === 'overlay') seen.push(line.overlay)
    if (line.kind === 'listEnd') host.overlay.see(ready)
    if (seen.length === 2) break
  }
  ended.abort()
  assert.deepEqual(seen, [stopped, ready])
})

test('the fencing token of its zone counts as seen, also after a crash', { skip }, async () => {
  await joinZone()
  const zone = { remote: 'ssl:192.0.2.1:6642', systemId: idOf(1), tunnelAddress: '192.0.2.7' }
  const join = { ...zone, mtu: 1442, fencingToken: '5000' }
  await assert.rejects(cloud().connect().joinOverlay(join), { kind: 'unavailable' })
  await cloud().restart()
  const link = cloud().connect()
  const ended = new AbortController()
  for await (const line of link.follow('901', ended.signal)) {
    assert.equal(line.kind === 'hello' && line.hello.highest, '5000')
    break
  }
  ended.abort()
  await assert.rejects(link.joinOverlay({ ...join, fencingToken: '4999' }), { kind: 'stale' })
})
