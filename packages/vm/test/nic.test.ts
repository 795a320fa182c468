import assert from 'node:assert/strict'
import { test } from 'node:test'

import { nicChange, whyNotNics, type Nic } from '../src/index.ts'

const nic = (index: number, more: Partial<Nic> = {}): Nic => ({
  index,
  id: `port-${index}`,
  mac: `52:54:00:00:00:0${index}`,
  mtu: 1442,
  connected: true,
  network: 'net',
  ...more,
})

test('a VM has at most one card with an index, an id and a MAC address', () => {
  assert.equal(whyNotNics([]), undefined)
  assert.equal(whyNotNics([nic(0), nic(1)]), undefined)
  assert.match(whyNotNics([nic(0), nic(1, { index: 0 })]) ?? '', /same index/)
  assert.match(whyNotNics([nic(0), nic(1, { id: 'port-0' })]) ?? '', /same id/)
  assert.match(whyNotNics([nic(0), nic(1, { mac: nic(0).mac })]) ?? '', /same mac/)
})

test('only what the guest sees as hardware needs a VM that is off', () => {
  const both = [nic(0), nic(1)]
  assert.equal(nicChange(undefined, undefined), 'none')
  assert.equal(nicChange(both, [nic(1), nic(0)]), 'none')
  assert.equal(nicChange(both, [nic(0), nic(1, { connected: false })]), 'links')
  assert.equal(nicChange(both, [nic(0), nic(1, { address: '192.0.2.1' })]), 'links')
  assert.equal(nicChange(both, [nic(0), nic(1, { network: 'other' })]), 'links')
  for (const part of [{ index: 2 }, { id: 'x' }, { mac: '52:54:00:00:00:09' }, { mtu: 1400 }]) {
    assert.equal(nicChange(both, [nic(0), nic(1, part)]), 'cards', JSON.stringify(part))
  }
  assert.equal(nicChange(both, [nic(0)]), 'cards')
  assert.equal(nicChange(undefined, []), 'cards')
  assert.equal(nicChange(both, undefined), 'cards')
})
