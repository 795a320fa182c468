import assert from 'node:assert/strict'
import { test } from 'node:test'

import { cardCounts, networkOf } from '../src/org-network.ts'

const card = { network: networkOf('blue'), mac: '52:01:02:03:04:05', address: '10.84.0.77' }

test('a card on the network of any organisation counts', () => {
  for (const address of ['10.84.0.32', '10.84.255.254', '10.87.255.254', '10.86.7.100'])
    assert.ok(cardCounts({ ...card, address }), address)
})

test('a card that no host assigns to a VM does not count', () => {
  for (const address of [
    '',
    '127.0.0.1',
    '0.0.0.0',
    '10.83.40.7',
    '10.88.0.77',
    '192.168.1.9',
    '169.254.169.254',
    '10.84.0.0',
    '10.84.0.1',
    '10.84.0.31',
    '10.84.0.255',
    '10.84.256.77',
    '10.84.0.077',
    '::ffff:10.84.0.77',
    '10.84.0.77 ',
    '10.84.0.77\n',
    '10.84.77',
    '10.84.0.77.1',
    'localhost',
  ])
    assert.ok(!cardCounts({ ...card, address }), address)
  for (const network of ['skerry', 'default', '', `${card.network}x`, '<b>'])
    assert.ok(!cardCounts({ ...card, network }), network)
  for (const mac of ['', '53:01:02:03:04:05', '52:01:02:03:04', '52-01-02-03-04-05'])
    assert.ok(!cardCounts({ ...card, mac }), mac)
})
