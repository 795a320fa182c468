// Goal: ranges, pools, addresses and MAC addresses of networks are right for every size. Method: pure functions, with every prefix and
// random pools.
import assert from 'node:assert/strict'
import { createHash, randomInt, randomUUID } from 'node:crypto'
import { test } from 'node:test'

import { addressText, netmaskOf, sizeOfPrefix } from '@skerry/vm'

import {
  readAddress,
  chooseMac,
  chooseOffset,
  planRange,
  requireApart,
  type OffsetRange,
} from '../src/domain/address-range.ts'

const scope = (gateway: string, prefix: number, ...ranges: readonly string[]) => ({
  gateway,
  netmask: netmaskOf(prefix),
  ...(ranges.length > 0 && {
    ranges: ranges.map((each) => {
      const [start = '', end = ''] = each.split('-')
      return { start, end }
    }),
  }),
})

const poolSize = (pool: readonly OffsetRange[]): number =>
  pool.reduce((sum, { low, high }) => sum + high - low + 1, 0)

test('an address is four numbers from 0 to 255, and nothing else', () => {
  for (const text of ['0.0.0.0', '10.84.0.1', '255.255.255.255', '192.168.10.200']) {
    assert.equal(addressText(readAddress(text) ?? -1), text)
  }
  for (const text of [
    '',
    '1.2.3',
    '1.2.3.4.5',
    '01.2.3.4',
    '256.1.1.1',
    '1.2.3.4/8',
    '-1.0.0.0',
    '1. 2.3.4',
    '0x1.1.1.1',
    '::1',
  ]) {
    assert.equal(readAddress(text), undefined, text)
  }
})

test('a network has a prefix from 16 to 29, with its gateway inside and everything else in its pool', () => {
  for (let prefix = 16; prefix <= 29; prefix += 1) {
    const planned = planRange(scope('10.1.0.1', prefix))
    assert.deepEqual([planned.base, planned.prefix], [readAddress('10.1.0.0'), prefix])
    assert.equal(poolSize(planned.pool), sizeOfPrefix(prefix) - 3, `/${prefix}`)
  }
  for (const prefix of [0, 8, 15, 30, 31, 32]) {
    assert.throws(() => planRange(scope('10.1.0.1', prefix)), { kind: 'invalid' }, `/${prefix}`)
  }
  assert.throws(() => planRange({ gateway: '10.1.0.1', netmask: '255.0.255.0' }), /Netmask/)
  assert.deepEqual(planRange(scope('10.1.0.5', 29)).pool, [
    { low: 1, high: 4 },
    { low: 6, high: 6 },
  ])
})

test('a gateway cannot be the first or last address, nor one that no guest can use', () => {
  for (const gateway of [
    '192.168.1.0',
    '192.168.1.255',
    '127.0.0.1',
    '224.0.0.1',
    '0.0.0.1',
    '169.254.1.1',
    '100.64.3.1',
    'gateway',
    '',
  ]) {
    assert.throws(() => planRange(scope(gateway, 24)), { kind: 'invalid' }, gateway)
  }
})

test('a pool is within the range, without its gateway, in order, and no part of it overlaps another', () => {
  const { pool } = planRange(
    scope('192.168.1.1', 24, '192.168.1.100-192.168.1.199', '192.168.1.10-192.168.1.10'),
  )
  assert.deepEqual(pool, [
    { low: 10, high: 10 },
    { low: 100, high: 199 },
  ])
  const wrong = [
    ['192.168.1.0-192.168.1.9'],
    ['192.168.1.200-192.168.1.255'],
    ['192.168.2.10-192.168.2.20'],
    ['192.168.1.20-192.168.1.10'],
    ['192.168.1.1-192.168.1.10'],
    ['192.168.1.10-192.168.1.20', '192.168.1.20-192.168.1.30'],
    ['192.168.1.10'],
    Array.from({ length: 17 }, (_, at) => `192.168.1.${at + 10}-192.168.1.${at + 10}`),
  ]
  for (const ranges of wrong) {
    assert.throws(
      () => planRange(scope('192.168.1.1', 24, ...ranges)),
      { kind: 'invalid' },
      ranges.join(),
    )
  }
})

test('two networks of a router must not meet', () => {
  const of = (gateway: string, prefix: number) => ({
    name: 'blue',
    ...planRange(scope(gateway, prefix)),
  })
  for (const [one, other] of [
    [of('10.1.0.1', 16), of('10.1.4.1', 24)],
    [of('10.1.4.1', 24), of('10.1.0.1', 16)],
    [of('10.1.4.1', 24), of('10.1.4.129', 25)],
  ] as const) {
    assert.throws(() => requireApart(one, [other]), { kind: 'conflict' })
  }
  requireApart(of('10.1.4.1', 24), [of('10.1.5.1', 24), of('10.1.3.1', 24)])
})

test('every free address of a pool is found, and none that is taken or was given back a moment ago', () => {
  for (let round = 0; round < 50; round += 1) {
    const pool = planRange(scope('10.1.0.1', randomInt(24, 30))).pool
    const [taken, resting] = [new Set<number>(), new Set<number>()]
    for (let left = poolSize(pool); left > 0; left -= 1) {
      const offset = chooseOffset(pool, { taken, resting, id: randomUUID() })
      assert.ok(offset !== undefined && !taken.has(offset) && !resting.has(offset))
      assert.ok(pool.some(({ low, high }) => low <= offset && offset <= high))
      ;(left % 3 === 0 ? resting : taken).add(offset)
    }
    assert.equal(chooseOffset(pool, { taken, resting, id: randomUUID() }), undefined)
  }
})

test('the address is the first free one from the place of the card on, and then from the beginning of the pool', () => {
  for (let round = 0; round < 200; round += 1) {
    const bounds = [1, 40, 41, 41, 60, 60 + randomInt(1, 30)] as const
    const pool = [0, 2, 4].map((at) => ({ low: bounds[at] ?? 0, high: bounds[at + 1] ?? 0 }))
    const all = pool.flatMap(({ low, high }) =>
      Array.from({ length: high - low + 1 }, (_, index) => low + index),
    )
    const taken = new Set(all.filter(() => randomInt(3) > 0))
    const resting = new Set(all.filter(() => randomInt(4) === 0))
    const id = randomUUID()
    const digest = createHash('sha256').update(id).digest()
    const first = digest.readUInt32BE(0) % all.length
    const turned = [...all.slice(first), ...all.slice(0, first)]
    assert.equal(
      chooseOffset(pool, { taken, resting, id }),
      turned.find((each) => !taken.has(each) && !resting.has(each)),
    )
  }
  assert.equal(chooseOffset([], { taken: new Set(), resting: new Set(), id: 'x' }), undefined)
})

test('a MAC address follows from the id of its card, unless its network has it already', () => {
  const id = randomUUID()
  const first = chooseMac(id, new Set())
  assert.match(first, /^52:54:00(:[0-9a-f]{2}){3}$/)
  assert.equal(chooseMac(id, new Set()), first)
  assert.notEqual(chooseMac(id, new Set([first])), first)
})
