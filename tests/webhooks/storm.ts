// Events are written while senders are killed and the receiver fails; nothing may be lost or arrive before an event that comes before it.
import { setTimeout as sleep } from 'node:timers/promises'

import { sql } from 'kysely'

import { isSigned, kill, openWebhookSite, startSender } from './webhook-site.ts'

export interface StormSize {
  readonly events: number
  readonly kills: number
  /** Of the messages: how many the receiver refuses or does not answer. */
  readonly failing: number
  /** Between two kills. */
  readonly everyMs: number
}

export interface StormFigures {
  readonly events: number
  readonly messages: number
  readonly kills: number
  readonly refused: number
  readonly forged: number
  readonly lost: number
  /** First arrivals of an event before those of one that comes before it. */
  readonly outOfOrder: number
  readonly twice: number
  readonly seconds: number
}

const AT_ONCE = 20
/** A receiver needs a moment, in which its sender may be killed. */
const MOMENT_MS = 40

export async function storm({ events, kills, failing, everyMs }: StormSize): Promise<StormFigures> {
  await using site = await openWebhookSite()
  const { db, org } = site
  const { webhook, secret } = await site.add('storm')
  const seen: string[] = []
  let [messages, refused, forged] = [0, 0, 0]
  site.reply = async (heard, response) => {
    messages += 1
    await sleep(Math.random() * MOMENT_MS)
    if (!isSigned(heard, secret)) forged += 1
    const roll = Math.random() / failing
    // Refused; broken off before it is taken; taken, but the sender never learns.
    if (roll < 0.5) {
      refused += 1
      response.writeHead(503).end()
      return
    }
    if (roll >= 0.75) for (const { id } of heard.events) seen.push(id)
    if (roll < 1) response.socket?.destroy()
    else response.writeHead(204).end()
  }
  const began = performance.now()
  const senders = [await startSender(site.sender), await startSender(site.sender)]
  // Two writers, whose transactions commit in any order.
  const write = async (count: number) => {
    for (let done = 0; done < count; done += AT_ONCE) {
      await db.transaction().execute(async (tx) => {
        const part = Math.min(AT_ONCE, count - done)
        await sql`insert into event (kind, org) select 'test.n', ${org} from generate_series(1, ${part})`.execute(
          tx,
        )
        await sleep(Math.random() * 10)
      })
      await sleep((kills * everyMs * AT_ONCE) / events)
    }
  }
  const writing = Promise.all([write(events / 2), write(events / 2)])
  for (let killed = 0; killed < kills; killed += 1) {
    await sleep(everyMs)
    const at = killed % 2
    await kill(senders[at])
    senders[at] = await startSender(site.sender)
    // Lets the lease of the dead sender run out, and the wait after a failure.
    await hurry(site)
  }
  await writing
  while (new Set(seen).size < events && performance.now() - began < 600_000) {
    await hurry(site)
    await sleep(100)
  }
  for (const sender of senders) await kill(sender)
  const seconds = (performance.now() - began) / 1000
  const rows = await db
    .selectFrom('event')
    .select(['tx', 'seq'])
    .where('kind', '=', 'test.n')
    .orderBy('tx')
    .orderBy('seq')
    .execute()
  const places = new Map(rows.map((row, at) => [site.cursors(webhook.org).write(row), at]))
  const first = [...new Set(seen)].map((id) => places.get(id) ?? -1)
  const outOfOrder = first.filter((place, at) => at > 0 && place < (first[at - 1] ?? 0)).length
  return {
    events: rows.length,
    messages,
    kills,
    refused,
    forged,
    lost: rows.length - first.length,
    outOfOrder,
    twice: seen.length - first.length,
    seconds,
  }
}

const hurry = ({ db }: Pick<Awaited<ReturnType<typeof openWebhookSite>>, 'db'>) =>
  sql`update webhook set lease_until = least(lease_until, clock_timestamp() + interval '1 second'),
    next_at = least(next_at, clock_timestamp() + interval '20 milliseconds')`.execute(db)
