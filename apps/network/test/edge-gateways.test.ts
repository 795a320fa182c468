// Goal: an edge gateway routes to where it may, whatever its organisation configures. Method: ovn-trace on what northd compiles.
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'

import { eui64Address } from '@skerry/vm'

import { needsOvsdbServer } from '../../../packages/ovsdb/test/start-ovsdb-server.ts'
import { reasonWithoutRoot } from '../../../tools/lab/src/system/packages.ts'
import { runTool } from '../src/engines/child.ts'
import { derivedMac } from '../src/projection/derived-id.ts'
import { outsidePortName } from '../src/projection/edge-gateway-rows.ts'
import { routerMac, routerPortName } from '../src/projection/network-rows.ts'
import type { ProjectedCloud } from '../src/projection/projected-cloud.ts'
import { smallCloud } from './small-cloud.ts'
import { startOvn, type StartedOvn } from './start-ovn.ts'

const skip = needsOvsdbServer || (reasonWithoutRoot('network') ?? false)

// Its second network has the addresses of a network of the operator, and a route leads half of them to the outside.
const base = smallCloud({
  firewall: { enabled: true, otherwise: 'allow', rules: [] },
  routes: [{ id: 'r', network: '10.85.0.0/25', nexthop: '198.51.100.1' }],
})
const [nic = assert.fail()] = base.nics
const [network = assert.fail()] = base.networks
const [gateway = assert.fail()] = base.gateways
const [group = assert.fail()] = base.groups
const second = {
  ...network,
  id: '00000000-0000-7000-8000-000000000007',
  range: { base: 10 * 2 ** 24 + 85 * 2 ** 16, prefix: 24, gateway: '10.85.0.1' },
  key: 4,
  edgePort: 11,
}
const PREFIX = 'fd12:3456:789a:1::/64'
const dual = { ...second, ipv6Prefix: PREFIX }
const near = {
  ...nic,
  id: '00000000-0000-7000-8000-000000000008',
  network: second.id,
  address: '10.85.0.200',
  mac: '52:54:00:00:00:02',
}
const cloud: ProjectedCloud = {
  ...base,
  protected: ['10.85.0.0/24', '192.0.2.0/24'],
  networks: [network, dual],
  nics: [nic, near],
}

const UDP = 'udp && udp.src == 40000 && udp.dst == 53'
const wire = `wire-${group.id}`
let ovn: StartedOvn

/** The ports at which a packet of the first card arrives. */
async function sentTo(address: string): Promise<readonly string[]> {
  const packet = [
    `inport == "${nic.id}" && eth.src == ${nic.mac} && eth.dst == ${routerMac(network.id)}`,
    `ip4.src == ${nic.address} && ip4.dst == ${address} && ip.ttl == 64 && ${UDP}`,
  ]
  return arrivals(network.id, packet.join(' && '))
}

/** The same for a packet from the external network to the first card, with this source. */
async function receivedFrom(address: string): Promise<readonly string[]> {
  const to = derivedMac(gateway.id, 'out')
  const packet = [
    `inport == "${wire}" && eth.src == 02:00:00:00:00:01 && eth.dst == ${to}`,
    `ip4.src == ${address} && ip4.dst == ${nic.address} && ip.ttl == 64 && ${UDP}`,
  ]
  return arrivals(group.id, packet.join(' && '))
}

async function arrivals(at: string, packet: string): Promise<readonly string[]> {
  const names = ['--no-friendly-names', '--minimal']
  const said = await ovn.trace(...names, '--ct', 'new', '--ct', 'new', at, packet)
  return [...said.matchAll(/output\("([^"]*)"\)/g)].map(([, port]) => port ?? '')
}

suite('edge gateways in OVN', { skip }, () => {
  before(async () => {
    ovn = await startOvn()
    await ovn.project(cloud)
  })
  after(() => ovn[Symbol.asyncDispose]())

  test('guests do not reach the networks of the operator, also not by a route into a network of their own', async () => {
    assert.deepEqual(await sentTo('203.0.113.5'), [wire])
    assert.deepEqual(await sentTo('192.0.2.5'), [])
    assert.deepEqual(await sentTo('10.85.0.5'), [])
    assert.deepEqual(await sentTo('10.85.0.200'), [near.id], 'a network of their own')
  })

  test('a packet from outside with an address of a network inside is dropped', async () => {
    assert.deepEqual(await receivedFrom('203.0.113.5'), [nic.id])
    assert.deepEqual(await receivedFrom('10.85.0.200'), [])
    assert.deepEqual(await receivedFrom('10.84.0.11'), [])
  })

  test('an edge gateway routes no IPv6', async () => {
    const packet = (port: string, mac: string, to: string) =>
      `inport == "${port}" && eth.src == 02:00:00:00:00:01 && eth.dst == ${mac} && ` +
      `ip6.src == 2001:db8::1 && ip6.dst == ${to} && ip.ttl == 64 && ${UDP}`
    const inside = [routerPortName(network.id), routerMac(network.id)] as const
    const outside = [outsidePortName(gateway.id), derivedMac(gateway.id, 'out')] as const
    const withIpv6 = [routerPortName(dual.id), routerMac(dual.id)] as const
    for (const [port, mac] of [inside, withIpv6, outside]) {
      assert.deepEqual(await arrivals(gateway.id, packet(port, mac, '2001:db8::2')), [])
    }
    // To a guest: between networks of the gateway, and not from outside.
    const guest = eui64Address(PREFIX, near.mac)
    assert.deepEqual(await arrivals(gateway.id, packet(...inside, guest)), [near.id])
    assert.deepEqual(await arrivals(gateway.id, packet(...outside, guest)), [])
  })

  test('the router of a network with IPv6 announces its prefix, and no other router does', async () => {
    // ovn-trace cannot follow a packet through these flows.
    const flows = await runTool(['/usr/bin/ovn-sbctl', `--db=unix:${ovn.southbound}`, 'lflow-list'])
    const announced = flows.split('\n').filter((flow) => flow.includes('put_nd_ra_opts'))
    assert.equal(announced.length, 1, announced.join('\n'))
    const [flow = ''] = announced
    assert.ok(flow.includes(`inport == "${routerPortName(dual.id)}"`), flow)
    assert.match(flow, /addr_mode = "slaac".*mtu = 1442/)
    assert.ok(flow.includes(`prefix = ${PREFIX}`), flow)
  })
})
