// Goal: webhooks get the events of their organisation, signed and in order, and hostile or broken receivers harm no one else. Method: the
// sender of a cell on a real PostgreSQL, the egress as a program, and a receiver that misbehaves.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'

import { until } from '@skerry/lab'
import type { OrgId } from '@skerry/vm'
import { sql } from 'kysely'

import { postThrough } from '../../apps/cloud/src/webhooks/egress.ts'
import {
  changeWebhook,
  replaceSecret,
  resendFrom,
  wholeWebhook,
  type WholeWebhook,
} from '../../apps/cloud/src/webhooks/webhooks.ts'
import { BASE, isSigned, openWebhookSite, type Added, type WebhookSite } from './webhook-site.ts'

let site: WebhookSite
let other: OrgId
let system: OrgId
before(async () => {
  site = await openWebhookSite()
  const add = async (name: string) =>
    (await site.db.insertInto('org').values({ name }).returning('id').executeTakeFirstOrThrow()).id
  other = await add('other')
  system = await add('System')
})
after(() => site[Symbol.asyncDispose]())
afterEach(async () => {
  await site.db.deleteFrom('webhook').execute()
  site.heard.length = 0
  site.reply = (one, response) => {
    site.heard.push(one)
    response.writeHead(204).end()
  }
})

const read = async ({ webhook: { org, id } }: Added): Promise<WholeWebhook> => {
  const row = site.db.selectFrom('webhook').selectAll().where('org', '=', org).where('id', '=', id)
  return wholeWebhook(site.db, await row.executeTakeFirstOrThrow())
}

/** The numbers of the test events, as they arrived. */
const numbers = () =>
  site.heard.flatMap(({ events }) =>
    events.flatMap(({ type, data }) => (type === 'skerry.test.n' ? [data['n']] : [])),
  )
const upTo = (n: number) => Array.from({ length: n }, (_, at) => at)
const count = (n: number) => until(`${n} events`, async () => numbers().length >= n, 20_000)
const failed = (hook: Added) =>
  until('a failure', async () => (await read(hook)).webhook.attempts > 0, 20_000)
const set = (hook: Added, what: ReturnType<typeof sql>) =>
  sql`update webhook set ${what} where id = ${hook.webhook.id}`.execute(site.db)
const listening = (path: string) => `http://127.0.0.1:${site.port}/${path}`

test('events arrive in order, as signed CloudEvents that others can read, and only those that are wanted', async () => {
  const hook = await site.add('siem')
  await site.emit(250)
  await site.emit(3, 'noise.n')
  await site.emit(5, 'test.n', other)
  await using _ = site.startHere()
  await count(250)
  assert.deepEqual(numbers(), upTo(250))
  const sizes = site.heard.map(({ events }) => events.length)
  // The event that the webhook was added comes before them, and is not wanted.
  assert.deepEqual(sizes, [99, 100, 51])
  for (const one of site.heard) {
    assert.ok(isSigned(one, hook.secret))
    assert.equal(one.headers['content-type'], 'application/cloudevents-batch+json')
  }
  const [event] = site.heard[0]?.events ?? []
  assert.equal(event?.source, `${BASE}/api/org/${site.org}`)
  assert.ok(site.cursors(site.org).read(event?.id ?? ''), 'its id is a position in the feed')
  await until('it rests', async () => !(await read(hook)).webhook.behind)
  const { behind, deliveries } = await read(hook)
  assert.equal(behind, 0)
  assert.deepEqual(
    deliveries.map(({ status, events, taken }) => [status, events, taken]),
    sizes.toReversed().map((events) => [204, events, true]),
  )
  await site.emit(1)
  await count(251)
})

test('a webhook of System gets the events of all organisations, and others only their own', async () => {
  await site.add('own', { org: other, url: listening('other') })
  await site.add('all', { org: system, url: listening('system') })
  await site.emit(2)
  await site.emit(3, 'test.n', other)
  // Started now: a webhook with no wanted events would pass over the event that it was added, which is counted below.
  await using _ = site.startHere()
  // The list of the egress allows the receiver to one organisation only: the others' messages do not leave.
  const refusals = async () => {
    const rows = await site.db.selectFrom('webhook').selectAll().orderBy('name').execute()
    return rows.filter(({ attempts }) => attempts > 0)
  }
  await until('both are refused by the egress', async () => (await refusals()).length === 2)
  assert.equal(site.heard.length, 0)
  for (const { last_answer: answer } of await refusals()) {
    assert.match(answer ?? '', /not on the list of allowed servers/)
  }
  const rows = await site.db.selectFrom('webhook').selectAll().orderBy('name').execute()
  const behind = await Promise.all(rows.map((row) => wholeWebhook(site.db, row)))
  const [all = 0, own = 0] = behind.map((each) => each.behind)
  assert.equal(own, 4, 'its three events, and that it was added')
  assert.ok(all > own)
})

test('two cells that send at once send nothing twice', async () => {
  await site.add('one')
  await using cells = new AsyncDisposableStack()
  for (let cell = 0; cell < 2; cell += 1) cells.use(site.startHere())
  for (let part = 0; part < 20; part += 1) await site.emit(50)
  await count(1000)
  const ids = site.heard.flatMap(({ events }) => events.map(({ id }) => id))
  assert.equal(new Set(ids).size, 1000)
  assert.equal(ids.length, 1000)
})

test('a receiver that redirects, sends a gigabyte or nothing at all has not taken it, and is tried again with the same message', async () => {
  let gigabyte = 0
  site.reply = (one, response) => {
    site.heard.push(one)
    if (one.path === '/away') response.writeHead(302, { location: listening('inside') }).end()
    if (one.path === '/slow') return
    if (one.path !== '/big') return
    const piece = Buffer.alloc(64 * 1024)
    const write = () => {
      while (gigabyte < 1024 ** 3 && response.writable) {
        gigabyte += piece.length
        if (response.write(piece)) continue
        response.once('drain', write)
        return
      }
    }
    response.on('error', () => undefined)
    write()
  }
  const hooks = {
    away: await site.add('away', { url: listening('away') }),
    slow: await site.add('slow', { url: listening('slow') }),
    big: await site.add('big', { url: listening('big') }),
    inside: await site.add('inside', { url: `http://localhost:${site.port}/inside` }),
    unlisted: await site.add('unlisted', { url: 'https://elsewhere.example/' }),
    closed: await site.add('closed', { url: 'http://127.0.0.1:1/' }),
  }
  await site.emit(1)
  const [patient, hasty] = [postThrough(site.sender.socket), postThrough(site.sender.socket, 500)]
  await using _ = site.startHere((message, signal) =>
    (message.url.endsWith('/slow') ? hasty : patient)(message, signal),
  )
  const answers = {
    away: /^answered 302; redirections are not followed$/,
    slow: /^no answer within 0.5 s$/,
    big: /larger than 262144 bytes/,
    inside: /localhost resolves to .*, which is not a public address/,
    unlisted: /not on the list of allowed servers/,
    closed: /cannot connect to 127\.0\.0\.1: ECONNREFUSED/,
  }
  for (const [name, wanted] of Object.entries(answers)) {
    const hook = hooks[name as keyof typeof hooks]
    await failed(hook)
    const { webhook, deliveries } = await read(hook)
    assert.match(webhook.last_answer ?? '', wanted)
    assert.equal(deliveries.at(0)?.taken, false)
    assert.ok(webhook.failing_since)
  }
  assert.ok(gigabyte < 64 * 1024 * 1024, `${gigabyte} bytes were written`)
  assert.ok(site.heard.every(({ path }) => path !== '/inside'))
  site.heard.length = 0
  await until('another attempt', async () => site.heard.length >= 3)
  const again = site.heard.find(({ path }) => path === '/away')
  site.heard.length = 0
  await until('and another', async () => site.heard.some(({ path }) => path === '/away'))
  const next = site.heard.find(({ path }) => path === '/away')
  assert.equal(again?.headers['webhook-id'], next?.headers['webhook-id'])
  assert.equal(again?.body, next?.body)
})

test('receivers of one organisation that hang hold up no other', async () => {
  site.reply = (one, response) => {
    if (one.path === '/slow') return
    site.heard.push(one)
    response.writeHead(200).end()
  }
  const posted: OrgId[] = []
  const hanging = postThrough(site.sender.socket)
  for (let at = 0; at < 6; at += 1) await site.add(`slow-${at}`, { url: listening('slow') })
  await site.add('quick', { org: other, url: listening('quick') })
  await site.emit(1)
  await site.emit(1, 'test.n', other)
  await using _ = site.startHere((message, signal) => {
    posted.push(message.org)
    // As if its list had the receiver, too.
    return hanging({ ...message, org: site.org }, signal)
  })
  await count(1)
  assert.ok(posted.filter((org) => org === site.org).length <= 3)
})

test('a clock that jumps delays nothing and disables nothing', async () => {
  const hook = await site.add('jumped')
  site.reply = (one, response) => {
    site.heard.push(one)
    response.writeHead(site.heard.length === 1 ? 500 : 204).end()
  }
  // Written before the clock was set back by ten hours, and four days before it was set ahead.
  const ahead = sql`clock_timestamp() + interval '10 hours'`
  await set(
    hook,
    sql`lease_until = ${ahead}, next_at = ${ahead}, attempts = 3,
    failing_since = clock_timestamp() - interval '4 days'`,
  )
  await site.emit(1)
  await using _ = site.startHere()
  await until('an attempt', async () => (await read(hook)).webhook.attempts === 4)
  assert.equal((await read(hook)).webhook.disabled, null)
  await set(hook, sql`next_at = clock_timestamp()`)
  await count(2)
  await until('it is taken', async () => (await read(hook)).webhook.failing_since === null)
})

test('a webhook that fails for three days is disabled with words on what to do, and enabled it sends what it has missed', async () => {
  const hook = await site.add('down')
  site.reply = (_, response) => void response.writeHead(500).end()
  await set(hook, sql`attempts = 280, failing_since = clock_timestamp() - interval '73 hours'`)
  await site.emit(2)
  await using _ = site.startHere()
  await until('it is disabled', async () => (await read(hook)).webhook.disabled === 'failing')
  const [told] = await site.db
    .selectFrom('event')
    .selectAll()
    .where('kind', '=', 'webhook.disabled')
    .where('org', '=', site.org)
    .execute()
  assert.equal(told?.details['why'], 'its receiver has taken nothing for three days')
  assert.match(String(told?.details['next']), /skerry webhook set down --enable/)
  await site.emit(1)
  site.reply = (one, response) => {
    site.heard.push(one)
    response.writeHead(204).end()
  }
  const { webhook } = await read(hook)
  const settings = { url: webhook.url, kinds: webhook.kinds, enabled: true }
  await site.db.transaction().execute((tx) => changeWebhook(tx, site.principal, webhook, settings))
  await count(3)
  assert.deepEqual(numbers(), [0, 1, 0])
})

test('a receiver that answers 410 is gone at once', async () => {
  const hook = await site.add('gone')
  site.reply = (_, response) => void response.writeHead(410).end()
  await site.emit(1)
  await using _ = site.startHere()
  await until('it is disabled', async () => (await read(hook)).webhook.disabled === 'gone')
})

test('while the egress is away no receiver is to blame, and nothing is lost', async () => {
  const hook = await site.add('patient')
  await site.stopEgress()
  await site.emit(1)
  await using _ = site.startHere()
  await until('it is told', async () => (await read(hook)).webhook.last_answer !== null)
  const { webhook, deliveries } = await read(hook)
  assert.deepEqual([webhook.attempts, webhook.failing_since, deliveries.length], [0, null, 0])
  assert.equal(webhook.last_answer, 'the egress of the cloud is not reachable')
  await site.startEgress()
  await set(hook, sql`next_at = clock_timestamp()`)
  await count(1)
})

test('events that are not kept any more, or that a restore has undone, are said to be missing', async () => {
  const old = await site.add('old', { url: listening('old') })
  const ahead = await site.add('ahead', { url: listening('ahead') })
  await set(old, sql`behind = true, reached = '2020-01-01'`)
  await set(ahead, sql`tx = '9000000000000'`)
  await site.emit(1)
  await using _ = site.startHere()
  await until('both tell', async () => site.heard.length >= 2)
  const first = (path: string) => site.heard.find((one) => one.path === path)?.events[0]
  assert.deepEqual(
    [first('/old'), first('/ahead')].map((event) => [event?.type, event?.data['why']]),
    [
      ['skerry.events.skipped', 'not kept'],
      ['skerry.events.skipped', 'restored'],
    ],
  )
  await until('it goes on', async () => !(await read(ahead)).webhook.behind)
  site.heard.length = 0
  await site.emit(1)
  await until('both get it', async () => numbers().length === 2)
})

test('events are sent again from the one that is named, in order, as new messages', async () => {
  const hook = await site.add('again')
  await site.emit(10)
  await using _ = site.startHere()
  await count(10)
  await until('it rests', async () => !(await read(hook)).webhook.behind)
  const [before] = site.heard.map(({ headers }) => headers['webhook-id'])
  const id = site.heard[0]?.events[4]?.id ?? ''
  const { webhook } = await read(hook)
  const from = site.cursors(site.org).read(id)
  await site.db.transaction().execute((tx) => resendFrom(tx, site.principal, webhook, from))
  await count(16)
  assert.deepEqual(numbers(), [...upTo(10), ...upTo(10).slice(4)])
  assert.notEqual(site.heard.at(-1)?.headers['webhook-id'], before)
})

test('a webhook whose secret cannot be decrypted says so, and works with a new one', async () => {
  const hook = await site.add('sealed')
  await set(hook, sql`sealed = decode(repeat('ab', 76), 'hex')`)
  await site.emit(1)
  await using _ = site.startHere()
  await failed(hook)
  assert.match((await read(hook)).webhook.last_answer ?? '', /secret cannot be decrypted/)
  const secret = `whsec_${Buffer.alloc(32, 8).toString('base64')}`
  const close = (what: string, about: string) => site.seal.close(what, about)
  await site.db
    .transaction()
    .execute((tx) => replaceSecret(tx, site.principal, hook.webhook, { secret, close }))
  await count(1)
  assert.ok(isSigned(site.heard[0] ?? assert.fail('nothing arrived'), secret))
})

test('while a secret is replaced messages are signed with both, and after a day with the new one', async () => {
  const hook = await site.add('secret')
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
  const close = (what: string, about: string) => site.seal.close(what, about)
  await site.db
    .transaction()
    .execute((tx) => replaceSecret(tx, site.principal, hook.webhook, { secret, close }))
  await using _ = site.startHere()
  await site.emit(1)
  await count(1)
  const signed = () => site.heard.map((one) => [hook.secret, secret].map((of) => isSigned(one, of)))
  assert.deepEqual(signed(), [[true, true]])
  await until('it rests', async () => !(await read(hook)).webhook.behind)
  await set(hook, sql`before_until = clock_timestamp()`)
  await site.emit(1)
  await count(2)
  assert.deepEqual(signed().at(-1), [false, true])
})
