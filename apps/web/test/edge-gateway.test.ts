// Goal: changes of an edge gateway touch what they mean and can be made again; who reaches whom follows from its rules.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { EdgeGatewayDocument, EdgeServicesDocument } from '../src/api/edge-documents.ts'
import {
  addRoute,
  firewallRulesOf,
  linesOfServices,
  moveFirewall,
  natRulesOf,
  publishPort,
  removeNat,
  switchFirewall,
  unpublishPort,
} from '../src/model/networks/edge-gateway.ts'
import { differenceOf } from '../src/model/networks/lines-difference.ts'
import {
  firewallCommand,
  natCommand,
  publishCommand,
  routeCommand,
} from '../src/model/networks/network-commands.ts'
import { planReach } from '../src/model/networks/reach-layout.ts'
import { reachGatewayOf, reachRows, type ReachFacts } from '../src/model/networks/reach.ts'

const OWN = '203.0.113.10'
const rule = (id: string, policy: 'allow' | 'drop', ports: string, others: object = {}) => ({
  id,
  isEnabled: true,
  policy,
  protocols: { tcp: true },
  sourceIp: 'Any',
  sourcePortRange: 'Any',
  destinationIp: OWN,
  destinationPortRange: ports,
  direction: 'in' as const,
  ...others,
})

const forward = (id: string, port: string) => ({
  id,
  ruleType: 'DNAT' as const,
  gatewayNatRule: {
    originalIp: OWN,
    originalPort: port,
    translatedIp: '10.20.0.2',
    translatedPort: '8443',
    protocol: 'tcp',
  },
})

const services: EdgeServicesDocument = {
  firewallService: {
    isEnabled: true,
    defaultAction: 'drop',
    firewallRule: [
      rule('1', 'allow', '443'),
      rule('2', 'drop', '25', {
        direction: 'out',
        sourceIp: '10.84.0.0/20',
        destinationIp: 'external',
      }),
      rule('3', 'allow', '8000-8080', { sourceIp: '198.51.100.0/24' }),
    ],
  },
  natService: { natRule: [forward('4', '443'), forward('5', '8080'), forward('6', '22')] },
  staticRoutingService: {},
}

const gateway: EdgeGatewayDocument = {
  name: 'default',
  href: '/api/admin/edgeGateway/1',
  version: 3,
  configuration: {
    gatewayInterfaces: {
      gatewayInterface: [
        {
          name: 'office',
          network: { name: 'office' },
          interfaceType: 'uplink',
          subnetParticipation: { ipAddress: OWN },
        },
        ...['default', 'web'].map((name) => ({
          name,
          network: { name },
          interfaceType: 'internal' as const,
        })),
      ],
    },
    edgeGatewayServiceConfiguration: services,
  },
}

test('a published port is a forward and a firewall rule in one change, and names no other service', () => {
  const change = publishPort({
    external: OWN,
    port: 80,
    internal: '10.20.0.3',
    internalPort: 8080,
    protocol: 'tcp',
    description: 'shop',
  })
  const sent = change(services)
  assert.deepEqual(Object.keys(sent).toSorted(), ['firewallService', 'natService'])
  assert.deepEqual(
    natRulesOf(sent).map(({ id }) => id),
    ['4', '5', '6', undefined],
  )
  const [first] = firewallRulesOf(sent)
  assert.deepEqual(
    [first?.policy, first?.destinationIp, first?.destinationPortRange, first?.direction],
    ['allow', OWN, '80', 'in'],
  )
  assert.equal(sent.firewallService?.defaultAction, 'drop')
})

test('a port is unpublished with the rule that lets it in, unless another rule forwards it too', () => {
  const wider = rule('7', 'allow', '443', { protocols: { tcp: true, udp: true } })
  const more = {
    ...services,
    firewallService: {
      ...services.firewallService,
      firewallRule: [...firewallRulesOf(services), wider],
    },
  }
  const sent = unpublishPort(forward('4', '443'))(more)
  assert.deepEqual(Object.keys(sent).toSorted(), ['firewallService', 'natService'])
  const ids = (changed: EdgeServicesDocument) => [
    natRulesOf(changed).map(({ id }) => id),
    firewallRulesOf(changed).map(({ id }) => id),
  ]
  assert.deepEqual(ids(sent), [
    ['5', '6'],
    ['2', '3', '7'],
  ])
  assert.equal(sent.firewallService?.defaultAction, 'drop')
  const twice = { ...services, natService: { natRule: [forward('4', '443'), forward('8', '443')] } }
  assert.deepEqual(ids(unpublishPort(forward('4', '443'))(twice)), [['8'], ['1', '2', '3']])
})

test('rules are moved, switched and removed by their number, and a rule at the end stays', () => {
  const order = (changed: EdgeServicesDocument) => firewallRulesOf(changed).map(({ id }) => id)
  assert.deepEqual(order(moveFirewall('3', -1)(services)), ['1', '3', '2'])
  assert.deepEqual(order(moveFirewall('3', 1)(services)), ['1', '2', '3'])
  assert.deepEqual(order(moveFirewall('1', -1)(services)), ['1', '2', '3'])
  assert.equal(firewallRulesOf(switchFirewall('2', false)(services))[1]?.isEnabled, false)
  assert.deepEqual(
    natRulesOf(removeNat('5')(services)).map(({ id }) => id),
    ['4', '6'],
  )
})

test('a change of rules is a command line that does the same', () => {
  const [allowed, dropped] = firewallRulesOf(services)
  assert.ok(allowed && dropped)
  assert.equal(
    firewallCommand(allowed, 'default', undefined),
    `skerry firewall allow --protocol tcp --port 443 --to ${OWN} --edge default`,
  )
  assert.equal(
    firewallCommand(dropped, 'default', '1'),
    'skerry firewall deny --out --protocol tcp --port 25 --from 10.84.0.0/20 --to external --before 1 --edge default',
  )
  const [first] = natRulesOf(services)
  assert.ok(first)
  assert.equal(
    natCommand(first, 'till 2'),
    `skerry nat add forward ${OWN}:443 10.20.0.2:8443 --edge 'till 2'`,
  )
  const whole = { originalIp: OWN, translatedIp: '10.20.0.2' }
  assert.equal(
    natCommand({ ruleType: 'DNAT', gatewayNatRule: whole }, 'default'),
    `skerry nat add one-to-one ${OWN} 10.20.0.2 --edge default`,
  )
  const leaving = { originalIp: '10.20.0.0/24', translatedIp: OWN }
  assert.equal(
    natCommand({ ruleType: 'SNAT', gatewayNatRule: leaving }, 'default'),
    `skerry nat add snat ${OWN} 10.20.0.0/24 --edge default`,
  )
  assert.equal(
    routeCommand({ network: '10.0.0.0/8', nextHopIp: OWN, name: 'plant' }, 'default'),
    `skerry route add 10.0.0.0/8 ${OWN} --name plant --edge default`,
  )
  const published = {
    external: OWN,
    port: 80,
    internal: '10.20.0.3',
    internalPort: 80,
    protocol: 'tcp',
    description: '',
  } as const
  assert.equal(
    publishCommand('web', published, { card: 0, own: OWN }),
    'skerry publish web --port 80',
  )
  const other = { ...published, internalPort: 8080, protocol: 'udp' } as const
  assert.equal(
    publishCommand('web', other, { card: 1, own: '203.0.113.9' }),
    `skerry publish web --port 80:8080 --protocol udp --address ${OWN} --card 1`,
  )
})

test('what someone else changed is listed rule by rule', () => {
  const now = { ...services, ...removeNat('6')(services) }
  const after = { ...now, ...addRoute({ network: '10.0.0.0/8', nextHopIp: OWN })(now) }
  assert.deepEqual(differenceOf(linesOfServices(services), linesOfServices(after)), {
    added: [`10.0.0.0/8 by ${OWN}`],
    removed: [`tcp ${OWN}:22 → 10.20.0.2:8443`],
  })
})

test('the first firewall rule that matches decides whether a published port passes', () => {
  const { ports, otherwise } = reachGatewayOf(gateway)
  assert.deepEqual(
    ports.map(({ outside, passage }) => [outside, passage]),
    [
      [`${OWN}:443`, 'open'],
      // Only one network may connect.
      [`${OWN}:8080`, 'some'],
      [`${OWN}:22`, 'blocked'],
    ],
  )
  assert.equal(otherwise, 'drop')
  const disabled = { ...services, firewallService: { isEnabled: false } }
  const open = reachGatewayOf({
    ...gateway,
    configuration: { ...gateway.configuration, edgeGatewayServiceConfiguration: disabled },
  })
  assert.ok(open.ports.every(({ passage }) => passage === 'open'))
})

const network = (
  name: string,
  kind: 'routed' | 'isolated' | 'direct',
  range: string,
  vms: number,
) => ({
  name,
  href: `/api/network/${name}`,
  kind,
  range,
  vms,
  vmNames: vms > 3 ? [] : Array.from({ length: vms }, (_, at) => `${name}-${at}`),
})
const facts: ReachFacts = {
  gateways: [reachGatewayOf(gateway)],
  networks: [
    network('default', 'routed', '10.84.0.0/20', 340),
    network('web', 'routed', '10.20.0.0/24', 2),
    network('backend', 'isolated', '192.168.10.0/24', 0),
    { ...network('plant', 'direct', '', 2), external: 'site' },
  ],
}
const words = {
  outside: 'Outside',
  otherwise: 'all else',
  anythingElse: 'all else of',
  eachOther: 'each other',
  isolated: 'no edge gateway',
  kind: ({ kind }: { readonly kind: string }) => kind,
  vms: (n: number) => `${n} VMs`,
  more: (n: number) => `and ${n} more`,
}

test('the table says who reaches whom: ports, all else, ways out, direct and isolated networks', () => {
  const rows = reachRows(facts, words).map(({ from, to, passage }) => [from, to, passage])
  assert.deepEqual(rows.slice(3), [
    ['Outside', 'all else of default, web', 'blocked'],
    ['default', 'Outside', 'some'],
    ['web', 'Outside', 'open'],
    ['default, web', 'tcp 25: 10.84.0.0/20 → external', 'blocked'],
    ['default, web', 'each other', 'open'],
    ['Outside', 'plant', 'open'],
    ['plant', 'Outside', 'open'],
    ['backend', 'Outside', 'blocked'],
  ])
})

test('the boxes of the drawing do not overlap, and every published port is a line', () => {
  const { boxes, lines, width, height } = planReach(facts, words)
  for (const [at, one] of boxes.entries()) {
    assert.ok(one.x + one.width <= width && one.y + one.height <= height, one.key)
    for (const other of boxes.slice(at + 1)) {
      const isApart =
        one.x + one.width <= other.x ||
        other.x + other.width <= one.x ||
        one.y + one.height <= other.y ||
        other.y + other.height <= one.y
      assert.ok(isApart, `${one.key} and ${other.key}`)
    }
  }
  const labelled = lines.filter(({ label }) => label !== '')
  assert.deepEqual(
    labelled.map(({ passage }) => passage),
    ['open', 'some', 'blocked', 'blocked'],
  )
  assert.ok(boxes.some(({ texts }) => texts.some(({ text }) => text === '340 VMs')))
  // A direct network is joined to its external network, without an edge gateway between them.
  const site = boxes.find(({ key }) => key === 'external site')
  const joined = lines.find(({ key }) => key.startsWith('direct '))
  assert.ok(site && joined?.x1 === site.x + site.width)
  assert.ok(joined.y1 > site.y && joined.y1 < site.y + site.height)
  assert.ok(boxes.some(({ texts }) => texts.some(({ text }) => text === 'web-1')))
})
