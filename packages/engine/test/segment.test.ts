import assert from 'node:assert/strict'
import { test } from 'node:test'

import { blocksOverlap, prefixOf, readBlock, blockText } from '@skerry/vm'

import {
  bridgeOfNetwork,
  freeOrgNumber,
  isOrgNetwork,
  networkOf,
  ORG_NETWORKS_MAX,
  orgNumberOf,
  orgSegment,
} from '../src/domain/segment.ts'

test('the network of an organisation has the same name everywhere, and a bridge name that Linux accepts', () => {
  const network = networkOf('0198a1c2-0000-7000-8000-000000000001')
  assert.match(network, /^skerry-[0-9a-f]{10}$/)
  assert.equal(network, networkOf('0198a1c2-0000-7000-8000-000000000001'))
  assert.notEqual(network, networkOf('0198a1c2-0000-7000-8000-000000000002'))
  assert.ok(isOrgNetwork(network) && !isOrgNetwork('skerry'))
  assert.equal(bridgeOfNetwork(network), network.replace('skerry-', 'sk-'))
  assert.ok(bridgeOfNetwork(network).length <= 15)
})

test('each of 1,024 organisations has its own /24', () => {
  const { host, mask, first, last, fixed } = orgSegment('n', 0)
  assert.deepEqual(
    [host, mask, first, last],
    ['10.84.0.1', '255.255.255.0', '10.84.0.2', '10.84.0.31'],
  )
  assert.deepEqual([fixed.at(0), fixed.at(fixed.count - 1)], ['10.84.0.32', '10.84.0.254'])
  assert.equal(orgSegment('n', ORG_NETWORKS_MAX - 1).host, '10.87.255.1')
  const numbers = ['10.84.0.40', '10.84.1.1', '10.87.255.254', '10.83.0.1', '10.88.0.1']
  assert.deepEqual(numbers.map(orgNumberOf), [0, 1, 1023, undefined, undefined])
})

test('the first block that overlaps no other network is chosen, for networks of any size', () => {
  const chosen = (...taken: readonly string[]) => freeOrgNumber(taken.map(readBlock))
  assert.equal(chosen(), 0)
  assert.equal(chosen('10.83.0.0/16', '192.168.122.1/24'), 0)
  assert.equal(chosen('10.84.0.1/24', '10.84.2.1/24'), 1)
  assert.equal(chosen('10.84.0.200/30', '10.84.1.77/32'), 2)
  assert.equal(chosen('10.84.0.0/16'), 256)
  assert.equal(chosen('10.0.0.0/8'), undefined)
})

test('addresses, blocks and masks are parsed and formatted', () => {
  assert.equal(blockText(readBlock('10.91.3.7/16')), '10.91.0.0/16')
  assert.equal(blockText(readBlock('203.0.113.9/32')), '203.0.113.9/32')
  assert.deepEqual(['255.255.255.0', '255.255.0.0', '255.255.255.252'].map(prefixOf), [24, 16, 30])
  assert.ok(blocksOverlap(readBlock('10.0.0.0/8'), readBlock('10.84.7.0/24')))
  assert.ok(!blocksOverlap(readBlock('10.84.6.0/24'), readBlock('10.84.7.0/24')))
})
