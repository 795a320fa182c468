// Goal: a guest's claims never lead to anything but its own address on its own network.
// Method: addresses around every border of each network, in every notation, beside valid ones.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { type VmId, addressText } from '@skerry/vm'

import { seededRandom } from '../../../tools/lab/src/system/seeded-random.ts'
import {
  addressCounts,
  bridgeNetwork,
  hostOnBridge,
  segmentNetwork,
  type CardAddress,
} from '../src/guest/guest-network.ts'
import { readClaims } from '../src/guest/guest.ts'
import { newRecord, type VmRecord } from '../src/host/record.ts'

const record = (uuid: string, more: Partial<VmRecord>): VmRecord => ({
  ...newRecord({
    id: uuid as VmId,
    owner: 'local',
    incarnation: '1',
    uuid,
    name: '',
    tag: '',
    createdAt: '',
    requested: '',
    autostart: false,
  }),
  ...more,
})

const local = record('a', { address: '10.83.40.7' })
const neighbour = record('b', { address: '10.83.40.8' })
const blue = record('c', { network: 'skerry-0123456789', address: '10.84.3.40' })
const green = record('d', { network: 'skerry-9876543210', address: '10.84.4.40' })
const all = [local, neighbour, blue, green]

const machine: readonly CardAddress[] = [
  { card: 'lo', address: '127.0.0.1', cidr: '127.0.0.1/8' },
  { card: 'eth0', address: '192.168.1.20', cidr: '192.168.1.20/24' },
  // As wide as in many offices: it contains the guests' own networks.
  { card: 'eth1', address: '10.1.2.3', cidr: '10.1.2.3/8' },
  { card: 'skerry0', address: '10.83.0.1', cidr: '10.83.0.1/16' },
  { card: 'docker0', address: '10.83.200.1', cidr: '10.83.200.1/24' },
  { card: 'sk-0123456789', address: '10.84.3.1', cidr: '10.84.3.1/24' },
  { card: 'br0', address: '172.20.0.5', cidr: '172.20.0.5/20' },
]

const onHost = segmentNetwork(local, all, machine)
const onBlue = segmentNetwork(blue, all, machine)
const SEEN = '172.20.3.9'
const onBridge = bridgeNetwork('br0', [SEEN, '8.8.8.8', '172.20.0.5', '192.168.1.1'], machine)

/** Every notation in which a program could read the same four bytes. */
function spellings(address: string): string[] {
  const parts = address.split('.').map(Number)
  const number = parts.reduce((sum, part) => sum * 256 + part, 0)
  return [
    `::ffff:${address}`,
    `::${address}`,
    `[${address}]`,
    `${address}.`,
    `${address}/32`,
    ` ${address}`,
    `${address} `,
    `${address}\n`,
    `${address}\0`,
    `${address}:8080`,
    String(number),
    `0x${number.toString(16)}`,
    `0${number.toString(8)}`,
    parts.map((part) => `0${part.toString(8)}`).join('.'),
    parts.map((part) => `0x${part.toString(16)}`).join('.'),
    parts.map((part) => String(part).padStart(3, '0')).join('.'),
    `${parts[0]}.${((parts[1] ?? 0) * 256 + (parts[2] ?? 0)) * 256 + (parts[3] ?? 0)}`,
    `${address}%lo`,
    `\u0661${address.slice(1)}`,
    address.replaceAll('.', '\u3002'),
  ]
}

function many(count: number, from: number, size: number): string[] {
  const { below } = seededRandom(from)
  return Array.from({ length: count }, () => addressText(from + below(size)))
}

const at = (text: string) => text.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)

const everywhere = [
  ...many(300, at('127.0.0.0'), 2 ** 24),
  ...many(200, at('192.168.1.0'), 256),
  ...many(200, at('224.0.0.0'), 2 ** 28),
  ...many(100, at('240.0.0.0'), 2 ** 28),
  ...many(100, at('169.254.0.0'), 2 ** 16),
  ...many(100, at('0.0.0.0'), 2 ** 24),
  ...many(200, at('8.0.0.0'), 2 ** 24),
  ...many(100, at('10.83.200.0'), 256),
  ...many(200, at('10.85.0.0'), 2 ** 16),
  ...many(100, at('10.84.4.0'), 256),
  ...many(100, at('100.64.0.0'), 2 ** 22),
  '0.0.0.0',
  '127.0.0.1',
  '255.255.255.255',
  '169.254.169.254',
  '100.100.100.200',
  '10.83.0.0',
  '10.83.0.1',
  '10.83.255.255',
  '10.84.3.0',
  '10.84.3.1',
  '10.84.3.255',
  '10.82.255.255',
  '10.84.0.0',
  '10.84.2.255',
  '10.84.4.0',
  '10.84.4.40',
  '10.83.40.8',
  '10.1.2.3',
  '192.168.1.20',
  '172.20.0.5',
  '172.20.0.0',
  '172.20.15.255',
  '172.20.16.1',
]
const never6 = [
  '::',
  '::1',
  'fe80::1',
  'fe80::1%skerry0',
  'fd00:ec2::254',
  'ff02::1',
  '2001:db8::1',
]
const words = [
  '',
  ' ',
  'localhost',
  'skerry',
  '10.83.40',
  '10.83.40.7.1',
  '10.83.40.256',
  '-1',
  'NaN',
]
const own = ['10.83.40.7', '10.84.3.40', SEEN]
const hostile = [
  ...everywhere,
  ...[...everywhere.slice(0, 20), ...own].flatMap(spellings),
  ...never6,
  ...words,
]

test('an address of the card’s own network counts, on each kind of network', () => {
  for (const address of [
    '10.83.40.7',
    '10.83.0.16',
    '10.83.31.254',
    '10.83.100.0',
    '10.83.199.255',
  ])
    assert.ok(addressCounts(address, onHost), address)
  for (const address of ['10.84.3.40', '10.84.3.2', '10.84.3.254'])
    assert.ok(addressCounts(address, onBlue), address)
  assert.ok(addressCounts(SEEN, onBridge))
  assert.equal(onHost.host, '10.83.0.1')
  assert.equal(onBlue.host, '10.84.3.1')
  assert.equal(hostOnBridge('br0', SEEN, machine), '172.20.0.5')
})

test('of thousands of hostile addresses none counts, on any kind of network', (t) => {
  assert.ok(hostile.length > 2000, String(hostile.length))
  const counted = Object.entries({ onHost, onBlue, onBridge }).flatMap(([name, network]) =>
    hostile.filter((each) => addressCounts(each, network)).map((each) => `${name}: ${each}`),
  )
  t.diagnostic(`${hostile.length} addresses on three networks: ${counted.length} counted`)
  assert.deepEqual(counted, [])
})

test('on a bridge only addresses that the host has seen for the card count, even within the same network', () => {
  for (let n = 1; n < 1000; n++) {
    const address = addressText(at('172.20.1.0') + n)
    if (address !== SEEN) assert.ok(!addressCounts(address, onBridge), address)
  }
  const nowhere = bridgeNetwork('br1', ['172.20.3.9', '127.0.0.1'], machine)
  assert.ok(!addressCounts(SEEN, nowhere), 'this machine has no address on that bridge')
})

test('only IPv4 addresses are read from a guest’s answer, regardless of its content', () => {
  const card = (address: unknown, mac: unknown = '52:00:00:00:00:01') => ({
    'hardware-address': mac,
    'ip-addresses': [{ 'ip-address': address }],
  })
  for (const reported of [
    undefined,
    null,
    7,
    'x',
    {},
    [null],
    [7],
    [[]],
    [{ 'ip-addresses': 'x' }],
  ])
    assert.deepEqual(readClaims(reported, '52:00:00:00:00:01'), [])
  for (const address of [null, 7, {}, [], '::1', 'x', '10.83.040.7'])
    assert.deepEqual(readClaims([card(address)], '52:00:00:00:00:01'), [])
  const reported = [card('10.0.0.1', '52:00:00:00:00:02'), card('10.83.0.9')]
  assert.deepEqual(readClaims(reported, '52:00:00:00:00:01'), ['10.83.0.9', '10.0.0.1'])
  const flood = Array.from({ length: 100_000 }, (_, n) => card(addressText(n)))
  assert.equal(readClaims(flood, '52:00:00:00:00:01').length, 64)
})
