import assert from 'node:assert/strict'
import { test } from 'node:test'

import { Tickets } from '../src/local/access/tickets.ts'

function ticketsAt(clock: { now: number }): Tickets {
  let made = 0
  return new Tickets(
    () => `secret-${made++}`,
    () => clock.now,
  )
}

test('a ticket opens the screen it was issued for, once, within 30 s', () => {
  const clock = { now: 0 }
  const tickets = ticketsAt(clock)
  const { text, goodForMs } = tickets.issue('vm-1')
  assert.equal(goodForMs, 30_000)
  assert.equal(tickets.redeem('vm-1', text), true)
  assert.equal(tickets.redeem('vm-1', text), false)
  const old = tickets.issue('vm-1').text
  clock.now += 30_000
  assert.equal(tickets.redeem('vm-1', old), false)
  const late = tickets.issue('vm-1').text
  clock.now += 29_999
  assert.equal(tickets.redeem('vm-1', late), true)
})

test('a ticket presented for another VM is used up, and an unknown one opens nothing', () => {
  const tickets = ticketsAt({ now: 0 })
  const { text } = tickets.issue('vm-1')
  assert.equal(tickets.redeem('vm-2', text), false)
  assert.equal(tickets.redeem('vm-1', text), false)
  for (const guess of ['', 'secret-9', 'undefined'])
    assert.equal(tickets.redeem('vm-1', guess), false)
})

test('a caller that requests thousands loses the oldest, not the newest', () => {
  const tickets = ticketsAt({ now: 0 })
  const all = Array.from({ length: 1200 }, () => tickets.issue('vm-1').text)
  assert.equal(all.filter((each) => tickets.redeem('vm-1', each)).length, 1000)
  assert.equal(tickets.redeem('vm-1', all[0] ?? ''), false)
})
