// Goal: a card sends only what is its own, and IPv6 only on a network that has it. Method: packets traced through the flows
// that a real ovn-controller writes into a switch without devices. ovn-trace would not do: its port security differs from that of hosts.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'

import { eui64Address } from '@skerry/vm'

import {
  needsOvsdbServer,
  startOvsdbServer,
} from '../../../packages/ovsdb/test/start-ovsdb-server.ts'
import { reasonWithoutRoot } from '../../../tools/lab/src/system/packages.ts'
import { SLOW_POLL_MS, until } from '../../../tools/lab/src/system/wait.ts'
import { runTool, startProgram } from '../src/engines/child.ts'
import type { ProjectedCloud, ProjectedNic } from '../src/projection/projected-cloud.ts'
import { smallCloud } from './small-cloud.ts'
import { startOvn } from './start-ovn.ts'

const skip = needsOvsdbServer || (reasonWithoutRoot('network') ?? false)
const WAIT_MS = 120_000
const SCHEMA = '/usr/share/openvswitch/vswitch.ovsschema'

const base = smallCloud()
const [first = assert.fail()] = base.nics
const [routed = assert.fail()] = base.networks
const id = (number: number): string => `00000000-0000-7000-8000-0000000000${number}`
const CLOSED = id(90)

/** The number of a card is also that of its port in the switch. */
const card = (number: number, more: Partial<ProjectedNic>): ProjectedNic => ({
  ...first,
  id: id(30 + number),
  address: `10.84.0.1${number}`,
  mac: `52:54:00:00:00:0${number}`,
  key: 10 + number,
  ...more,
})
const own = card(1, {})
const guarded = card(2, { groups: [CLOSED] })
const bare = card(3, { mode: 'NONE', address: null })
const plain = [own, guarded, bare]

const PREFIX = 'fd12:3456:789a:1::/64'
const SECOND = id(91)
const dual = card(4, { network: SECOND, address: '10.85.0.14' })
const closed = card(5, { network: SECOND, address: '10.85.0.15', groups: [CLOSED] })
const open = card(6, { network: SECOND, address: '10.85.0.16' })
const cards = [...plain, dual, closed, open]

const cloud: ProjectedCloud = {
  ...base,
  networks: [
    { ...routed, kind: 'isolated', edgeGateway: null, edgePort: null },
    {
      ...routed,
      id: SECOND,
      range: { base: 10 * 2 ** 24 + 85 * 2 ** 16, prefix: 24, gateway: '10.85.0.1' },
      ipv6Prefix: PREFIX,
      key: 4,
    },
  ],
  nics: cards,
  securityGroups: [{ org: first.org, id: CLOSED, in: [], out: null }],
}

const stack = new AsyncDisposableStack()
let control: string

const neighboursOf = ({ network }: ProjectedNic): number =>
  cards.filter((each) => each.network === network).length - 1

/** The ports at which a packet arrives. */
async function arrivals(from: ProjectedNic, packet: string): Promise<readonly number[]> {
  const flow = `in_port=${cards.indexOf(from) + 1},${packet}`
  const said = await runTool([
    '/usr/bin/ovs-appctl',
    '-t',
    control,
    'ofproto/trace',
    'br-int',
    flow,
  ])
  return [...said.matchAll(/output:(\d+)/g)]
    .map(([, port]) => Number(port))
    .toSorted((one, other) => one - other)
}

const frame = (mac: string, to = 'ff:ff:ff:ff:ff:ff') => `dl_src=${mac},dl_dst=${to}`
const arp = ({ mac }: ProjectedNic, address: string, sender = mac) =>
  `${frame(mac)},arp,arp_op=1,arp_spa=${address},arp_tpa=10.84.0.200,arp_sha=${sender}`
const ip4 = (from: ProjectedNic, source: string, to: ProjectedNic) =>
  `${frame(from.mac, to.mac)},udp,nw_src=${source},nw_dst=${to.address ?? '10.84.0.77'},nw_ttl=64,udp_dst=9`
const ip6 = 'dl_type=0x86dd,ipv6_src=fe80::1,nw_ttl=255'
const toAll6 = (mac: string) => `${frame(mac, '33:33:00:00:00:01')},${ip6},ipv6_dst=ff02::1`

suite('what cards can send', { skip }, () => {
  before(async () => {
    const ovn = stack.use(await startOvn())
    await ovn.project(cloud)
    const database = stack.use(await startOvsdbServer({ schema: SCHEMA }))
    const { directory } = database
    const configure = (...words: readonly string[]) =>
      runTool(['/usr/bin/ovs-vsctl', `--db=unix:${database.path}`, ...words])
    const start = async (name: string, program: string, words: readonly string[]) => {
      const at = ['env', `OVS_RUNDIR=${directory}`, `OVN_RUNDIR=${directory}`]
      const quiet = ['-vconsole:off', '-vsyslog:off']
      const command = [...at, program, `unix:${database.path}`, ...quiet, ...words]
      const child = await startProgram(name, command, () => undefined)
      stack.defer(() => child.stop())
    }
    control = join(directory, 'switch.ctl')
    await configure('--no-wait', 'init')
    await start('switch', '/usr/sbin/ovs-vswitchd', [
      '--enable-dummy=override',
      '--disable-system',
      `--unixctl=${control}`,
    ])
    const settings = {
      'system-id': first.host ?? '',
      'ovn-remote': `unix:${ovn.southbound}`,
      'ovn-encap-type': 'geneve',
      'ovn-encap-ip': '127.0.0.1',
    }
    const ids = Object.entries(settings).map(([key, value]) => `external_ids:${key}="${value}"`)
    await configure('set', 'Open_vSwitch', '.', ...ids)
    await configure('add-br', 'br-int', '--', 'set', 'Bridge', 'br-int', 'fail_mode=secure')
    for (const [at, nic] of cards.entries()) {
      const port = `card${at + 1}`
      const options = ['type=dummy', `ofport_request=${at + 1}`, `external_ids:iface-id=${nic.id}`]
      await configure('add-port', 'br-int', port, '--', 'set', 'Interface', port, ...options)
    }
    await start('controller', '/usr/bin/ovn-controller', [])
    const isHeard = async (nic: ProjectedNic) =>
      (await arrivals(nic, arp(nic, nic.address ?? '10.84.0.77'))).length === neighboursOf(nic)
    for (const nic of cards) {
      await until(`card ${nic.id} is heard`, () => isHeard(nic), WAIT_MS, SLOW_POLL_MS)
    }
  })
  after(() => stack.disposeAsync())

  test('a card sends from its own addresses only', async () => {
    const [address, theirs] = [own.address ?? '', guarded.address ?? '']
    assert.deepEqual(await arrivals(own, ip4(own, address, bare)), [3])
    assert.deepEqual(await arrivals(bare, ip4(bare, '10.84.0.77', own)), [1], 'it has none')
    for (const [what, packet] of Object.entries({
      'another MAC address': arp({ ...own, mac: guarded.mac }, address),
      'another MAC address in ARP': arp(own, address, guarded.mac),
      'the address of the router in ARP': arp(own, routed.range?.gateway ?? ''),
      'the address of another card': ip4(own, theirs, bare),
      'another protocol': `${frame(own.mac)},dl_type=0x1234`,
    })) {
      assert.deepEqual(await arrivals(own, packet), [], what)
    }
    assert.deepEqual(await arrivals(bare, arp({ ...bare, mac: own.mac }, '10.84.0.77')), [])
  })

  test('a card on a network with IPv6 sends from its own IPv6 addresses only', async () => {
    const [address, linkLocal] = [
      eui64Address(PREFIX, dual.mac),
      eui64Address('fe80::/64', dual.mac),
    ]
    const theirs = [eui64Address(PREFIX, closed.mac), eui64Address('fe80::/64', closed.mac)]
    const toAll = (source: string) =>
      `${frame(dual.mac, '33:33:00:00:00:01')},udp6,ipv6_src=${source},ipv6_dst=ff02::1,nw_ttl=64,udp_dst=9`
    const solicit = (source: string, option: string) =>
      `${frame(dual.mac, '33:33:ff:00:00:05')},icmp6,ipv6_src=${source},ipv6_dst=ff02::1:ff00:5,nw_ttl=255,` +
      `icmpv6_type=135,icmpv6_code=0,nd_target=fe80::5,nd_sll=${option}`
    // A group lets nothing pass to one of the others but neighbour discovery.
    for (const source of [address, linkLocal]) {
      assert.deepEqual(await arrivals(dual, toAll(source)), [6], source)
      assert.deepEqual(await arrivals(dual, solicit(source, dual.mac)), [5, 6], source)
      assert.deepEqual(await arrivals(open, toAll(source)), [], 'from another card')
    }
    for (const source of [...theirs, `${PREFIX.slice(0, -3)}1`, '2001:db8::1']) {
      assert.deepEqual(await arrivals(dual, toAll(source)), [], source)
      assert.deepEqual(await arrivals(dual, solicit(source, dual.mac)), [], source)
    }
    const advertise = (target: string, option: string) =>
      `${frame(dual.mac, '33:33:00:00:00:01')},icmp6,ipv6_src=${linkLocal},ipv6_dst=ff02::1,nw_ttl=255,` +
      `icmpv6_type=136,icmpv6_code=0,nd_target=${target},nd_tll=${option}`
    for (const target of [address, linkLocal]) {
      assert.deepEqual(await arrivals(dual, advertise(target, dual.mac)), [5, 6], target)
      assert.deepEqual(await arrivals(dual, advertise(target, closed.mac)), [], 'another MAC')
    }
    for (const target of theirs) {
      assert.deepEqual(await arrivals(dual, advertise(target, dual.mac)), [], target)
    }
    // No rule of OVN stops it, so networks have IPv6 only if their organisation wants it.
    const announced = `${toAll6(dual.mac).replace('fe80::1', linkLocal)},nw_proto=58,icmpv6_type=134,icmpv6_code=0`
    assert.deepEqual(await arrivals(dual, announced), [5, 6], 'a router advertisement')
    const from = eui64Address(PREFIX, closed.mac)
    const answer = `${frame(closed.mac, dual.mac)},udp6,ipv6_src=${from},ipv6_dst=${address},nw_ttl=64,udp_dst=9`
    assert.deepEqual(await arrivals(closed, answer), [4])
  })

  test('a card on a network without IPv6 sends none: OVN lets announcements of routers pass every security group', async () => {
    for (const nic of plain) {
      for (const [what, packet] of Object.entries({
        'a router advertisement': `${toAll6(nic.mac)},nw_proto=58,icmpv6_type=134,icmpv6_code=0`,
        'a neighbour solicitation': `${toAll6(nic.mac)},nw_proto=58,icmpv6_type=135,icmpv6_code=0`,
        'a neighbour advertisement': `${toAll6(nic.mac)},nw_proto=58,icmpv6_type=136,icmpv6_code=0`,
        'DHCP for IPv6': `${toAll6(nic.mac)},nw_proto=17,udp_src=547,udp_dst=546`,
        'a packet to one card': `${frame(nic.mac, guarded.mac)},${ip6},ipv6_dst=fe80::2,nw_proto=6,tcp_dst=80`,
      })) {
        assert.deepEqual(await arrivals(nic, packet), [], `${nic.id}: ${what}`)
      }
    }
  })
})
