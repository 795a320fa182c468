// Goal: the cloud knows the address that a guest gives itself, in its only spelling.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { eui64Address, isPrefix64, routerAddress6 } from '../src/ipv6.ts'

test('the address of a card is made of the prefix and of its MAC address', () => {
  const mac = '52:54:00:12:34:56'
  assert.equal(eui64Address('fe80::/64', mac), 'fe80::5054:ff:fe12:3456')
  const whole = 'fd12:3456:789a:1:5054:ff:fe12:3456'
  assert.equal(eui64Address('fd12:3456:789a:1::/64', mac), whole)
  assert.equal(eui64Address('fd12:0:0:1::/64', mac), 'fd12::1:5054:ff:fe12:3456')
  assert.equal(eui64Address('fd12:3456:789a::/64', mac), 'fd12:3456:789a:0:5054:ff:fe12:3456')
  assert.equal(eui64Address('fd00::/64', '02:00:00:00:00:00'), 'fd00::ff:fe00:0')
})

test('the router has the first address of the network', () => {
  assert.equal(routerAddress6('fd12:3456:789a:1::/64'), 'fd12:3456:789a:1::1')
  assert.equal(routerAddress6('fd12::/64'), 'fd12::1')
})

test('a prefix is nothing but a prefix of 64 bits', () => {
  for (const text of ['fd12:3456:789a:1::/64', 'fd12:0:0:1::/64', 'fd12::/64']) {
    assert.ok(isPrefix64(text), text)
  }
  for (const text of [
    '',
    'fd12::',
    'fd12::/48',
    'fd12:1:2:3:4::/64',
    'fd12:3456:789a:1::/64 ',
    'FD12::/64',
    '10.0.0.0/64',
  ]) {
    assert.ok(!isPrefix64(text), text)
  }
})
