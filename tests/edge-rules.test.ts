// Goal: rules that a cell accepts are rules that a network server can project, and documents of rules are read as they were written.
// Method: random rules, most of them acceptable, many nearly so; the same functions as cells and network servers use.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { Fault } from '@skerry/fault'
import { blockAround, type FirewallProtocol } from '@skerry/vm'
import { renderElement, readXml } from '@skerry/xml'

import { edgeServices as document } from '../apps/cloud/src/documents/edge/edge-services.ts'
import {
  planServices,
  type PlannedServices,
  type WantedFirewallRule,
  type WantedNatRule,
  type WantedServices,
} from '../apps/cloud/src/domain/edge-services.ts'
import { servicesIn } from '../apps/cloud/src/params/edge/services.ts'
import { northboundOf } from '../apps/network/src/projection/northbound.ts'
import { smallCloud } from '../apps/network/test/small-cloud.ts'
import { seededRandom, type SeededRandom } from '../tools/lab/src/system/seeded-random.ts'

const TRIES = 2000

const around = {
  address: '198.51.100.11',
  addresses: ['198.51.100.11', '198.51.100.12'],
  networks: [blockAround('10.84.0.0', 20)],
  outside: blockAround('198.51.100.1', 24),
}
const first: PlannedServices = {
  nat: [],
  firewall: { enabled: true, otherwise: 'drop', rules: [] },
  routes: [],
  nextRule: 65_537,
}

const externals = [
  '198.51.100.11',
  '198.51.100.12',
  '198.51.100.12',
  '198.51.100.13',
  '198.51.100.011',
] as const
const internals = ['10.84.0.10', '10.84.15.254', '10.84.16.1', '10.84.0', '0.0.0.0'] as const
const blocks = [
  '10.84.0.0/20',
  '10.84.0.7',
  '10.84.1.0/24',
  '10.84.0.0/16',
  '10.84.0.0/33',
] as const
const peers = [
  'any',
  'internal',
  'external',
  '203.0.113.7',
  '203.0.113.0/25',
  '203.0.113.3-203.0.113.90',
  '203.0.113.9-203.0.113.3',
  '198.51.100.12',
  '10.84.0.10',
  '1.2.3.4 || 1',
  'all',
] as const
const ports = [1, 22, 443, 65_535, 0] as const

const few = <T>({ below }: SeededRandom, most: number, make: () => T): T[] =>
  Array.from({ length: below(most + 1) }, make)

function natRule(random: SeededRandom): WantedNatRule {
  const external = random.pick(externals)
  const more = {
    ...(random.below(8) === 0 && { enabled: false }),
    ...(random.below(3) === 0 && { id: '65537' }),
  }
  const kind = random.pick(['one-to-one', 'forward', 'snat'] as const)
  if (kind === 'snat') return { ...more, kind, external, internal: random.pick(blocks) }
  const internal = random.pick(internals)
  if (kind === 'one-to-one') return { ...more, kind, external, internal }
  const protocol = random.pick(['tcp', 'udp'] as const)
  return {
    ...more,
    kind,
    protocol,
    external,
    port: random.pick(ports),
    internal,
    internalPort: random.pick(ports),
  }
}

const portRange = (random: SeededRandom) => {
  const [one, other] = [random.pick(ports), random.pick(ports)]
  return { low: Math.min(one, other), high: Math.max(one, other) }
}

function firewallRule(random: SeededRandom): WantedFirewallRule {
  return {
    ...(random.below(8) === 0 && { enabled: false }),
    ...(random.below(2) === 0 && { direction: random.pick(['in', 'out'] as const) }),
    ...(random.below(3) === 0 && { description: 'a & b < c' }),
    policy: random.pick(['allow', 'drop'] as const),
    protocols: random.pick<readonly FirewallProtocol[]>([
      ['any'],
      ['tcp'],
      ['tcp', 'udp'],
      ['icmp'],
      ['tcp', 'icmp'],
    ]),
    source: random.pick(peers),
    destination: random.pick(peers),
    ...(random.below(2) === 0 && { destinationPorts: portRange(random) }),
    ...(random.below(4) === 0 && { sourcePorts: portRange(random) }),
  }
}

const services = (random: SeededRandom): WantedServices => ({
  ...(random.below(3) > 0 && { nat: few(random, 3, () => natRule(random)) }),
  ...(random.below(3) > 0 && {
    firewall: {
      enabled: random.below(5) > 0,
      otherwise: random.pick(['allow', 'drop'] as const),
      rules: few(random, 3, () => firewallRule(random)),
    },
  }),
  ...(random.below(3) > 0 && {
    routes: few(random, 2, () => ({
      network: random.pick([
        '172.16.0.0/12',
        '172.16.5.5/12',
        '192.168.0.0/16',
        '0.0.0.0/0',
        'lan',
      ] as const),
      nexthop: random.pick(['10.84.0.9', '198.51.100.1', '192.0.2.1'] as const),
    })),
  }),
})

/** Undefined: the cell refuses it. */
function accepted(before: PlannedServices, wanted: WantedServices): PlannedServices | undefined {
  try {
    return planServices(before, wanted, around)
  } catch (fault) {
    assert.ok(fault instanceof Fault, String(fault))
    assert.equal(fault.kind, 'invalid')
    return undefined
  }
}

test(`what a cell accepts is projected, in ${TRIES} random changes one after the other`, () => {
  const random = seededRandom(19)
  let [now, taken, refused] = [first, 0, 0]
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const planned = accepted(now, services(random))
    if (!planned) {
      refused += 1
      continue
    }
    taken += 1
    now = planned
    const { nat, firewall, routes } = JSON.parse(JSON.stringify(planned)) as PlannedServices
    for (const projection of northboundOf(smallCloud({ nat, firewall, routes }))) {
      assert.ok(!('fault' in projection), JSON.stringify([projection, planned]))
    }
  }
  assert.ok(taken > TRIES / 20, `${taken} were accepted`)
  assert.ok(refused > TRIES / 20, `${refused} were refused`)
})

test('a document of rules is read as it was written, with the same ids', () => {
  const random = seededRandom(20)
  let now = first
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    now = accepted(now, services(random)) ?? now
    const outside = { name: 'office', href: 'https://cloud.example/x', type: 'application/x+xml' }
    // A rule for icmp alone has no ports in documents that clients write.
    const rules = now.firewall.rules.filter(
      ({ protocols }) => !protocols.every((each) => each === 'icmp'),
    )
    const written = { ...now, firewall: { ...now.firewall, rules } }
    const read = servicesIn(readXml(renderElement(document(written, outside))))
    assert.deepEqual(planServices(written, read, around), written)
  }
})
