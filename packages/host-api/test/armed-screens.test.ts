import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'

import type { VmId } from '@skerry/vm'

import { ArmedScreens } from '../src/index.ts'

const [vm, other] = ['vm' as VmId, 'other' as VmId]
const hashOf = (ticket: string) => createHash('sha256').update(ticket).digest('hex')
const armed = (screens: ArmedScreens, ticket: string) =>
  screens.arm({ vm, boot: 'boot', ticketHash: hashOf(ticket) })

test('a ticket opens only its own screen, once', () => {
  const screens = new ArmedScreens(() => 0)
  armed(screens, 'a')
  assert.throws(() => screens.redeem(vm, 'b'), { kind: 'forbidden' })
  assert.throws(() => screens.redeem(vm, hashOf('a')), { kind: 'forbidden' })
  assert.equal(screens.redeem(vm, 'a'), 'boot')
  assert.throws(() => screens.redeem(vm, 'a'), { kind: 'forbidden' })
})

test('a ticket redeemed for the wrong screen is used up', () => {
  const screens = new ArmedScreens(() => 0)
  armed(screens, 'a')
  assert.throws(() => screens.redeem(other, 'a'), { kind: 'forbidden' })
  assert.throws(() => screens.redeem(vm, 'a'), { kind: 'forbidden' })
})

test('a ticket is valid for 40 s of a monotonic clock', () => {
  let now = 0
  const screens = new ArmedScreens(() => now)
  armed(screens, 'a')
  armed(screens, 'b')
  now = 39_999
  assert.equal(screens.redeem(vm, 'a'), 'boot')
  now = 40_000
  assert.throws(() => screens.redeem(vm, 'b'), { kind: 'forbidden' })
})

test('too many tickets are rejected, until older ones expire', () => {
  let now = 0
  const screens = new ArmedScreens(() => now)
  for (let ticket = 0; ticket < 1000; ticket += 1) armed(screens, String(ticket))
  assert.throws(() => armed(screens, 'more'), { kind: 'unavailable' })
  now = 40_000
  armed(screens, 'more')
})
