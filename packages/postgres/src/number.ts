// Numbers that order everything: era · 2^40 + counter. Leases decide who tries, numbers decide who may.
// They are drawn by `next_number()` in SQL (migrations/0001-number.sql) and travel as decimal strings.
import { Fault } from '@skerry/fault'
import { type Kysely, sql } from 'kysely'

const COUNTER_BITS = 40n
/** How far above the highest number seen anywhere a recovered counter begins: what was given out and seen by nobody stays below. */
const RECOVERY_GAP = 2n ** 20n

export interface NumberParts {
  readonly era: bigint
  readonly counter: bigint
}

/** Draws a number in a transaction of its own. Inside another one write `next_number()`, and use it only after the commit. */
export async function drawNumber<DB>(db: Kysely<DB>): Promise<string> {
  const { rows } = await sql<{ number: string }>`select next_number() as number`.execute(db)
  return rows[0]?.number ?? never()
}

export function partsOf(number: string): NumberParts {
  if (!/^(0|[1-9]\d{0,18})$/.test(number)) {
    throw new Fault('invalid', `a number is written with up to 19 digits, not "${number}"`)
  }
  const value = BigInt(number)
  return { era: value >> COUNTER_BITS, counter: value & (2n ** COUNTER_BITS - 1n) }
}

/** Below 0 when the first is older, above 0 when it is newer, 0 when they are the same. */
export function compareNumbers(one: string, other: string): number {
  const difference = BigInt(one) - BigInt(other)
  return difference === 0n ? 0 : difference < 0n ? -1 : 1
}

/**
 * After a restore: from now on every number is above `highest`, the highest that any host or row has seen. The era is raised when
 * the restored one is not above, which a dump in a new cluster needs; then the counter is set beyond. Answers the next number's floor.
 */
export async function raiseAbove<DB>(db: Kysely<DB>, highest: string): Promise<string> {
  const seen = partsOf(highest)
  return db.transaction().execute(async (tx) => {
    await sql`lock table number_era in exclusive mode`.execute(tx)
    const { rows } = await sql<{ era: string; drawn: string }>`
      select current_era() as era, last_value as drawn from number_counter`.execute(tx)
    const now = rows[0] ?? never()
    const missing = seen.era - BigInt(now.era)
    if (missing > 0n) {
      await sql`update number_era set raised = raised + ${String(missing)}::bigint`.execute(tx)
    }
    const counter = max(BigInt(now.drawn), seen.counter) + RECOVERY_GAP
    await sql`select setval('number_counter', ${String(counter)}::bigint)`.execute(tx)
    const era = missing > 0n ? seen.era : BigInt(now.era)
    return String((era << COUNTER_BITS) + counter)
  })
}

/** For `skerry cloud recover`: whatever the old database may still give out is below what this one gives from now on. */
export async function raiseEra<DB>(db: Kysely<DB>, above: bigint): Promise<bigint> {
  await sql`update number_era
    set raised = raised + greatest(0, ${String(above)}::bigint + 1 - current_era())`.execute(db)
  const { rows } = await sql<{ era: string }>`select current_era() as era`.execute(db)
  return BigInt((rows[0] ?? never()).era)
}

function max(one: bigint, other: bigint): bigint {
  return one > other ? one : other
}

function never(): never {
  throw new Error('a select without a from clause gave no row')
}
