// A million guessed tickets, tried through a console's own login while a thousand valid ones wait; then ten thousand valid ones,
// each redeemed twice at the same time, by two consoles.
// Usage: node tests/cloud/prove-ticket-guesses.ts [--guesses 1000000] [--tickets 10000]
// Prints one line of JSON; fails if a guess opens a screen, or if not exactly one of two is accepted.
import { parseArgs } from 'node:util'

import { openDatabase } from '@skerry/postgres'
import { redeemTicket } from '@skerry/ticket'
import type { VmId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import { startDatabases } from '../../apps/cloud/test/cloud-database.ts'
import {
  openConsoleDatabase,
  type ConsoleDatabase,
  type User,
} from '../../apps/cloud/test/console-database.ts'

const { values } = parseArgs({
  options: {
    guesses: { type: 'string', default: '1000000' },
    tickets: { type: 'string', default: '10000' },
  },
})
/** The guesses per statement: less than the statement timeout of a console. */
const HANDFUL = 20_000
/** Redeemed together, before the first of them expires. */
const BATCH = 1000

await using postgres = await startDatabases()
await using it = await openConsoleDatabase(postgres)
const began = performance.now()
const guesses = Number(values.guesses)
const tickets = Number(values.tickets)
const where = await furnish(it)
const waiting = await Promise.all(where.slice(0, BATCH).map(([vm, user]) => it.ticket(vm, user)))
const hits = await guess(it, guesses)
const stillGood = (await redeemAll(it.console, waiting.slice(0, 100))).filter(Boolean).length
const accepted = await showTwice(it, where)
const seconds = Math.round((performance.now() - began) / 1000)
const figures = { guesses, hits, tickets, shown: 2 * tickets, accepted }
console.log(JSON.stringify({ proof: 'ticket-guesses', ...figures, seconds }))
if (hits !== 0 || accepted !== tickets || stillGood !== 100) process.exitCode = 1

/** The VM and the user of each ticket. */
async function furnish(at: ConsoleDatabase): Promise<[VmId, User][]> {
  // The limit of concurrent screens is not tested here.
  const { cloud } = at
  await sql`update cloud set consoles_per_vm = 1000000, consoles_per_user = 1000000`.execute(
    cloud.db,
  )
  const { vms } = await cloud.addVms(250, 'POWERED_ON')
  await sql`update vm set boot = 'boot-1'`.execute(cloud.db)
  const users = await Promise.all(Array.from({ length: 50 }, () => at.addUser()))
  return Array.from({ length: tickets }, (_, n) => [
    vms[n % vms.length] as VmId,
    users[n % users.length] as User,
  ])
}

/** The number of random secrets that opened anything. The waiting tickets are kept valid meanwhile. */
async function guess({ console: db, cloud }: ConsoleDatabase, count: number): Promise<number> {
  let found = 0
  for (let done = 0; done < count; done += HANDFUL) {
    await sql`update screen_ticket set made_at = clock_timestamp() where used_at is null`.execute(
      cloud.db,
    )
    const { rows } = await sql<{ hits: number }>`
      select count(*) filter (where outcome <> 'unknown')::integer as hits
      from generate_series(1, ${Math.min(HANDFUL, count - done)}::integer) as guess, lateral redeem_ticket(
        sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || int4send(guess)), 'guess', null)`.execute(
      db,
    )
    found += rows[0]?.hits ?? 0
    if (done % 200_000 === 0) console.error(`${done} guesses, ${found} hits`)
  }
  return found
}

async function redeemAll(
  db: Kysely<object>,
  secrets: readonly string[],
  via = 'k1',
): Promise<boolean[]> {
  return Promise.all(
    secrets.map(async (each) => typeof (await redeemTicket(db, each, via)) === 'object'),
  )
}

/** The number of accepted redemptions, when each ticket was redeemed by two at once. */
async function showTwice(at: ConsoleDatabase, all: readonly [VmId, User][]): Promise<number> {
  const other = openDatabase<object>({ url: at.consoleUrl, applicationName: 'console 2', size: 20 })
  // A pool rejects callers that wait too long: as many as a process would really redeem at once.
  const together = 200
  let accepted = 0
  try {
    for (let from = 0; from < all.length; from += BATCH) {
      const batch = all.slice(from, from + BATCH)
      const secrets: string[] = []
      for (const [vm, user] of batch) secrets.push(await at.ticket(vm, user))
      for (let n = 0; n < secrets.length; n += together) {
        const some = secrets.slice(n, n + together)
        const [one, two] = await Promise.all([
          redeemAll(at.console, some, 'k1'),
          redeemAll(other, some, 'k2'),
        ])
        some.forEach((_, index) => {
          if (one[index] !== two[index]) accepted += 1
        })
      }
      console.error(`${from + batch.length} tickets shown twice, ${accepted} let in`)
    }
  } finally {
    await other.destroy()
  }
  return accepted
}
