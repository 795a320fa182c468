// Stores what happened to a message: where the cursor is now, or when the next attempt is due.
import { sql, type Kysely, type UpdateObject } from 'kysely'

import { emitEvent } from '../database/events.ts'
import type { CloudTables, Tx } from '../database/tables.ts'
import type { Batch } from './batch.ts'
import { LEASE } from './claims.ts'
import { describe, isTaken, type AfterDelivery, type Outcome } from './decide-delivery.ts'
import { stopped, type WebhookRow } from './webhooks.ts'

/** Messages that are listed for a webhook. */
const KEPT = 20

export interface Delivered {
  readonly batch: Batch
  readonly outcome: Outcome
  readonly decision: AfterDelivery
  readonly milliseconds: number
}

/** Events that are not wanted need no message. */
export const passOver = (
  db: Kysely<CloudTables>,
  webhook: WebhookRow,
  last: Batch['last'],
): Promise<boolean> => changeHeld(db, webhook, moved(last))

/** False: the claim has ended meanwhile, and nothing was changed. */
export async function settle(
  db: Kysely<CloudTables>,
  webhook: WebhookRow,
  delivered: Delivered,
): Promise<boolean> {
  const { batch, outcome, decision } = delivered
  return db.transaction().execute(async (tx) => {
    const isOurs = await changeHeld(tx, webhook, {
      last_answer: describe(outcome),
      ...changeOf(decision, batch),
    })
    if (!isOurs) return false
    if (outcome.is !== 'unsent') await keepDelivery(tx, webhook, delivered)
    if (decision.next === 'disable') await reportDisabled(tx, webhook, delivered)
    return true
  })
}

function changeOf(decision: AfterDelivery, batch: Batch): UpdateObject<CloudTables, 'webhook'> {
  if (decision.next === 'go on') return moved(batch.last)
  const freed = { lease_until: sql<Date>`'-infinity'` }
  const failed = {
    attempts: sql<number>`attempts + 1`,
    failing_since: sql<Date>`coalesce(failing_since, clock_timestamp())`,
  }
  if (decision.next === 'disable') {
    return { ...freed, ...failed, ...stopped, disabled: decision.why }
  }
  const { waitMs, counts } = decision
  const next = sql<Date>`clock_timestamp() + make_interval(secs => ${waitMs / 1000})`
  return { ...freed, ...(counts && failed), next_at: next }
}

/** The lease is renewed: the claim goes on with the next message. */
const moved = (last: Batch['last']): UpdateObject<CloudTables, 'webhook'> => ({
  tx: last.tx,
  seq: last.seq,
  attempts: 0,
  failing_since: null,
  next_at: sql<Date>`clock_timestamp()`,
  lease_until: sql<Date>`clock_timestamp() + ${LEASE}`,
  ...('at' in last && { reached: last.at }),
})

async function changeHeld(
  db: Kysely<CloudTables>,
  { org, id, claim }: WebhookRow,
  change: UpdateObject<CloudTables, 'webhook'>,
): Promise<boolean> {
  const changed = await db
    .updateTable('webhook')
    .set(change)
    .where('org', '=', org)
    .where('id', '=', id)
    .where('claim', '=', claim)
    .returning('id')
    .executeTakeFirst()
  return changed !== undefined
}

async function keepDelivery(
  tx: Tx,
  { org, id }: WebhookRow,
  { batch, outcome, milliseconds }: Delivered,
): Promise<void> {
  const { first, last, events } = batch
  await tx
    .insertInto('webhook_delivery')
    .values({
      org,
      webhook: id,
      first_tx: first.tx,
      first_seq: first.seq,
      last_tx: last.tx,
      last_seq: last.seq,
      events: events.length,
      status: outcome.is === 'answered' ? outcome.status : null,
      milliseconds,
      taken: isTaken(outcome),
      answer: describe(outcome),
    })
    .execute()
  await sql`delete from webhook_delivery where org = ${org} and webhook = ${id} and id <= (
    select id from webhook_delivery where org = ${org} and webhook = ${id}
    order by id desc offset ${KEPT} limit 1)`.execute(tx)
}

const words = {
  gone: 'its receiver answered 410',
  failing: 'its receiver has taken nothing for three days',
} as const

async function reportDisabled(
  tx: Tx,
  { org, name }: WebhookRow,
  { outcome, decision }: Delivered,
): Promise<void> {
  if (decision.next !== 'disable') return
  const details = {
    name,
    why: words[decision.why],
    answer: describe(outcome),
    next: `skerry webhook test ${name} shows whether it works; skerry webhook set ${name} --enable sends what it has missed`,
  }
  await emitEvent(tx, { kind: 'webhook.disabled', org, details })
}
