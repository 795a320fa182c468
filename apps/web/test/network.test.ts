// Goal: what a user writes about a network or a card is checked and becomes the body of a request.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import {
  CARDS_MAX,
  modesOn,
  onNetwork,
  whyNotCard,
  withCard,
  withConnected,
  withoutCard,
} from '../src/model/networks/cards.ts'
import {
  countAddresses,
  rangeText,
  scopeOf,
  whyNotIpv6,
  whyNotScope,
  writtenScope,
  type WrittenScope,
} from '../src/model/networks/network.ts'

const written: WrittenScope = { range: '192.168.10.0/24', gateway: '', pool: '', dns: '' }

test('router and netmask are shown as a range', () => {
  assert.equal(rangeText('10.84.0.1', '255.255.240.0'), '10.84.0.0/20')
  assert.equal(rangeText('192.168.10.254', '255.255.255.248'), '192.168.10.248/29')
  assert.equal(rangeText(undefined, undefined), undefined)
})

test('a range becomes a scope, and a scope is written as it was', () => {
  assert.deepEqual(scopeOf(written), {
    gateway: '192.168.10.1',
    netmask: '255.255.255.0',
    dns1: '',
    dns2: '',
  })
  const whole = scopeOf({
    range: '10.20.0.0/16',
    gateway: '10.20.0.254',
    pool: '10.20.1.1-10.20.1.9\n10.20.2.7',
    dns: '9.9.9.9, 1.1.1.1',
  })
  assert.deepEqual(whole.ipRanges?.ipRange, [
    { startAddress: '10.20.1.1', endAddress: '10.20.1.9' },
    { startAddress: '10.20.2.7', endAddress: '10.20.2.7' },
  ])
  assert.equal(countAddresses(whole.ipRanges?.ipRange ?? []), 10)
  assert.deepEqual(writtenScope(whole), {
    range: '10.20.0.0/16',
    gateway: '10.20.0.254',
    pool: '10.20.1.1-10.20.1.9\n10.20.2.7',
    dns: '9.9.9.9, 1.1.1.1',
  })
})

test('a scope that the cloud would refuse has a reason', () => {
  assert.equal(whyNotScope(written), undefined)
  const refused: readonly (readonly [Partial<WrittenScope>, RegExp])[] = [
    [{ range: '192.168.10.0' }, /written like/],
    [{ range: '192.168.300.0/24' }, /written like/],
    [{ range: '10.0.0.0/8' }, /from \/16 to \/29/],
    [{ range: '10.0.0.0/30' }, /from \/16 to \/29/],
    [{ gateway: '192.168.11.1' }, /the router/],
    [{ pool: '192.168.10.9-192.168.11.1' }, /the pool/],
    [{ pool: '192.168.10.9-192.168.10.2' }, /the pool/],
    [{ dns: '9.9.9.9, 1.1.1.1, 8.8.8.8' }, /name servers/],
    [{ dns: 'example.org' }, /name servers/],
  ]
  for (const [part, reason] of refused) {
    assert.match(whyNotScope({ ...written, ...part }) ?? '', reason, JSON.stringify(part))
  }
})

const card = (index: number, network: string) => ({
  network,
  networkConnectionIndex: index,
  ipAddress: `10.0.0.${index + 2}`,
  ipv6Address: `fd12::${index}`,
  externalIpAddress: '203.0.113.9',
  isConnected: true,
  macAddress: `52:54:00:00:00:0${index}`,
  ipAddressAllocationMode: 'POOL',
})
const cards = [card(0, 'web'), card(2, 'backend')]

test('all cards of a VM are sent when one changes, with their MAC addresses', () => {
  const sent = withConnected(cards, 2, false)
  assert.deepEqual(
    sent.map(({ isConnected, macAddress }) => [isConnected, macAddress]),
    [
      [true, '52:54:00:00:00:00'],
      [false, '52:54:00:00:00:02'],
    ],
  )
  // The cloud chose the addresses, and shows the others: none is sent back.
  const shown = ['ipAddress', 'ipv6Address', 'externalIpAddress']
  assert.ok(sent.every((each) => shown.every((name) => !(name in each))))
  assert.deepEqual(
    withoutCard(cards, 0).map(({ network }) => network),
    ['backend'],
  )
})

test('a card moves to another network with an address of its own, and a new one takes a free place', () => {
  const wanted = { network: 'lab', mode: 'MANUAL', address: '192.168.20.9' } as const
  const [, moved] = withCard(cards, 2, wanted)
  assert.equal(moved?.ipAddress, '192.168.20.9')
  assert.equal(moved?.macAddress, '52:54:00:00:00:02')
  const [, , added] = withCard(cards, undefined, { network: 'lab', mode: 'POOL', address: '' })
  assert.deepEqual(added, {
    network: 'lab',
    networkConnectionIndex: 1,
    isConnected: true,
    ipAddressAllocationMode: 'POOL',
  })
  assert.ok(CARDS_MAX > 2)
  assert.equal(whyNotCard(wanted), undefined)
  assert.match(whyNotCard({ ...wanted, address: 'x' }) ?? '', /IPv4/)
})

test('only a routed network without VMs has a switch for IPv6', () => {
  assert.equal(whyNotIpv6('routed', false), undefined)
  assert.match(whyNotIpv6('routed', true) ?? '', /while no VM is on the network/)
  assert.match(whyNotIpv6('isolated', false) ?? '', /only a routed network/)
})

test('on a direct network the site gives the address, or the guest has its own', () => {
  assert.deepEqual(modesOn('direct'), ['DHCP', 'NONE'])
  const card = { network: 'lab', mode: 'POOL', address: '' } as const
  const moved = onNetwork(card, { name: 'plant', kind: 'direct' })
  assert.deepEqual([moved.network, moved.mode], ['plant', 'DHCP'])
  assert.equal(onNetwork({ ...card, mode: 'NONE' }, { name: 'plant', kind: 'direct' }).mode, 'NONE')
  assert.equal(onNetwork(card, { name: 'web', kind: 'routed' }).mode, 'POOL')
})
