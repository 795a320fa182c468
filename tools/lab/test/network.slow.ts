// Goal: hosts of a lab carry networks of tenants across hosts, and leave nothing behind. Method: OVN's databases are filled by hand, and
// network namespaces on the hosts act as guests.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { map, namedUuid, Ovsdb, set, type OvsdbOperation } from '@skerry/ovsdb'

import { reasonToSkip, startLab, until, type LabHost } from '../src/index.ts'
import { allMounts } from '../src/system/mounts.ts'
import { findMarked, isAlive } from '../src/system/processes.ts'
import { ownMachine } from './own-machine.ts'
import { startOvnCentral, type OvnCentral } from './start-ovn-central.ts'

const skip = reasonToSkip('host', 'network', 'small') ?? false
const REACHED_MS = 60_000
/** What fits into a packet of 1,442 bytes, the largest of a guest in a network of hosts with 1,500. */
const LARGEST_PING = 1_414

interface GuestCard {
  readonly name: string
  readonly mac: string
  readonly address: string
}
const card = (name: string, number: number, address: string): GuestCard => ({
  name,
  mac: `52:54:00:00:00:0${number}`,
  address,
})
const blue1 = card('blue-1', 1, '192.168.10.21')
const blue2 = card('blue-2', 2, '192.168.10.22')
// Of another tenant, with addresses of the first.
const green1 = card('green-1', 3, '192.168.10.21')
const green2 = card('green-2', 4, '192.168.10.23')
const outside = card('outside', 5, '198.51.100.20')

test(
  'guests on two hosts reach each other through OVN, and those of another tenant do not hear them',
  { skip },
  async () => {
    await using directory = await mkdtempDisposable(join(tmpdir(), 'lab-'))
    const dir = join(directory.path, 'a')
    const inits: number[] = []
    const pids: number[] = []
    {
      await using lab = await startLab({ dir, hosts: 2, network: true })
      const [one, two] = lab.hosts
      assert.ok(one && two)
      await using central = await startOvnCentral(join(directory.path, 'ovn'), lab.netns)
      await fill(central)
      for (const host of lab.hosts) {
        await leadToWorld(host)
        await joinOverlay(host, central)
        inits.push(host.init)
        pids.push(...Object.values(host.openVswitch?.pids ?? {}))
      }
      assert.equal(pids.length, 6)
      await Promise.all([addGuest(one, blue1), addGuest(one, green1), addGuest(one, outside)])
      await Promise.all([addGuest(two, blue2), addGuest(two, green2)])
      await untilUp(central, [blue1, blue2, green1, green2, outside])

      await untilReached(one, blue1, blue2.address)
      await untilReached(one, green1, green2.address)
      await untilWhole(one, blue1, blue2.address)
      assert.match(await ping(one, blue1, green2.address), / 100% packet loss/)
      await untilReached(one, outside, '198.51.100.1')
      assert.equal(await send(one, blue1, two, blue2), 3_000_000)

      // What a host does with packets of its guests does not depend on OVN's programs.
      await two.killSwitchDaemon('ovn-controller')
      await central[Symbol.asyncDispose]()
      await untilWhole(one, blue1, blue2.address)
      await two.startSwitch()
      assert.notEqual(two.openVswitch?.pids['ovn-controller'], undefined)
    }
    assert.deepEqual([...inits, ...pids].filter(isAlive), [])
    assert.deepEqual(
      findMarked((path) => path.startsWith(dir)),
      [],
    )
    assert.deepEqual(
      allMounts().filter(({ at }) => at.startsWith(dir)),
      [],
    )
    assert.equal(existsSync(dir), false)
  },
)

test(
  'up --network starts a switch on every host, which comes back with power, and down leaves no trace',
  { skip },
  async () => {
    await using own = await ownMachine()
    const { dir, lab, machine } = own
    const before = await own.traces()
    const at = ['--dir', join(dir, 'n')]
    const up = await lab('up', ...at, '--hosts', '2', '--network')
    assert.equal(up.code, 0, up.stderr)
    const report = up.report()
    const [one, two] = report.hosts
    assert.ok(one?.openVswitch && two?.openVswitch)
    const daemons = ['ovsdb-server', 'ovs-vswitchd', 'ovn-controller']
    assert.deepEqual(Object.keys(one.openVswitch.pids), daemons)
    assert.deepEqual((await lab('status', ...at)).report(), report)
    const reach = (address: string) =>
      machine.run(['ip', 'netns', 'exec', one.netns, ...pingOf(address)])
    const isReached = async () =>
      (await reach(two.address)).stdout.includes('5 packets received, 0% packet loss')
    await until('host-2 should be reached', isReached)

    await lab('power-cut', ...at, 'host-2')
    const on = await lab('power-on', ...at, 'host-2')
    assert.deepEqual(Object.keys(on.report().hosts[1]?.openVswitch?.pids ?? {}), daemons, on.stderr)
    await until('host-2 should be reached again', async () => (await reach(two.address)).code === 0)

    assert.equal((await lab('down', ...at)).code, 0)
    assert.deepEqual(await own.traces(), before)
  },
)

test('a lab that was started without a network does not get one later', { skip }, async () => {
  await using own = await ownMachine()
  const at = ['--dir', join(own.dir, 'n')]
  assert.equal((await own.lab('up', ...at)).code, 0)
  const { code, stderr } = await own.lab('up', ...at, '--network')
  assert.equal(code, 1)
  assert.match(stderr, /host-1 was started without a network: take it down and start again/)
})

/** Two tenants with a network each, and one network that is the world's own. */
async function fill({ path }: OvnCentral): Promise<void> {
  await using ovsdb = await Ovsdb.open({ path })
  const network = (name: string, guests: readonly GuestCard[]): OvsdbOperation[] => {
    const ports = guests.map((guest): OvsdbOperation => {
      const addresses = `${guest.mac} ${guest.address}`
      const row = { name: guest.name, addresses, port_security: addresses }
      return { op: 'insert', table: 'Logical_Switch_Port', row, 'uuid-name': nameOf(guest) }
    })
    const row = { name, ports: set(guests.map((guest) => namedUuid(nameOf(guest)))) }
    return [...ports, { op: 'insert', table: 'Logical_Switch', row }]
  }
  const options = map({ network_name: 'ext' })
  await ovsdb.transact('OVN_Northbound', [
    ...network('blue', [blue1, blue2]),
    ...network('green', [green1, green2]),
    ...network('world', [outside]),
    {
      op: 'insert',
      table: 'Logical_Switch_Port',
      row: { name: 'wire', type: 'localnet', addresses: 'unknown', options },
      'uuid-name': 'wire',
    },
    {
      op: 'mutate',
      table: 'Logical_Switch',
      where: [['name', '==', 'world']],
      mutations: [['ports', 'insert', namedUuid('wire')]],
    },
  ])
}

const nameOf = ({ name }: GuestCard): string => name.replace('-', '_')

/** Makes a bridge of the host's second card. */
async function leadToWorld(host: LabHost): Promise<void> {
  const words =
    'add-br br-ext -- set bridge br-ext datapath_type=netdev -- add-port br-ext eth1'.split(' ')
  const { code, stderr } = await host.run(['ovs-vsctl', '--timeout=30', ...words])
  assert.equal(code, 0, stderr)
}

/** Writes into the host's own database where OVN's is. */
async function joinOverlay(host: LabHost, { remote }: OvnCentral): Promise<void> {
  await using ovsdb = await Ovsdb.open({ path: host.openVswitch?.socket ?? '' })
  const ids = map({
    'system-id': host.name,
    'ovn-remote': remote,
    'ovn-encap-type': 'geneve',
    'ovn-encap-ip': host.address ?? '',
    'ovn-bridge-mappings': 'ext:br-ext',
  })
  await ovsdb.transact('Open_vSwitch', [
    {
      op: 'mutate',
      table: 'Open_vSwitch',
      where: [],
      mutations: [['external_ids', 'insert', ids]],
    },
  ])
}

/** A network namespace on the host, whose card is a port of OVN's bridge there. */
async function addGuest(host: LabHost, { name, mac, address }: GuestCard): Promise<void> {
  const port = `t-${name}`
  const commands = [
    `ip netns add ${name}`,
    `ip link add ${port} type veth peer name eth0 address ${mac} netns ${name}`,
    `ip -n ${name} link set eth0 mtu 1442 up`,
    `ip -n ${name} address add ${address}/24 dev eth0`,
    `ip netns exec ${name} ethtool -K eth0 tx off`,
    `ip link set ${port} up`,
    `ovs-vsctl --timeout=30 add-port br-int ${port} -- set interface ${port} external_ids:iface-id=${name}`,
  ]
  for (const command of commands) {
    const { code, stderr } = await host.run(command.split(' '))
    assert.equal(code, 0, `${command}: ${stderr}`)
  }
}

/** Waits until OVN knows that hosts have all of these cards. */
async function untilUp({ path }: OvnCentral, guests: readonly GuestCard[]): Promise<void> {
  await using ovsdb = await Ovsdb.open({ path })
  const missing = new Set<unknown>(guests.map(({ name }) => name))
  const { promise, resolve } = Promise.withResolvers<void>()
  const columns = ['logical_port', 'up']
  const rows = await ovsdb.monitor('OVN_Southbound', { Port_Binding: columns }, (changes) => {
    for (const { new: row } of changes.get('Port_Binding')?.values() ?? []) {
      if (row?.['up'] === true) missing.delete(row['logical_port'])
    }
    if (missing.size === 0) resolve()
  })
  for (const row of rows.get('Port_Binding')?.values() ?? []) {
    if (row['up'] === true) missing.delete(row['logical_port'])
  }
  if (missing.size > 0) await promise
}

const pingOf = (address: string): string[] =>
  `busybox ping -c 5 -W 2 -s ${LARGEST_PING} ${address}`.split(' ')

async function ping(host: LabHost, { name }: GuestCard, address: string): Promise<string> {
  return (await host.run(['ip', 'netns', 'exec', name, ...pingOf(address)])).stdout
}

/** The other host learns where a guest is some time after OVN does. */
async function untilReached(host: LabHost, { name }: GuestCard, address: string): Promise<void> {
  const once = ['ip', 'netns', 'exec', name, 'busybox', 'ping', '-c', '1', '-W', '1', address]
  await until(
    `${name} should reach ${address}`,
    async () => (await host.run(once)).code === 0,
    REACHED_MS,
  )
}

/** On a busy machine one of five packets may come too late. */
const untilWhole = (host: LabHost, guest: GuestCard, address: string) =>
  until(
    `${guest.name} should lose no packet`,
    async () => (await ping(host, guest, address)).includes(' 0% packet loss'),
    REACHED_MS,
  )

/** Sends three megabytes by TCP, and returns how many bytes arrived. */
async function send(
  fromHost: LabHost,
  from: GuestCard,
  toHost: LabHost,
  to: GuestCard,
): Promise<number> {
  const receive = `require('net').createServer((s) => { let n = 0
    s.on('data', (d) => { n += d.length }).on('end', () => { console.log(n); s.end(); process.exit() }) }).listen(80)`
  const transmit = `const s = require('net').connect(80, '${to.address}').on('error', () => process.exit(1))
    s.on('connect', () => s.end(Buffer.alloc(3_000_000))).on('close', () => process.exit()).resume()`
  const inside = ({ name }: GuestCard, script: string) =>
    ['ip', 'netns', 'exec', name, process.execPath].concat('-e', script)
  const received = toHost.run(inside(to, receive))
  await until(
    'the receiver should listen',
    async () => (await fromHost.run(inside(from, transmit))).code === 0,
    REACHED_MS,
  )
  return Number((await received).stdout)
}
