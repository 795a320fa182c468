// Goal: a packet passes a card if a security group of its VM allows it, and the firewall of its edge gateway does too. Method: random
// packets in random clouds, decided by the rules as users read them, and by the ACLs as OVN does.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { setOf, uuidOf } from '@skerry/ovsdb'
import { eui64Address, isWithin, readBlock } from '@skerry/vm'

import { seededRandom, type SeededRandom } from '../../../tools/lab/src/system/seeded-random.ts'
import { projectedNics } from '../src/projection/network-rows.ts'
import type { NorthboundRow } from '../src/projection/northbound-row.ts'
import { northboundOf } from '../src/projection/northbound.ts'
import type {
  ProjectedCloud,
  ProjectedNic,
  SecurityRule,
} from '../src/projection/projected-cloud.ts'
import { networkUnit } from '../src/projection/unit.ts'
import { evaluate, type MatchNames, type Packet } from './match-language.ts'
import { randomCloud } from './random-cloud.ts'

const CLOUDS = 1000
const PACKETS = 20
type Side = 'in' | 'out'

const numbers = { tcp: 6, udp: 17, icmp: 1 } as const

const addressOf = ({ address }: ProjectedNic): string | null => address

const ipv6Of =
  ({ networks }: ProjectedCloud) =>
  ({ network, mac }: ProjectedNic): string | null => {
    const prefix = networks.find(({ id }) => id === network)?.ipv6Prefix ?? null
    return prefix === null ? null : eui64Address(prefix, mac)
  }

/** What the rules say. */
function isAllowed(
  cloud: ProjectedCloud,
  nic: ProjectedNic,
  side: Side,
  packet: Packet,
  neighbours: readonly ProjectedNic[],
): boolean {
  const groups = cloud.securityGroups.filter(({ id }) => nic.groups.includes(id))
  const limits = groups.flatMap((group) => (group[side] === null ? [] : [group[side]]))
  if (limits.length === 0) return true
  const peer = side === 'in' ? packet.src : packet.dst
  const allows = (rule: SecurityRule): boolean => {
    if (rule.protocol === 'icmp' ? ![1, 58].includes(packet.protocol) : false) return false
    if (rule.protocol === 'tcp' || rule.protocol === 'udp') {
      if (packet.protocol !== numbers[rule.protocol]) return false
      const { low, high } = rule.ports ?? { low: 0, high: 65_535 }
      if (packet.dstPort < low || packet.dstPort > high) return false
    }
    if (rule.block !== null) return packet.family === 4 && isWithin(peer, readBlock(rule.block))
    if (rule.peer === null) return true
    // Pings of one version of IP in the other are no pings.
    const echoes = packet.family === 4 ? 1 : 58
    if (rule.protocol === 'icmp' && packet.protocol !== echoes) return false
    const { peer: group } = rule
    const address = packet.family === 4 ? addressOf : ipv6Of(cloud)
    return neighbours.some((each) => address(each) === peer && each.groups.includes(group))
  }
  return limits.flat().some(allows)
}

/** What OVN does with a packet of a new connection. */
function verdict(
  rows: readonly NorthboundRow[],
  side: Side,
  packet: Packet,
  names: MatchNames,
): boolean {
  const direction = side === 'in' ? 'to-lport' : 'from-lport'
  const acls = rows
    .filter(({ table, columns }) => table === 'ACL' && columns['direction'] === direction)
    .map(({ columns }) => columns)
    .toSorted((one, other) => Number(other['priority']) - Number(one['priority']))
  const first = acls.find(({ match }) => evaluate(String(match), packet, names))
  return first === undefined || first['action'] !== 'drop'
}

/** The port groups of a unit, and the sets of addresses that OVN makes of them. */
function namesIn(
  cloud: ProjectedCloud,
  rows: readonly NorthboundRow[],
  nics: readonly ProjectedNic[],
): MatchNames {
  const cards = new Map(nics.map((nic) => [nic.id, nic]))
  const groups = new Map(
    rows
      .filter(({ table }) => table === 'Port_Group')
      .map(({ columns }) => [
        String(columns['name']),
        new Set(setOf(columns['ports']).map(uuidOf)),
      ]),
  )
  const sets = [...groups].flatMap(([name, ports]) => {
    const members = [...ports].flatMap((port) => cards.get(port) ?? [])
    const all = (of: (nic: ProjectedNic) => string | null) =>
      new Set(members.flatMap((nic) => of(nic) ?? []))
    return [
      [`${name}_ip4`, all(addressOf)],
      [`${name}_ip6`, all(ipv6Of(cloud))],
    ] as const
  })
  return { groups, sets: new Map(sets) }
}

function randomPacket(
  random: SeededRandom,
  cloud: ProjectedCloud,
  nic: ProjectedNic,
  side: Side,
  neighbours: readonly ProjectedNic[],
): Packet {
  const family = random.below(4) === 0 ? 6 : 4
  const address = family === 4 ? addressOf : ipv6Of(cloud)
  const near = neighbours.flatMap((each) => address(each) ?? [])
  const elsewhere =
    family === 4
      ? (['203.0.113.7', '203.0.113.200', '9.9.9.9', '10.84.0.3'] as const)
      : (['2001:db8::7', 'fe80::5054:ff:fe00:1'] as const)
  const peer = random.pick<string>([...elsewhere, ...near])
  const own = address(nic) ?? (family === 4 ? '192.0.2.77' : '2001:db8::1')
  const isIn = side === 'in'
  return {
    inport: isIn ? 'elsewhere' : nic.id,
    outport: isIn ? nic.id : 'elsewhere',
    family,
    src: isIn ? peer : own,
    dst: isIn ? own : peer,
    protocol: random.pick([1, 6, 6, 6, 17, 17, 47, 58, 132, 0, 255]),
    srcPort: 40_000,
    dstPort: random.pick([0, 1, 21, 22, 23, 80, 100, 122, 443, 999, 1000, 1101, 65_535]),
  }
}

test(`a packet passes if a group of the VM and the edge gateway allow it, in ${CLOUDS} random clouds`, () => {
  const seen = { passed: 0, stopped: 0 }
  for (let seed = 0; seed < CLOUDS; seed++) {
    const random = seededRandom(seed)
    const cloud = randomCloud(random)
    const units = new Map(cloud.networks.map((network) => [network.id, networkUnit(network)]))
    const unitOf = ({ network }: ProjectedNic) => units.get(network) ?? ''
    const nicsIn = Map.groupBy(projectedNics(cloud.nics), unitOf)
    for (const projection of northboundOf(cloud)) {
      if ('fault' in projection) throw projection.fault
      const { unit, rows } = projection
      const nics = nicsIn.get(unit) ?? []
      const names = namesIn(cloud, rows, nics)
      const firewall = rows.filter(({ columns }) => {
        const priority = Number(columns['priority'])
        return priority >= 1000 && priority <= 2000
      })
      for (let count = 0; nics.length > 0 && count < PACKETS; count++) {
        const nic = nics[random.below(nics.length)] ?? assert.fail('no card')
        const side = random.pick(['in', 'out'] as const)
        const packet = randomPacket(random, cloud, nic, side, nics)
        const expected =
          isAllowed(cloud, nic, side, packet, nics) && verdict(firewall, side, packet, names)
        const why = `seed ${seed}, ${side}, ${JSON.stringify(packet)}`
        assert.equal(verdict(rows, side, packet, names), expected, why)
        seen[expected ? 'passed' : 'stopped']++
      }
    }
  }
  assert.ok(seen.passed > 5000 && seen.stopped > 5000, JSON.stringify(seen))
})
