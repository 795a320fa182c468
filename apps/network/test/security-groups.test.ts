// Goal: OVN does with packets what security groups say, and with replies too. Method: ovn-trace on what northd compiles.
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'

import { eui64Address } from '@skerry/vm'

import { needsOvsdbServer } from '../../../packages/ovsdb/test/start-ovsdb-server.ts'
import { reasonWithoutRoot } from '../../../tools/lab/src/system/packages.ts'
import { routerMac } from '../src/projection/network-rows.ts'
import type {
  ProjectedCloud,
  ProjectedNic,
  ProjectedSecurityGroup,
  SecurityRule,
} from '../src/projection/projected-cloud.ts'
import { smallCloud } from './small-cloud.ts'
import { startOvn, type StartedOvn } from './start-ovn.ts'

const skip = needsOvsdbServer || (reasonWithoutRoot('network') ?? false)
const id = (number: number): string =>
  `00000000-0000-7000-8000-${number.toString(16).padStart(12, '0')}`
const [WEB, CLIENTS, CLOSED, PINGED] = [id(100), id(101), id(102), id(103)]

const rule = (more: Partial<SecurityRule>): SecurityRule => ({
  protocol: 'any',
  ports: null,
  block: null,
  peer: null,
  ...more,
})
const port = (number: number) => ({ low: number, high: number })

const base = smallCloud()
const [first = assert.fail()] = base.nics
const [plain = assert.fail()] = base.networks
const network = { ...plain, ipv6Prefix: 'fd12:3456:789a:1::/64' }
const second = {
  ...network,
  id: id(7),
  ipv6Prefix: 'fd12:3456:789a:2::/64',
  range: { base: 10 * 2 ** 24 + 85 * 2 ** 16, prefix: 24, gateway: '10.85.0.1' },
  key: 4,
  edgePort: 11,
}

const card = (at: number, groups: readonly string[], on = network.id): ProjectedNic => ({
  ...first,
  id: id(0x30 + at),
  network: on,
  address: on === network.id ? `10.84.0.${10 + at}` : `10.85.0.${10 + at}`,
  mac: `52:54:00:00:00:${10 + at}`,
  key: 10 + at,
  groups,
})
const [web, client, stranger, closed] = [
  card(1, [WEB]),
  card(2, [CLIENTS]),
  card(3, []),
  card(4, [CLOSED]),
]
const far = card(5, [CLIENTS], second.id)
const both = card(6, [WEB, CLOSED])
const pinged = card(7, [PINGED])

const { org } = base.networks[0] ?? assert.fail()
const securityGroups: readonly ProjectedSecurityGroup[] = [
  {
    org,
    id: WEB,
    in: [
      rule({ protocol: 'tcp', ports: port(80) }),
      rule({ protocol: 'tcp', ports: port(22), block: '203.0.113.0/24' }),
      rule({ protocol: 'tcp', ports: port(5432), peer: CLIENTS }),
      rule({ protocol: 'icmp', peer: WEB }),
    ],
    out: null,
  },
  { org, id: CLIENTS, in: null, out: null },
  { org, id: PINGED, in: [rule({ protocol: 'icmp' })], out: null },
  {
    org,
    id: CLOSED,
    in: [],
    out: [rule({ protocol: 'udp', ports: port(53), block: '9.9.9.9/32' })],
  },
]

const cloud: ProjectedCloud = {
  ...base,
  networks: [network, second],
  nics: [web, client, stranger, closed, far, both, pinged],
  securityGroups,
}

let ovn: StartedOvn

interface Traced {
  readonly from: ProjectedNic
  readonly to: ProjectedNic
  readonly packet: string
  /** By IPv6. */
  readonly six?: boolean
  /** What conntrack says where it is asked: at the card that sends, then at the one that receives. */
  readonly tracked?: readonly [string, string]
}

const ipv6Of = ({ network: on, mac }: ProjectedNic): string =>
  eui64Address((on === network.id ? network : second).ipv6Prefix, mac)

/** Whether a packet from one card arrives at another, which may be on another network. */
async function arrives({
  from,
  to,
  packet,
  six = false,
  tracked = ['new', 'new'],
}: Traced): Promise<boolean> {
  const inside = from.network === to.network
  const ends = six
    ? `ip6.src == ${ipv6Of(from)} && ip6.dst == ${ipv6Of(to)}`
    : `ip4.src == ${from.address} && ip4.dst == ${to.address}`
  const flow = [
    `inport == "${from.id}" && eth.src == ${from.mac} && eth.dst == ${inside ? to.mac : routerMac(from.network)}`,
    `${ends} && ip.ttl == 64`,
    packet,
  ].join(' && ')
  const states = tracked.flatMap((each) => ['--ct', each])
  const said = await ovn.trace('--minimal', ...states, from.network, flow)
  return said.includes('output("')
}

const tcp = (to: number) => `tcp && tcp.src == 40000 && tcp.dst == ${to}`

suite('security groups in OVN', { skip }, () => {
  before(async () => {
    ovn = await startOvn()
    await ovn.project(cloud)
  })
  after(() => ovn[Symbol.asyncDispose]())

  test('a VM accepts what one of its groups allows, and nothing else', async () => {
    const to80 = { packet: tcp(80) }
    assert.equal(await arrives({ from: stranger, to: web, ...to80 }), true)
    assert.equal(await arrives({ from: stranger, to: web, packet: tcp(81) }), false)
    assert.equal(await arrives({ from: stranger, to: web, packet: tcp(22) }), false)
    assert.equal(await arrives({ from: stranger, to: web, packet: 'udp && udp.dst == 80' }), false)
    assert.equal(await arrives({ from: stranger, to: web, packet: 'ip.proto == 132' }), false)
    assert.equal(await arrives({ from: stranger, to: closed, ...to80 }), false)
    assert.equal(await arrives({ from: stranger, to: both, ...to80 }), true)
    assert.equal(await arrives({ from: web, to: stranger, packet: tcp(81) }), true)
    const echo = { from: stranger, to: pinged, packet: 'icmp4 && icmp4.type == 8' }
    assert.equal(await arrives(echo), true)
    assert.equal(await arrives({ ...echo, tracked: ['est', 'est'] }), true)
    assert.equal(await arrives({ ...echo, packet: tcp(80) }), false)
    assert.equal(await arrives({ ...echo, packet: tcp(80), tracked: ['est', 'est'] }), false)
  })

  test('a peer is recognised by its group, and a group may be its own peer', async () => {
    assert.equal(await arrives({ from: client, to: web, packet: tcp(5432) }), true)
    assert.equal(await arrives({ from: far, to: web, packet: tcp(5432) }), true, 'by the router')
    assert.equal(await arrives({ from: far, to: web, packet: tcp(5433) }), false)
    assert.equal(await arrives({ from: stranger, to: web, packet: tcp(5432) }), false)
    const ping = 'icmp4 && icmp4.type == 8'
    assert.equal(await arrives({ from: both, to: web, packet: ping }), false, 'it may not send it')
    assert.equal(await arrives({ from: web, to: both, packet: ping }), true)
    assert.equal(await arrives({ from: client, to: web, packet: ping }), false)
  })

  test('IPv6 passes as IPv4 does: anybody is everybody, a group its VMs, and a block of IPv4 none of it', async () => {
    const six = true
    assert.equal(await arrives({ from: stranger, to: web, packet: tcp(80), six }), true)
    assert.equal(await arrives({ from: stranger, to: web, packet: tcp(81), six }), false)
    assert.equal(await arrives({ from: stranger, to: closed, packet: tcp(80), six }), false)
    assert.equal(await arrives({ from: closed, to: stranger, packet: tcp(80), six }), false)
    assert.equal(await arrives({ from: client, to: web, packet: tcp(5432), six }), true)
    assert.equal(
      await arrives({ from: far, to: web, packet: tcp(5432), six }),
      true,
      'by the router',
    )
    assert.equal(await arrives({ from: stranger, to: web, packet: tcp(5432), six }), false)
    assert.equal(await arrives({ from: stranger, to: web, packet: tcp(22), six }), false)
    const ping = 'icmp6 && icmp6.type == 128'
    assert.equal(await arrives({ from: stranger, to: pinged, packet: ping, six }), true)
    assert.equal(await arrives({ from: web, to: both, packet: ping, six }), true)
    assert.equal(await arrives({ from: client, to: web, packet: ping, six }), false)
    const reply = 'tcp && tcp.src == 80 && tcp.dst == 40000'
    const answering = { from: closed, to: web, packet: reply, six }
    assert.equal(await arrives({ ...answering, tracked: ['est,rpl', 'est,rpl'] }), true)
  })

  test('neighbours are found whatever the groups are', async () => {
    for (const [from, to] of [
      [closed, stranger],
      [stranger, closed],
    ] as const) {
      const said = await ovn.trace(
        '--minimal',
        network.id,
        `inport == "${from.id}" && eth.src == ${from.mac} && eth.dst == ${to.mac} && ` +
          `ip6.src == ${ipv6Of(from)} && ip6.dst == ${ipv6Of(to)} && ip.ttl == 255 && ` +
          `icmp6.type == 136 && icmp6.code == 0 && nd.target == ${ipv6Of(from)} && nd.tll == ${from.mac}`,
      )
      assert.match(said, /output\("/)
    }
  })

  test('a VM sends what one of its groups allows, and always asks for its address', async () => {
    assert.equal(await arrives({ from: closed, to: stranger, packet: tcp(80) }), false)
    const said = await ovn.trace(
      network.id,
      `inport == "${closed.id}" && eth.src == ${closed.mac} && eth.dst == ff:ff:ff:ff:ff:ff && ` +
        'ip4.src == 0.0.0.0 && ip4.dst == 255.255.255.255 && ip.ttl == 64 && udp.src == 68 && udp.dst == 67',
    )
    assert.match(said, /put_dhcp_opts/)
  })

  test('replies pass, although no rule allows them', async () => {
    const reply = 'tcp && tcp.src == 80 && tcp.dst == 40000'
    const answering = { from: closed, to: web, packet: reply }
    assert.equal(await arrives(answering), false)
    assert.equal(await arrives({ ...answering, tracked: ['est,rpl', 'est,rpl'] }), true)
    assert.equal(await arrives({ ...answering, tracked: ['new', 'est,rpl'] }), false)
  })

  test('a label that changes is a change of the groups of a card', async () => {
    const asking = { from: stranger, to: web, packet: tcp(5432) }
    const nics = cloud.nics.map((nic) =>
      nic === stranger ? { ...stranger, groups: [CLIENTS] } : nic,
    )
    await ovn.project({ ...cloud, nics })
    assert.equal(await arrives(asking), true)
    await ovn.project(cloud)
    assert.equal(await arrives(asking), false)
  })
})
