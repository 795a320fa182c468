// Goal: what concerns networks across hosts arrives unchanged, and nothing else is accepted. Method: real TLS with
// certificates of openssl, and the lab's simulated host behind it.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'

import { startIssuer, type KeyPair, type TestIssuer } from '@skerry/lab'
import { simulatedHost } from '@skerry/lab/simulated-host'
import type { HostId, Order, TaskId, VmId } from '@skerry/vm'

import { connectHost, hostServer, type Goal, type HostApi } from '../src/index.ts'

const spec = {
  org: 'o',
  vApp: 'v',
  name: 'n',
  cpus: 1,
  memoryMiB: 64,
  diskMiB: 64,
  image: '0'.repeat(64),
}
const nic = {
  index: 0,
  id: '7b0f0dc1-0000-4000-8000-000000000001',
  mac: '52:54:00:00:00:01',
  mtu: 1442,
  connected: true,
  network: '7b0f0dc1-0000-4000-8000-000000000002',
  address: '192.168.10.2',
}
const second = { ...nic, index: 1, id: nic.network, mac: '52:54:00:00:00:02' }
const withNics = (...nics: readonly object[]) => ({ goal: 'defined', spec: { ...spec, nics } })
const ready = { state: 'ready', uplinks: ['out'] } as const
const on: Goal = { goal: 'power', to: 'on' }
const orderOf = (step: string, number: number): Order => ({
  vm: '7b0f0dc1-1111-4222-8333-444455556666' as VmId,
  task: 't' as TaskId,
  key: `t/${step}`,
  fencingToken: String(number),
  incarnation: '1',
})

let control: TestIssuer | undefined
let cell: KeyPair | undefined
before(async () => {
  control = await startIssuer('control')
  cell = await control.issue('URI:skerry://lab/cell/c1')
})
after(() => control?.[Symbol.asyncDispose]())

/** A host behind its listener, as a cell calls it. */
async function listen(host: HostApi) {
  assert(control && cell)
  const pair = await control.issue('URI:skerry://lab/host/h1')
  const epochs = { highest: 0, raise: async () => undefined }
  const server = hostServer({ ...pair, ca: control.cert }, host, { cloud: 'lab', epochs })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const tls = { ...cell, ca: control.cert }
  const link = connectHost({ address: '127.0.0.1', port, tls, hostId: 'h1' as HostId })
  return {
    connect: () => link,
    async [Symbol.asyncDispose]() {
      link[Symbol.dispose]()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

test('a step with invalid cards is rejected before anything is done', async () => {
  const host = simulatedHost({ hello: { overlay: ready } })
  await using server = await listen(host)
  const wrong = [
    withNics({ ...nic, index: 10 }),
    withNics({ ...nic, id: 'br-int' }),
    withNics({ ...nic, mac: 'ff:ff:ff:ff:ff:ff' }),
    withNics({ ...nic, mtu: 1279 }),
    withNics({ ...nic, mtu: 9000 }),
    withNics({ ...nic, address: '192.168.10.256' }),
    withNics({ ...nic, bridge: 'br0' }),
    withNics(nic, { ...second, index: 0 }),
    withNics(nic, { ...second, id: nic.id }),
    withNics(nic, { ...second, mac: nic.mac }),
  ]
  for (const goal of wrong) {
    const requested = server.connect().step(orderOf('x', 5), goal as Goal)
    await assert.rejects(requested, { kind: 'invalid' }, JSON.stringify(goal))
  }
  assert.deepEqual(host.done, [])
})

test('cards on networks across hosts: other cards only while the VM is off, links at any time, none without Open vSwitch', async () => {
  const host = simulatedHost({ hello: { overlay: ready } })
  await using server = await listen(host)
  const link = server.connect()
  const made = await link.step(orderOf('define', 5), withNics(nic) as Goal)
  assert.equal(made.vm?.card, undefined, 'the cloud knows its address')
  await link.step(orderOf('power', 5), on)
  const unplugged = withNics({ ...nic, connected: false }) as Goal
  assert.equal((await link.step(orderOf('unplug', 6), unplugged)).vm?.power, 'on')
  const more = withNics(nic, second) as Goal
  const refused = { kind: 'wrong-state', detail: 'on' }
  await assert.rejects(link.step(orderOf('more', 7), more), refused)
  await link.step(orderOf('off', 8), { goal: 'power', to: 'off' })
  await link.step(orderOf('more', 9), more)
  const [record] = await Array.fromAsync(link.records())
  assert.deepEqual(record?.spec?.nics, [nic, second])
  const plain = simulatedHost()
  await assert.rejects(plain.step(orderOf('define', 5), more), { kind: 'wrong-state' })
})

test('a host joins its zone, and a lower fencing token is stale', async () => {
  const host = simulatedHost({ hello: { overlay: ready } })
  await using server = await listen(host)
  const link = server.connect()
  const zone = {
    fencingToken: '7',
    remote: 'ssl:192.0.2.1:6642',
    systemId: nic.id,
    tunnelAddress: '192.0.2.7',
    mtu: 1442,
  }
  await link.joinOverlay(zone)
  await link.joinOverlay({ ...zone, fencingToken: '8', remote: 'ssl:[2001:db8::1]:6642' })
  await assert.rejects(link.joinOverlay(zone), { kind: 'stale', detail: '8' })
  assert.equal(host.joined?.remote, 'ssl:[2001:db8::1]:6642')
  const wrong = [
    { remote: 'tcp:192.0.2.1:6642' },
    { remote: 'unix:/run/other.sock' },
    { remote: 'ssl:192.0.2.1:6642,tcp:192.0.2.2:6642' },
    { tunnelAddress: 'example.org' },
    { systemId: 'other' },
    { mtu: 100 },
    { fencingToken: '-1' },
    { uplink: 'x' },
  ]
  for (const part of wrong) {
    const joining = link.joinOverlay({ ...zone, fencingToken: '9', ...part })
    await assert.rejects(joining, { kind: 'invalid' }, JSON.stringify(part))
  }
  await assert.rejects(simulatedHost().joinOverlay(zone), { kind: 'wrong-state' })
})

test('a follower learns the state of the overlay with hello and whenever it changes', async () => {
  const host = simulatedHost({ hello: { overlay: ready } })
  await using server = await listen(host)
  const ended = new AbortController()
  const lines = server.connect().follow('3', ended.signal)[Symbol.asyncIterator]()
  const next = async () => (await lines.next()).value
  const hello = await next()
  assert.deepEqual(hello.kind === 'hello' && hello.hello.overlay, ready)
  assert.equal((await next()).kind, 'listEnd')
  const failing = { state: 'failing', reason: 'ovs-vswitchd does not run', uplinks: [] } as const
  host.changeOverlay(failing)
  assert.deepEqual(await next(), { kind: 'overlay', overlay: failing })
  ended.abort()
})
