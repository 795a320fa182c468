// Goal: an uplink has the bridge that the operator means, and no card is taken that the host needs. Method: the decision alone, by states of
// a host.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { SwitchState } from '../src/network/open-vswitch.ts'
import { planUplinks, type HostCard } from '../src/network/uplinks.ts'

const card: HostCard = {
  isUp: true,
  hasCarrier: true,
  isKernelBridge: false,
  hasAddress: false,
  users: [],
}
const switchWith = (bridges: Readonly<Record<string, readonly string[]>>): SwitchState => ({
  externalIds: new Map(),
  tls: undefined,
  bridges: new Map(
    Object.entries(bridges).map(([name, ports]) => [
      name,
      { id: name, datapath: '', ports: new Set([name, ...ports]) },
    ]),
  ),
  datapath: 'system',
  applied: 0,
})
const plan = (
  device: string,
  bridges: Readonly<Record<string, readonly string[]>>,
  cards: Readonly<Record<string, HostCard>> = {},
) => planUplinks([{ name: 'site', device }], switchWith(bridges), new Map(Object.entries(cards)))

test('a bridge is made of a card once; afterwards it is used as it is', () => {
  const first = plan('eth1', { 'br-int': [] }, { eth1: { ...card, isUp: false } })
  assert.deepEqual(first.bridges, [{ name: 'br-site', card: 'eth1' }])
  assert.deepEqual([...first.mappings], [['site', 'br-site']])
  const next = plan('eth1', { 'br-site': ['eth1'] }, { eth1: { ...card, users: ['ovs-system'] } })
  assert.deepEqual(
    [next.bridges, [...next.mappings], [...next.faults]],
    [[], [['site', 'br-site']], []],
  )
  // An administrator's bridge has the card already.
  const theirs = plan('eth1', { 'br-ex': ['eth1'] }, { eth1: card })
  assert.deepEqual([theirs.bridges, [...theirs.mappings]], [[], [['site', 'br-ex']]])
})

test('a bridge of Open vSwitch that is named is used as it is, also with an address of the host', () => {
  const named = plan('br-ex', { 'br-ex': ['eth0'] }, { 'br-ex': { ...card, hasAddress: true } })
  assert.deepEqual(
    [named.bridges, [...named.mappings], [...named.faults]],
    [[], [['site', 'br-ex']], []],
  )
})

test('an uplink without a link keeps its bridge and is not reported', () => {
  for (const cards of [{}, { eth1: { ...card, hasCarrier: false } }]) {
    const { mappings, faults } = plan('eth1', { 'br-site': ['eth1'] }, cards)
    assert.deepEqual([...mappings], [['site', 'br-site']])
    assert.match(faults.get('site') ?? '', /no link/)
  }
})

const refused = {
  'a card that does not exist': [{}, {}, /no card or bridge/],
  'a card with an address of the host': [{}, { eth1: { ...card, hasAddress: true } }, /address/],
  'a bridge of the kernel': [{}, { eth1: { ...card, isKernelBridge: true } }, /of the kernel/],
  'a card of a bond': [{}, { eth1: { ...card, users: ['bond0'] } }, /used by bond0/],
  'a card beside a bridge of that name': [{ 'br-site': ['eth2'] }, { eth1: card }, /without eth1/],
  'a port of the bridge of VMs': [{ 'br-int': ['eth1'] }, { eth1: card }, /networks of the cloud/],
  'a port of the way out': [{ 'sk-out': ['eth1'] }, { eth1: card }, /networks of the cloud/],
} as const
for (const [name, [bridges, cards, reason]] of Object.entries(refused)) {
  test(`never taken: ${name}`, () => {
    const { bridges: made, mappings, faults } = plan('eth1', bridges, cards)
    assert.deepEqual([made, [...mappings]], [[], []])
    assert.match(faults.get('site') ?? '', reason)
  })
}
