// Fencing tokens: era · 2^40 + counter. Leases elect a worker; fencing tokens reject stale ones.
// `next_fence()` in SQL (migrations/0001-fencing-token.sql) draws them; they are transferred as decimal strings.
import { Fault } from '@skerry/fault'
import { type Kysely, sql } from 'kysely'

const COUNTER_BITS = 40n
/** Distance of a recovered counter from the highest token seen anywhere: tokens that were issued but never seen stay below it. */
const RECOVERY_GAP = 2n ** 20n

export interface FencingTokenParts {
  readonly era: bigint
  readonly counter: bigint
}

export function partsOf(fencingToken: string): FencingTokenParts {
  if (!/^(0|[1-9]\d{0,18})$/.test(fencingToken)) {
    throw new Fault('invalid', `invalid fencing token "${fencingToken}": expected up to 19 digits`)
  }
  const value = BigInt(fencingToken)
  return { era: value >> COUNTER_BITS, counter: value & (2n ** COUNTER_BITS - 1n) }
}

/**
 * After a restore: from now on every token is above `highest`, the highest that any host or row has seen. The era is raised if the
 * restored one is lower, which a dump in a new cluster needs; then the counter is set above. Returns a lower bound of the next token.
 */
export async function raiseAbove<DB>(db: Kysely<DB>, highest: string): Promise<string> {
  const seen = partsOf(highest)
  return db.transaction().execute(async (tx) => {
    await sql`lock table fence_era in exclusive mode`.execute(tx)
    const { rows } = await sql<{ era: string; drawn: string }>`
      select current_era() as era, last_value as drawn from fence_counter`.execute(tx)
    const now = rows[0] ?? never()
    const missing = seen.era - BigInt(now.era)
    if (missing > 0n) {
      await sql`update fence_era set raised = raised + ${String(missing)}::bigint`.execute(tx)
    }
    const counter = max(BigInt(now.drawn), seen.counter) + RECOVERY_GAP
    await sql`select setval('fence_counter', ${String(counter)}::bigint)`.execute(tx)
    const era = missing > 0n ? seen.era : BigInt(now.era)
    return String((era << COUNTER_BITS) + counter)
  })
}

/** For `skerry admin recovery start`: tokens that the old database may still issue are below all tokens of this one. */
export async function raiseEra<DB>(db: Kysely<DB>, above: bigint): Promise<bigint> {
  await sql`update fence_era
    set raised = raised + greatest(0, ${String(above)}::bigint + 1 - current_era())`.execute(db)
  const { rows } = await sql<{ era: string }>`select current_era() as era`.execute(db)
  return BigInt((rows[0] ?? never()).era)
}

function max(one: bigint, other: bigint): bigint {
  return one > other ? one : other
}

function never(): never {
  throw new Error('a select without a from clause returned no row')
}
