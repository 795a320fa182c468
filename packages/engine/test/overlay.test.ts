// Goal: a host joins the newest network server that a cell named to it, with one transaction, and keeps what others configured.
// Method: a real ovsdb-server with the schema of Open vSwitch, without the programs that forward packets.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'

import { reasonWithoutRoot } from '@skerry/lab'
import { map, mapOf, namedUuid, Ovsdb, set, setOf, type OvsdbOperation } from '@skerry/ovsdb'

import { startOvsdbServer } from '../../ovsdb/test/start-ovsdb-server.ts'
import type { HostUplink } from '../src/host/host.ts'
import { overlayDirectory } from '../src/host/paths.ts'
import { joinOverlay, settleOverlay } from '../src/network/overlay.ts'
import { startEmulatedHost } from './emulated-host.ts'

const skip = reasonWithoutRoot('host', 'network') ?? false
const DATABASE = 'Open_vSwitch'
const SCHEMA = '/usr/share/openvswitch/vswitch.ovsschema'

const zone = {
  fencingToken: '7',
  remote: 'ssl:192.0.2.1:6642',
  systemId: '7b0f0dc1-0000-4000-8000-000000000001',
  tunnelAddress: '127.0.0.1',
  mtu: 1442,
}

/** A host whose Open vSwitch is as an administrator left it. */
async function start(uplinks: readonly HostUplink[] = [], uptimeMs = () => 0) {
  await using stack = new AsyncDisposableStack()
  const server = stack.use(await startOvsdbServer({ schema: SCHEMA }))
  const { host, notes } = stack.use(await startEmulatedHost({ uplinks, uptimeMs }))
  const db = stack.use(await Ovsdb.open({ path: server.path }))
  const own = {
    hostname: 'h1',
    'other-program': 'its own',
    'ovn-bridge-mappings': 'ext:br-ext,out:br-old',
    'ovn-remote': 'tcp:x',
  }
  await db.transact(DATABASE, [
    { op: 'insert', table: 'Open_vSwitch', row: { external_ids: map(own) } },
  ])
  const installSwitch = async () => {
    await mkdir(host.paths.openvswitch, { recursive: true })
    await symlink(server.path, join(host.paths.openvswitch, 'db.sock'))
  }
  const root = async () => {
    const columns = ['external_ids', 'next_cfg', 'ssl', 'bridges']
    const [row] = await db.select(DATABASE, 'Open_vSwitch', columns)
    return row ?? assert.fail()
  }
  const ids = async () => Object.fromEntries(mapOf((await root())['external_ids']))
  const all = stack.move()
  return {
    host,
    notes,
    server,
    db,
    installSwitch,
    root,
    ids,
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

test(
  'a host without Open vSwitch joins nothing; with one it waits for its zone',
  { skip },
  async () => {
    await using started = await start()
    const { host } = started
    await settleOverlay(host)
    assert.deepEqual(host.overlay.now, { state: 'none', uplinks: [] })
    await assert.rejects(joinOverlay(host, zone), {
      kind: 'wrong-state',
      message: /no Open vSwitch/,
    })
    await started.installSwitch()
    const before = await started.root()
    await settleOverlay(host)
    assert.match(host.overlay.now.reason ?? '', /has not joined/)
    assert.deepEqual(await started.root(), before, 'nothing is written before that')
  },
)

test(
  'joining is one transaction, leaves what administrators configured, and is not repeated',
  { skip },
  async () => {
    await using started = await start()
    const { host, db } = started
    await started.installSwitch()
    const directory = overlayDirectory(host.paths)
    await mkdir(join(directory, '5'), { recursive: true })
    for (const name of ['5/key.pem', '5/certificate.pem', '5/issuers.pem']) {
      await writeFile(join(directory, name), 'pem')
    }
    await writeFile(join(directory, 'current'), '5')
    let transactions = 0
    await db.monitor(DATABASE, { Open_vSwitch: ['next_cfg', 'external_ids', 'ssl'] }, () => {
      transactions += 1
    })
    await joinOverlay(host, zone)
    assert.deepEqual(await started.ids(), {
      hostname: zone.systemId,
      'system-id': zone.systemId,
      'ovn-remote': zone.remote,
      'ovn-encap-type': 'geneve',
      'ovn-encap-ip': zone.tunnelAddress,
      'ovn-bridge-mappings': 'ext:br-ext',
      'ovn-match-northd-version': 'true',
      'ovn-remote-probe-interval': '60000',
      'ovn-ofctrl-wait-before-clear': '4000',
      'ovn-monitor-all': 'false',
      'ovn-bridge-datapath-type': 'netdev',
      'other-program': 'its own',
    })
    const [bridge, ...others] = await db.select(DATABASE, 'Bridge', ['name', 'fail_mode'])
    assert.deepEqual([bridge, others], [{ name: 'br-int', fail_mode: 'secure' }, []])
    const [tls] = await db.select(DATABASE, 'SSL', ['private_key', 'certificate', 'ca_cert'])
    assert.equal(tls?.['private_key'], join(directory, '5/key.pem'))
    assert.equal(transactions, 1)
    assert.equal(host.overlay.now.reason, 'ovs-vswitchd does not run')
    assert.equal(host.overlay.datapath, 'netdev')
    const kept = await readFile(join(host.paths.switchSettings, 'system-id.conf'), 'utf8')
    assert.equal(kept.trim(), zone.systemId, 'also at the next start of Open vSwitch')

    await joinOverlay(host, { ...zone, fencingToken: '8' })
    await settleOverlay(host)
    assert.equal((await started.root())['next_cfg'], 1, 'it has this configuration already')
  },
)

test(
  'an older network server is refused also after a crash; the token is on disk before anything changes',
  { skip },
  async () => {
    await using started = await start()
    const { host } = started
    await started.installSwitch()
    await joinOverlay(host, zone)
    const before = await started.ids()
    const stale = joinOverlay(host, { ...zone, fencingToken: '6', remote: 'ssl:192.0.2.9:6642' })
    await assert.rejects(stale, { kind: 'stale', detail: '7' })
    assert.deepEqual(await started.ids(), before)
    started.server.process.kill('SIGKILL')
    await once(started.server.process, 'exit')
    await assert.rejects(joinOverlay(host, { ...zone, fencingToken: '9' }), { kind: 'unavailable' })
    const kept = await readFile(join(overlayDirectory(host.paths), 'zone.json'), 'utf8')
    assert.equal((JSON.parse(kept) as { join: typeof zone }).join.fencingToken, '9')
    await assert.rejects(joinOverlay(host, { ...zone, fencingToken: '8' }), { kind: 'stale' })
    await settleOverlay(host)
    assert.equal(host.overlay.now.state, 'failing')
  },
)

test(
  'what others change is restored, and ports of VMs whose device is gone are removed',
  { skip },
  async () => {
    await using started = await start()
    const { host, db } = started
    await started.installSwitch()
    await joinOverlay(host, zone)
    await db.transact(DATABASE, [
      {
        op: 'mutate',
        table: 'Open_vSwitch',
        where: [],
        mutations: [
          ['external_ids', 'delete', set(['system-id', 'ovn-encap-ip'])],
          ['external_ids', 'insert', map({ 'system-id': 'random' })],
        ],
      },
      ...portOf('vnet-gone', 'a', { 'attached-mac': '52:54:00:00:00:01', 'iface-id': 'x' }),
      ...portOf('lo', 'b', { 'attached-mac': '52:54:00:00:00:02', 'iface-id': 'y' }),
      ...portOf('patch-gone', 'c', {}),
    ])
    await settleOverlay(host)
    const ids = await started.ids()
    assert.deepEqual([ids['system-id'], ids['ovn-encap-ip']], [zone.systemId, zone.tunnelAddress])
    const [bridge] = await db.select(DATABASE, 'Bridge', ['ports'], [['name', '==', 'br-int']])
    const ports = await db.select(DATABASE, 'Port', ['_uuid', 'name'])
    const names = setOf(bridge?.['ports']).map(
      (id) => ports.find((port) => JSON.stringify(port['_uuid']) === JSON.stringify(id))?.['name'],
    )
    assert.deepEqual(new Set(names), new Set(['br-int', 'lo', 'patch-gone']))
  },
)

test(
  'uplinks of the operator are added to those of others, and removed when they are not configured any more',
  { skip },
  async () => {
    const site = { name: 'site', device: 'br-site' }
    // The card of a host's own address, as every machine has it.
    await using started = await start([site, { name: 'own', device: 'lo' }])
    const { host, db, notes } = started
    await started.installSwitch()
    await db.transact(DATABASE, [
      { op: 'insert', table: 'Bridge', row: { name: 'br-site' }, 'uuid-name': 'site' },
      {
        op: 'mutate',
        table: 'Open_vSwitch',
        where: [],
        mutations: [['bridges', 'insert', set([namedUuid('site')])]],
      },
    ])
    await joinOverlay(host, zone)
    const ids = await started.ids()
    assert.equal(ids['ovn-bridge-mappings'], 'ext:br-ext,site:br-site')
    const bridges = await db.select(DATABASE, 'Bridge', ['name'])
    assert.deepEqual(new Set(bridges.map(({ name }) => name)), new Set(['br-int', 'br-site']))
    const why = notes.filter((note) => note.includes('uplink'))
    assert.match(why.join(), /^uplink own: lo has an address of this host/)
    await settleOverlay(host)
    assert.equal((await started.root())['next_cfg'], 1, 'it has this configuration already')
    assert.equal(notes.filter((note) => note.includes('uplink')).length, 1, 'it is logged once')

    Object.assign(host, { uplinks: [] })
    await settleOverlay(host)
    assert.equal((await started.ids())['ovn-bridge-mappings'], 'ext:br-ext')
  },
)

test(
  'a controller that lost its connection makes a host failing after ten minutes, one that never had it at once',
  { skip },
  async () => {
    let [minutes, connection] = [0, 'not connected']
    await using started = await start([], () => minutes * 60_000)
    const { host } = started
    await started.installSwitch()
    await joinOverlay(host, zone)
    // Their control sockets, from now on: before that, the switch would have to apply what was configured.
    await using daemons = new AsyncDisposableStack()
    daemons.use(await listenAs(host.paths.openvswitch, 'ovs-vswitchd', () => '3.1.0'))
    daemons.use(await listenAs(host.paths.ovn, 'ovn-controller', () => connection))
    const stateAt = async (minute: number, status: string) => {
      ;[minutes, connection] = [minute, status]
      await settleOverlay(host)
      return host.overlay.now
    }
    const lost = {
      state: 'failing',
      reason: `ovn-controller is not connected to ${zone.remote}`,
      uplinks: [],
    }
    const ready = { state: 'ready', uplinks: [] }
    assert.deepEqual(await stateAt(0, 'not connected'), lost, 'its first cards would be silent')
    assert.deepEqual(await stateAt(1, 'connected'), ready)
    assert.deepEqual(await stateAt(2, 'not connected'), ready)
    assert.deepEqual(await stateAt(10.99, 'not connected'), ready)
    assert.deepEqual(await stateAt(11, 'not connected'), lost)
    assert.deepEqual(await stateAt(12, 'connected'), ready)
    assert.deepEqual(await stateAt(21.99, 'not connected'), ready, 'counted from the beginning')
    assert.deepEqual(await stateAt(22, 'not connected'), lost)
  },
)

/** A daemon that answers every question at its control socket. */
async function listenAs(directory: string, daemon: string, answer: () => string) {
  await mkdir(directory, { recursive: true })
  const server = createServer((socket) => {
    socket.once('data', () => socket.end(JSON.stringify({ id: 0, result: answer(), error: null })))
  }).listen(join(directory, `${daemon}.1.ctl`))
  await once(server, 'listening')
  return {
    async [Symbol.asyncDispose]() {
      server.close()
      await once(server, 'close')
    },
  }
}

function portOf(name: string, key: string, ids: Record<string, string>): OvsdbOperation[] {
  return [
    {
      op: 'insert',
      table: 'Interface',
      row: { name, external_ids: map(ids) },
      'uuid-name': `i${key}`,
    },
    {
      op: 'insert',
      table: 'Port',
      row: { name, interfaces: namedUuid(`i${key}`) },
      'uuid-name': `p${key}`,
    },
    {
      op: 'mutate',
      table: 'Bridge',
      where: [['name', '==', 'br-int']],
      mutations: [['ports', 'insert', set([namedUuid(`p${key}`)])]],
    },
  ]
}
