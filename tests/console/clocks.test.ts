// Goal: a ticket is valid for 30 seconds, regardless of the clocks of cells and consoles. Method: processes whose wall clock is
// an hour ahead or behind (libfaketime); each handshake is sent over an already open connection, when its ticket is of exactly
// that age.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import { reasonWithoutRoot } from '@skerry/lab'

import { startTicketCell } from './cell.ts'
import { startSmallConsole } from './small-console.ts'
import { connectTo, inTurns, shake } from './viewer.ts'

const skip = reasonWithoutRoot('cloud', 'console') ?? false
const EACH = 100
const HOUR_MS = 3_600_000
/** The interval between new tickets, so that no two handshakes need the machine at the same time. */
const APART_MS = 30
const LIFE_MS = 30_000
const CONNECT_BEFORE_MS = 2500
/** VMs and users. Enough that a screen whose end is not recorded yet does not count against the next one of the same VM. */
const OF_EACH = 300

test(
  'a hundred of a hundred tickets open a screen at 29 s and none at 31 s, also where cell and console are an hour off, either way',
  { skip, timeout: 240_000 },
  async () => {
    await using small = await startSmallConsole({ consoles: 0, hosts: 2 })
    const clocks = [undefined, '+1h', '-1h'] as const
    await using cells = new AsyncDisposableStack()
    const sites = await Promise.all(
      clocks.map(async (clock, at) => ({
        clock,
        console: await small.addConsole(clock === undefined ? {} : { clock }),
        cell: cells.use(
          await startTicketCell(small, { name: `cell-${at}`, ...(clock && { clock }) }),
        ),
      })),
    )
    const vms = await small.addVms(OF_EACH)
    const users = await small.users(OF_EACH)
    // Check each clock once, so that the test is valid.
    for (const { clock, cell, console } of sites) {
      await cell.ticket(vms[0] ?? ('' as never), users[0] ?? ('' as never))
      const off = { '+1h': HOUR_MS, '-1h': -HOUR_MS, '': 0 }[clock ?? ''] ?? 0
      const written = Date.parse((await console.log()).split(' ')[0] ?? '')
      for (const now of [cell.now, written]) {
        assert.ok(
          Math.abs(now - Date.now() - off) < 120_000,
          `${clock}: ${new Date(now).toISOString()}`,
        )
      }
    }
    const plan = Array.from({ length: 2 * EACH * sites.length }, (_, at) => at)
    const began = performance.now()
    const shown = await inTurns(plan, plan.length, async (at) => {
      await sleep(Math.max(1, began + at * APART_MS - performance.now()))
      const site = sites[at % sites.length]
      const age = Math.floor(at / sites.length) % 2 === 0 ? 29 : 31
      const [vm, user] = [vms[at % vms.length], users[at % users.length]]
      if (!site || vm === undefined || !user) throw new Error('a plan without a place')
      for (;;) {
        const { ticket, expires } = await site.cell.ticket(vm, user)
        // The database and this process share one unmodified clock.
        const until = Date.parse(expires)
        await sleep(until - LIFE_MS + 1000 * age - CONNECT_BEFORE_MS - Date.now())
        const socket = await connectTo(site.console.url, small.authority.site)
        await sleep(Math.max(1, until - LIFE_MS + 1000 * age - Date.now()))
        const status = await shake(socket, { vm, ticket })
        // On a machine so busy that the handshake took the last second, no ticket of 29 s was tried.
        const isLate = age === 29 && status !== 101 && Date.now() >= until
        if (!isLate) return { clock: site.clock ?? 'right', age, status }
      }
    })
    const counted = new Map<string, number>()
    for (const { clock, age, status } of shown) {
      const key = `${clock}, ${age} s: ${status}`
      counted.set(key, (counted.get(key) ?? 0) + 1)
    }
    assert.deepEqual(
      Object.fromEntries(counted),
      Object.fromEntries(
        ['right', '+1h', '-1h'].flatMap((clock) => [
          [`${clock}, 29 s: 101`, EACH],
          [`${clock}, 31 s: 403`, EACH],
        ]),
      ),
    )
  },
)
