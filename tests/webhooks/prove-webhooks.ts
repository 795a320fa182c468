// npm run prove:webhooks [-- --events N] [--kills N] Goal: of 20,000 events none is lost or out of order while senders are killed 30
// times and the receiver fails for one message in five; an idle webhook gets an event within a second; a thousand idle webhooks take at
// most a hundredth of a processor. Method: the storm of storm.test.ts; then one sender in this process, and a receiver that takes all.
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { sql } from 'kysely'

import { storm } from './storm.ts'
import { openWebhookSite } from './webhook-site.ts'

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '20000' },
    kills: { type: 'string', default: '30' },
  },
})
const GOAL_RATE = 2000
const GOAL_MS = 1000
const GOAL_SHARE = 0.01
const IDLE = 1000
const IDLE_MS = 10_000
const say = (line: string): void => void process.stdout.write(`${line}\n`)
const failures: string[] = []
const require = (ok: boolean, what: string): void => {
  say(`${ok ? 'ok' : 'NOT MET'}: ${what}`)
  if (!ok) failures.push(what)
}

const [events, kills] = [Number(values.events), Number(values.kills)]
const found = await storm({ events, kills, failing: 0.2, everyMs: 700 })
say(JSON.stringify(found))
require(found.events === events && found.lost === 0, `${found.lost} of ${events} events lost`)
require(found.outOfOrder === 0, `${found.outOfOrder} out of order`)
require(found.forged === 0, `${found.forged} messages not signed as they should be`)

await using site = await openWebhookSite()
await site.add('quick')
for (let done = 0; done < events; done += 1000) await site.emit(1000)
const arrived = () => site.heard.reduce((sum, one) => sum + one.events.length, 0)
const began = performance.now()
await using _ = site.startHere()
while (arrived() < events) await sleep(5)
const rate = Math.round(events / ((performance.now() - began) / 1000))
require(rate >= GOAL_RATE, `${rate} events/s of one webhook, from its start on`)

const waits: number[] = []
for (let round = 0; round < 50; round += 1) {
  await sleep(Math.random() * 300)
  const before = arrived()
  const sent = performance.now()
  await site.emit(1)
  while (arrived() === before) await sleep(2)
  waits.push(performance.now() - sent)
}
const sorted = waits.toSorted((a, b) => a - b)
const median = sorted[sorted.length / 2] ?? Number.NaN
const most = sorted.at(-1) ?? Number.NaN
require(most <=
  GOAL_MS, `from commit to receiver: median ${Math.round(median)} ms, most ${Math.round(most)} ms`)

await sql`insert into webhook (org, name, url, sealed, tx, seq, behind)
  select org, 'idle-' || n, url, sealed, tx, seq, false from webhook, generate_series(1, ${IDLE}) n`.execute(
  site.db,
)
await sleep(1000)
/** Processor time of this process and of its connections to PostgreSQL, in milliseconds. */
const cost = async (): Promise<number> => {
  const { rows } = await sql<{ pid: number }>`
    select pid from pg_stat_activity where application_name = 'test'`.execute(site.db)
  const stats = await Promise.all(rows.map(({ pid }) => readFile(`/proc/${pid}/stat`, 'utf8')))
  // Counted in hundredths of a second.
  const ticks = stats.flatMap((stat) => stat.split(') ')[1]?.split(' ').slice(11, 13) ?? [])
  const { user, system } = process.cpuUsage()
  return ticks.reduce((sum, each) => sum + Number(each) * 10, 0) + (user + system) / 1000
}
const first = await cost()
await sleep(IDLE_MS)
const share = ((await cost()) - first) / IDLE_MS
require(share <=
  GOAL_SHARE, `${IDLE} idle webhooks: ${(share * 100).toFixed(2)} % of a processor, with PostgreSQL`)
process.exitCode = failures.length === 0 ? 0 : 1
