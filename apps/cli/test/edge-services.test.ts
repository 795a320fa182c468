// Goal: a change of the rules of an edge gateway changes what it means and nothing else. Method: documents in, documents out.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { childrenByLocalName, element, readXml, text, type Element } from '@skerry/xml'

import {
  addFirewallRule,
  addNatRule,
  addRoute,
  moveFirewallRule,
  removeFirewallRules,
  removeNatRules,
  removeRoutes,
} from '../src/cloud/edge/change-services.ts'
import { publishedAt, publishPort, unpublishPort } from '../src/cloud/edge/publication.ts'
import {
  firewallIn,
  gatewayIn,
  natRulesIn,
  routesIn,
  servicesOf,
} from '../src/cloud/edge/seen-gateway.ts'

const OFFICE = 'https://cloud.example/api/admin/extension/externalnet/1'
const fire = (id: number, policy: string, more: string) =>
  `<FirewallRule><Id>${id}</Id><IsEnabled>true</IsEnabled><Policy>${policy}</Policy>${more}</FirewallRule>`
const gateway = readXml(`<EdgeGateway name="default" version="3"><Configuration>
  <GatewayInterfaces>
    <GatewayInterface><Name>office</Name><Network name="office" href="${OFFICE}"/><InterfaceType>uplink</InterfaceType><SubnetParticipation><Gateway>203.0.113.1</Gateway><IpAddress>203.0.113.7</IpAddress></SubnetParticipation></GatewayInterface>
    <GatewayInterface><Name>default</Name><InterfaceType>internal</InterfaceType></GatewayInterface>
  </GatewayInterfaces>
  <EdgeGatewayServiceConfiguration>
    <FirewallService><IsEnabled>true</IsEnabled><DefaultAction>drop</DefaultAction>
      ${fire(65537, 'allow', '<Protocols><Tcp>true</Tcp></Protocols><Port>22</Port><DestinationIp>203.0.113.7</DestinationIp><SourceIp>198.51.100.0/24</SourceIp><Unknown>kept</Unknown>')}
      ${fire(65538, 'drop', '<Protocols><Any>true</Any></Protocols><DestinationIp>Any</DestinationIp><SourcePort>-1</SourcePort><SourceIp>internal</SourceIp>')}
    </FirewallService>
    <NatService><IsEnabled>true</IsEnabled>
      <NatRule><RuleType>DNAT</RuleType><IsEnabled>true</IsEnabled><Id>65539</Id><GatewayNatRule><Interface name="office" href="${OFFICE}"/><OriginalIp>203.0.113.7</OriginalIp><OriginalPort>22</OriginalPort><TranslatedIp>10.84.0.10</TranslatedIp><TranslatedPort>22</TranslatedPort><Protocol>tcp</Protocol></GatewayNatRule></NatRule>
      <NatRule><RuleType>DNAT</RuleType><IsEnabled>true</IsEnabled><Id>65540</Id><GatewayNatRule><OriginalIp>203.0.113.8</OriginalIp><OriginalPort>any</OriginalPort><TranslatedIp>10.84.0.11</TranslatedIp></GatewayNatRule></NatRule>
      <NatRule><RuleType>SNAT</RuleType><IsEnabled>false</IsEnabled><Id>65541</Id><GatewayNatRule><OriginalIp>10.84.0.0/20</OriginalIp><TranslatedIp>203.0.113.9</TranslatedIp></GatewayNatRule></NatRule>
    </NatService>
    <StaticRoutingService><IsEnabled>true</IsEnabled>
      <StaticRoute><Name>plant</Name><Network>192.168.50.7/24</Network><NextHopIp>10.84.0.9</NextHopIp><Unknown>kept</Unknown></StaticRoute>
      <StaticRoute><Network>172.16.0.0/12</Network><NextHopIp>203.0.113.254</NextHopIp></StaticRoute>
    </StaticRoutingService>
  </EdgeGatewayServiceConfiguration></Configuration></EdgeGateway>`)
const services = servicesOf(gateway) as Element
const idsOf = (changed: Element) => firewallIn(changed).rules.map(({ id }) => id)
const natIds = (changed: Element) => natRulesIn(changed).map(({ id }) => id)
const unchanged = (changed: Element): readonly string[] =>
  changed.children
    .filter((part) => typeof part !== 'string' && services.children.includes(part))
    .map((part) => (part as Element).name)

test('a gateway is read with its address outside, its networks, its rules and its routes', () => {
  const { nat, firewall, ...rest } = gatewayIn(gateway)
  assert.deepEqual(rest, {
    name: 'default',
    version: 3,
    external: 'office',
    address: '203.0.113.7',
    networks: ['default'],
    routes: [
      { network: '192.168.50.7/24', nexthop: '10.84.0.9', name: 'plant' },
      { network: '172.16.0.0/12', nexthop: '203.0.113.254', name: '' },
    ],
  })
  assert.deepEqual(
    nat.map(({ kind, external, port, internal, enabled }) => [
      kind,
      external,
      port,
      internal,
      enabled,
    ]),
    [
      ['forward', '203.0.113.7', 22, '10.84.0.10', true],
      ['one-to-one', '203.0.113.8', null, '10.84.0.11', true],
      ['snat', '203.0.113.9', null, '10.84.0.0/20', false],
    ],
  )
  assert.deepEqual(
    firewall.rules.map(({ policy, direction, protocols, ports }) => [
      policy,
      direction,
      protocols,
      ports,
    ]),
    [
      ['allow', 'in', ['tcp'], '22'],
      ['deny', 'out', ['any'], 'any'],
    ],
  )
})

test('a NAT rule is added without an id, and the firewall and the routes stay as they are', () => {
  const wanted = { external: '203.0.113.7', internal: '10.84.0.12' }
  const changed = addNatRule(services, {
    ...wanted,
    kind: 'forward',
    port: 443,
    internalPort: 8443,
  })
  assert.deepEqual(unchanged(changed), ['FirewallService', 'StaticRoutingService'])
  assert.deepEqual(natRulesIn(changed).at(-1), {
    id: '',
    enabled: true,
    kind: 'forward',
    protocol: 'tcp',
    external: '203.0.113.7',
    port: 443,
    internal: '10.84.0.12',
    internalPort: 8443,
  })
  assert.throws(
    () => addNatRule(services, { ...wanted, kind: 'forward', port: 22 }),
    /port 22 of 203\.0\.113\.7 is forwarded to 10\.84\.0\.10/,
  )
  const udp = addNatRule(services, { ...wanted, kind: 'forward', port: 22, protocol: 'udp' })
  assert.equal(natRulesIn(udp).length, 4)
  const source = addNatRule(services, { ...wanted, kind: 'snat', internal: '10.20.0.0/24' })
  assert.equal(natRulesIn(source).at(-1)?.internal, '10.20.0.0/24')
})

test('rules are removed by their ids, all or none', () => {
  assert.deepEqual(natIds(removeNatRules(services, ['65539', '65541'])), ['65540'])
  assert.deepEqual(idsOf(removeFirewallRules(services, ['65537'])), ['65538'])
  assert.throws(() => removeNatRules(services, ['65539', '7']), /there is no rule 7/)
  assert.throws(() => removeFirewallRules(services, ['65539']), /there is no rule 65539/)
})

test('a firewall rule is added and moved; the others keep their order and what we do not know', () => {
  const wanted = {
    policy: 'deny',
    direction: 'in',
    protocols: ['tcp', 'udp'],
    source: '198.51.100.66',
    destination: 'any',
  } as const
  assert.deepEqual(idsOf(addFirewallRule(services, wanted)), ['65537', '65538', ''])
  assert.deepEqual(idsOf(addFirewallRule(services, wanted, '65538')), ['65537', '', '65538'])
  const last = moveFirewallRule(services, '65537', undefined)
  assert.deepEqual(idsOf(last), ['65538', '65537'])
  assert.deepEqual(idsOf(moveFirewallRule(last, '65537', '65538')), ['65537', '65538'])
  assert.deepEqual(idsOf(moveFirewallRule(services, '65537', '65537')), ['65537', '65538'])
  assert.throws(() => moveFirewallRule(services, '65537', '7'), /there is no rule 7/)
  const [service] = childrenByLocalName(last, 'FirewallService')
  const moved = childrenByLocalName(service, 'FirewallRule').at(-1)
  assert.equal(text(childrenByLocalName(moved, 'Unknown')[0]), 'kept')
})

test('a static route is added and removed by its network, however that is spelt; the others stay as they are', () => {
  const added = addRoute(services, { network: '10.9.1.2/16', nexthop: '10.84.0.9', name: '' })
  assert.deepEqual(unchanged(added), ['FirewallService', 'NatService'])
  const targets = (changed: Element) => routesIn(changed).map(({ network }) => network)
  assert.deepEqual(targets(added), ['192.168.50.7/24', '172.16.0.0/12', '10.9.0.0/16'])
  assert.throws(
    () => addRoute(services, { network: '192.168.50.0/24', nexthop: '10.84.0.8', name: '' }),
    /packets to 192\.168\.50\.0\/24 go to 10\.84\.0\.9 already/,
  )
  assert.deepEqual(targets(removeRoutes(added, ['192.168.50.0/24', '10.9.0.0/16'])), [
    '172.16.0.0/12',
  ])
  assert.throws(
    () => removeRoutes(services, ['172.16.0.0/12', '172.16.0.0/13']),
    /there is no route to 172\.16\.0\.0\/13/,
  )
  const [service] = childrenByLocalName(
    removeRoutes(added, ['172.16.0.0/12']),
    'StaticRoutingService',
  )
  const [first] = childrenByLocalName(service, 'StaticRoute')
  assert.equal(text(childrenByLocalName(first, 'Unknown')[0]), 'kept')
  const none = element('EdgeGatewayServiceConfiguration')
  const only = addRoute(none, { network: '10.9.1.2', nexthop: '10.84.0.9', name: 'one' })
  assert.deepEqual(routesIn(only), [{ network: '10.9.1.2/32', nexthop: '10.84.0.9', name: 'one' }])
})

const web = {
  vm: 'web',
  external: '203.0.113.7',
  port: 443,
  internal: '10.84.0.12',
  internalPort: 8443,
  protocol: 'tcp',
  from: 'any',
} as const

test('a published port has a forward and the first rule of the firewall, and a second time changes nothing', () => {
  const once = publishPort(services, web)
  assert.equal(natRulesIn(once).at(-1)?.internalPort, 8443)
  const [first] = firewallIn(once).rules
  assert.deepEqual(
    [first?.policy, first?.destination, first?.ports, first?.source, first?.direction],
    ['allow', '203.0.113.7', '443', 'any', 'in'],
  )
  assert.equal(publishPort(once, web), once)
  assert.throws(
    () => publishPort(services, { ...web, port: 22, internalPort: 22 }),
    /forwarded to 10\.84\.0\.10/,
  )
})

test('what was published is found, and ended with its firewall rule', () => {
  assert.deepEqual(publishedAt(services, '10.84.0.10', 22), { address: '203.0.113.7', port: 22 })
  assert.deepEqual(publishedAt(services, '10.84.0.11', 22), { address: '203.0.113.8', port: 22 })
  assert.equal(publishedAt(services, '10.84.0.12', 22), undefined)
  const ssh = { vm: 'old', internal: '10.84.0.10', port: 22, protocol: 'tcp' } as const
  const ended = unpublishPort(services, ssh)
  assert.deepEqual([natIds(ended), idsOf(ended)], [['65540', '65541'], ['65538']])
  assert.throws(
    () => unpublishPort(services, { ...ssh, port: 80 }),
    /port 80 of old is not published/,
  )
})
