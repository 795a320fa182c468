// Goal: networks, cards, NAT and firewall rules become the rows of OVN that they mean.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { canonical, mapOf, setOf } from '@skerry/ovsdb'

import type { WantedUnit } from '../src/projection/difference.ts'
import type { NorthboundRow, NorthboundTable } from '../src/projection/northbound-row.ts'
import { northboundOf } from '../src/projection/northbound.ts'
import type { ProjectedCloud } from '../src/projection/projected-cloud.ts'
import { smallCloud } from './small-cloud.ts'

function project(cloud: ProjectedCloud): readonly WantedUnit[] {
  return northboundOf(cloud).map((each) => {
    if ('fault' in each) throw each.fault
    return each
  })
}

const rowsIn = (cloud: ProjectedCloud, table: NorthboundTable): readonly NorthboundRow[] =>
  project(cloud)
    .flatMap(({ rows }) => rows)
    .filter((row) => row.table === table)

const column = (row: NorthboundRow | undefined, name: string) =>
  row?.columns[name] ?? assert.fail(`no ${name}`)

test('a card has its address, its security and its host, and is absent while it is not connected', () => {
  const cloud = smallCloud()
  const [nic] = cloud.nics
  assert.ok(nic)
  const port = rowsIn(cloud, 'Logical_Switch_Port').find(({ id }) => id === nic.id)
  assert.equal(column(port, 'addresses'), `${nic.mac} 10.84.0.10`)
  assert.equal(column(port, 'port_security'), `${nic.mac} 10.84.0.10`)
  assert.equal(mapOf(column(port, 'options')).get('requested-chassis'), nic.host)
  assert.equal(setOf(column(port, 'dhcpv4_options')).length, 1)
  for (const more of [{ connected: false }, { host: null }]) {
    const without = rowsIn({ ...cloud, nics: [{ ...nic, ...more }] }, 'Logical_Switch_Port')
    assert.equal(
      without.some(({ id }) => id === nic.id),
      false,
    )
  }
  const bare = { ...nic, mode: 'NONE', address: null } as const
  const [silent] = rowsIn({ ...cloud, nics: [bare] }, 'Logical_Switch_Port').filter(
    ({ id }) => id === nic.id,
  )
  assert.equal(column(silent, 'addresses'), nic.mac)
  assert.equal(column(silent, 'port_security'), `${nic.mac} 0.0.0.0/0`)
  assert.deepEqual(setOf(column(silent, 'dhcpv4_options')), [])
  // Of a network of the site only the MAC address is known, and it may have IPv6.
  const networks = cloud.networks.map(
    (each) =>
      ({
        ...each,
        kind: 'direct',
        edgeGateway: null,
        edgePort: null,
        external: cloud.externals[0]?.id ?? '',
        range: null,
      }) as const,
  )
  const wired = rowsIn({ ...cloud, networks, nics: [bare] }, 'Logical_Switch_Port')
  const direct = wired.find(({ id }) => id === nic.id)
  assert.equal(column(direct, 'port_security'), nic.mac)
})

test('on a network with IPv6 a card has the address of its MAC address, and the router announces the prefix', () => {
  const ipv6Prefix = 'fd12:3456:789a:1::/64'
  const plain = smallCloud()
  const networks = plain.networks.map((each) => ({ ...each, ipv6Prefix }))
  const cloud = { ...plain, networks }
  const own = 'fd12:3456:789a:1:5054:ff:fe00:1'
  const card = (of: ProjectedCloud) => {
    const port = rowsIn(of, 'Logical_Switch_Port').find(({ id }) => id === plain.nics[0]?.id)
    return [column(port, 'addresses'), column(port, 'port_security')]
  }
  const mac = '52:54:00:00:00:01'
  const sends = `${own} fe80::5054:ff:fe00:1`
  assert.deepEqual(card(cloud), [`${mac} 10.84.0.10 ${own}`, `${mac} 10.84.0.10 ${sends}`])
  const bare = plain.nics.map((nic) => ({ ...nic, mode: 'NONE', address: null }) as const)
  assert.deepEqual(card({ ...cloud, nics: bare }), [`${mac} ${own}`, `${mac} 0.0.0.0/0 ${sends}`])
  const [names] = rowsIn(cloud, 'DNS')
  assert.equal(mapOf(column(names, 'records')).get('web'), `10.84.0.10 ${own}`)
  const inside = (of: ProjectedCloud) => {
    const port = rowsIn(of, 'Logical_Router_Port').find(({ columns }) =>
      String(columns['name']).startsWith('in-'),
    )
    const announced = Object.fromEntries(mapOf(column(port, 'ipv6_ra_configs')))
    return [setOf(column(port, 'networks')), announced]
  }
  assert.deepEqual(inside(cloud), [
    ['10.84.0.1/20', 'fd12:3456:789a:1::1/64'],
    { address_mode: 'slaac', send_periodic: 'true', mtu: '1442' },
  ])
  assert.deepEqual(inside(plain), [['10.84.0.1/20'], {}])
  const policies = rowsIn(cloud, 'Logical_Router_Policy').map((row) => column(row, 'match'))
  assert.ok(policies.includes(`inport == "out-${plain.gateways[0]?.id}" && ip6`))
  const wrong = northboundOf({
    ...cloud,
    networks: [{ ...networks[0], ipv6Prefix: 'fd::1' }] as never,
  })
  assert.ok(wrong.some((each) => 'fault' in each && /prefix of IPv6/.test(each.fault.message)))
})

test('DHCP answers with the address of the router, the MTU, DNS servers and the domain', () => {
  const [options] = rowsIn(smallCloud(), 'DHCP_Options')
  const answered = mapOf(column(options, 'options'))
  assert.equal(column(options, 'cidr'), '10.84.0.0/20')
  assert.equal(answered.get('router'), '10.84.0.1')
  assert.equal(answered.get('mtu'), '1442')
  assert.equal(answered.get('dns_server'), '{192.0.2.53, 9.9.9.9}')
  assert.equal(answered.get('domain_name'), '"lab.example"')
  const [names] = rowsIn(smallCloud(), 'DNS')
  assert.deepEqual(Object.fromEntries(mapOf(column(names, 'records'))), {
    web: '10.84.0.10',
    'web.lab.example': '10.84.0.10',
  })
})

test('a network leaves by the address of its gateway, unless a rule says another', () => {
  const gateway = (nat: unknown) => {
    const cloud = smallCloud()
    return { ...cloud, gateways: cloud.gateways.map((each) => ({ ...each, nat })) }
  }
  const read = (nat: unknown) =>
    rowsIn(gateway(nat), 'NAT').map(({ columns }) => [
      columns['type'],
      columns['external_ip'],
      columns['logical_ip'],
    ])
  assert.deepEqual(read([]), [['snat', '198.51.100.11', '10.84.0.0/20']])
  const external = '198.51.100.12'
  assert.deepEqual(read([{ id: 'a', kind: 'snat', internal: '10.84.0.0/20', external }]), [
    ['snat', external, '10.84.0.0/20'],
  ])
  assert.deepEqual(read([{ id: 'a', kind: 'one-to-one', internal: '10.84.0.10', external }]), [
    ['snat', '198.51.100.11', '10.84.0.0/20'],
    ['dnat_and_snat', external, '10.84.0.10'],
  ])
})

test('a forwarded port is on the router and on the switches behind it', () => {
  const cloud = smallCloud({
    nat: [
      {
        id: 'f',
        kind: 'forward',
        protocol: 'tcp',
        external: '198.51.100.11',
        port: 443,
        internal: '10.84.0.10',
        internalPort: 8443,
      },
    ],
  })
  const [balancer] = rowsIn(cloud, 'Load_Balancer')
  assert.deepEqual([...mapOf(column(balancer, 'vips'))], [['198.51.100.11:443', '10.84.0.10:8443']])
  for (const table of ['Logical_Router', 'Logical_Switch'] as const) {
    const row = rowsIn(cloud, table).find(({ id }) => id !== cloud.groups[0]?.id)
    assert.equal(canonical(column(row, 'load_balancer')), JSON.stringify(['uuid', balancer?.id]))
  }
})

test('a firewall rule for an external address is one for the guest behind it', () => {
  const external = '198.51.100.12'
  const firewall = (rule: object) => ({
    enabled: true,
    otherwise: 'drop',
    rules: [
      {
        id: 'r',
        policy: 'allow',
        direction: 'in',
        protocols: ['tcp'],
        source: 'any',
        destination: 'any',
        ...rule,
      },
    ],
  })
  const nat = [
    { id: 'o', kind: 'one-to-one', external, internal: '10.84.0.10' },
    {
      id: 'f',
      kind: 'forward',
      protocol: 'tcp',
      external,
      port: 443,
      internal: '10.84.0.11',
      internalPort: 8443,
    },
  ]
  const matches = (rule: object) =>
    rowsIn(smallCloud({ nat, firewall: firewall(rule) }), 'ACL')
      .filter(({ columns }) => columns['priority'] === 2000)
      .map(({ columns }) => String(columns['match']).split(' && ').slice(3).join(' && '))
  assert.deepEqual(matches({ destination: external, destinationPorts: { low: 400, high: 500 } }), [
    'ip4.dst == 10.84.0.10 && ((tcp && 400 <= tcp.dst <= 500))',
    'ip4.dst == 10.84.0.11 && ((tcp && tcp.dst == 8443))',
  ])
  assert.deepEqual(matches({ source: '203.0.113.4-203.0.113.7' }), [
    'ip4.src == {203.0.113.4/30} && ((tcp))',
  ])
  assert.deepEqual(matches({ source: 'internal' }), [])
  assert.deepEqual(matches({ protocols: ['any'], destinationPorts: { low: 53, high: 53 } }), [
    '((tcp && tcp.dst == 53) || (udp && udp.dst == 53))',
  ])
})

test('no one outside has an address of a network inside, and guests do not reach the networks of the operator', () => {
  const matches = rowsIn({ ...smallCloud(), protected: ['192.0.2.0/24'] }, 'Logical_Router_Policy')
  const [gateway] = smallCloud().gateways
  assert.deepEqual(
    matches.map((row) => column(row, 'match')),
    [
      `inport == "out-${gateway?.id}" && ip4.src == {10.84.0.0/20}`,
      `outport == "out-${gateway?.id}" && ip4.dst == {192.0.2.0/24}`,
    ],
  )
})

test('what is not an address or a port is refused, and only its unit fails', () => {
  const other = '198.51.100.99'
  const wrong: readonly [RegExp, object][] = [
    [
      /198\.51\.100\.99 is not an external address/,
      { nat: [{ id: 'n', kind: 'one-to-one', external: other, internal: '10.84.0.10' }] },
    ],
    [
      /is in no network/,
      { nat: [{ id: 'n', kind: 'one-to-one', external: '198.51.100.12', internal: '10.9.0.10' }] },
    ],
    [
      /must be an IPv4 address or network/,
      {
        firewall: {
          enabled: true,
          otherwise: 'drop',
          rules: [
            {
              id: 'r',
              policy: 'allow',
              direction: 'in',
              protocols: ['any'],
              source: '1.2.3.4 || 1',
              destination: 'any',
            },
          ],
        },
      },
    ],
    [
      /must be in one of/,
      { routes: [{ id: 'r', network: '172.16.0.0/12', nexthop: '192.0.2.1' }] },
    ],
    [/NAT rules/, { nat: 'none' }],
  ]
  for (const [expected, rules] of wrong) {
    const projections = northboundOf(smallCloud(rules))
    const failed = projections.filter((each) => 'fault' in each)
    assert.equal(failed.length, 1)
    assert.match(failed[0]?.fault.message ?? '', expected)
    assert.ok(projections.length > 1)
  }
})

test('an error that no check foresees fails only its unit', () => {
  const cloud = smallCloud()
  const unreadable = cloud.networks.map((network) => ({ ...network, dns: null as never }))
  const projections = northboundOf({ ...cloud, networks: unreadable })
  const failed = projections.filter((each) => 'fault' in each)
  assert.deepEqual(
    failed.map(({ unit, fault }) => [unit, fault.message.includes('TypeError')]),
    [[`edge gateway/${cloud.gateways[0]?.id}`, true]],
  )
  assert.equal(projections.length, 2)
})
