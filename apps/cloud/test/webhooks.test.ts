// Goal: administrators manage the webhooks of their organisation and no others, and no secret can be read back. Method: over HTTP, on a
// real PostgreSQL; decisions and signatures as functions. Sending is tested in tests/webhooks.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { attribute, text, type Element } from '@skerry/xml'
import { sql } from 'kysely'

import type { EventRow } from '../src/database/events.ts'
import { isWanted, makeBatch } from '../src/webhooks/batch.ts'
import { decideDelivery, LONGEST_WAIT_MS, type Outcome } from '../src/webhooks/decide-delivery.ts'
import { signedHeaders } from '../src/webhooks/signature.ts'
import { eventCursors } from './cloud-database.ts'
import { everythingOf } from './every-route.ts'
import { find, hrefOf, openTenantsApi, pathOf, read, type TenantsApi } from './tenants-api.ts'

let api: TenantsApi
let chief: string
before(async () => {
  api = await openTenantsApi()
  chief = await api.enter(api.eng.org, 'organisation administrator')
})
after(() => api[Symbol.asyncDispose]())

const hooks = (org = api.eng.org) => `/api/admin/org/${org}/webhooks`
const body = (name: string, more = '<Url>https://siem.example/events</Url>') =>
  `<Webhook name="${name}">${more}</Webhook>`
const ask = (method: string, path: string, sent?: string, token = chief) =>
  api.ask(method, path, { token, ...(sent !== undefined && { body: sent }) })
const add = async (name: string): Promise<Element> =>
  read(await ask('POST', hooks(), body(name)), 201)
const textIn = (node: Element, name: string) => text(find(node, name)[0])

test('the secret is in the response that makes it, and nowhere else', async () => {
  const made = await add('siem')
  const secret = textIn(made, 'Secret') ?? ''
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  const path = pathOf(hrefOf(made))
  for (const [method, at, sent] of [
    ['GET', path],
    ['GET', hooks()],
    ['PUT', path, body('siem')],
    ['POST', `${path}/action/test`],
    ['POST', `${path}/action/resend`, '<ResendParams><From>0-0</From></ResendParams>'],
  ] as const) {
    const { status, text: answer } = await ask(method, at, sent)
    assert.equal(status, 200, answer)
    assert.ok(!answer.includes('whsec_'), `${method} ${at}`)
  }
  const stored = await everythingOf(api, api.eng.org)
  assert.ok(stored.includes('webhook.added'))
  assert.ok(!stored.includes(secret.slice('whsec_'.length)))
  // Paths of a URL are secrets at some receivers: events, which all users of the organisation see, have only its host.
  const { rows } = await sql<{ details: object }>`select details from event
    where kind like 'webhook.%' and org = ${api.eng.org}`.execute(api.cloud.db)
  assert.ok(!JSON.stringify(rows).includes('/events'))
  const renewed = read(await ask('POST', `${path}/action/replaceSecret`))
  assert.notEqual(textIn(renewed, 'Secret'), secret)
})

test('what is wrong in a webhook is said', async () => {
  for (const [more, why] of [
    ['', /Url must be like/],
    ['<Url>ftp://siem.example/</Url>', /Url must be like/],
    ['<Url>https://user:pw@siem.example/</Url>', /Url must be like/],
    ['<Url>https://siem.example/#part</Url>', /Url must be like/],
    ['<Url>https://siem.example\\@evil.example/</Url>', /Url must be like/],
    ['<Url>https://siem.example/</Url><Kind>VM</Kind>', /Kind must be like/],
    ['<Url>https://siem.example/</Url><Kind>vm..</Kind>', /Kind must be like/],
  ] as const) {
    const { status, text: answer } = await ask('POST', hooks(), body('wrong', more))
    assert.equal(status, 400, more)
    assert.match(answer, why)
  }
  const named = await ask('POST', hooks(), body('Not A Name'))
  assert.equal(named.status, 400)
  await add('twice')
  assert.equal((await ask('POST', hooks(), body('twice'))).status, 409)
})

test('an organisation has ten enabled webhooks at most, also when many are added at once', async () => {
  await api.cloud.db.deleteFrom('webhook').where('name', '<>', 'lab').execute()
  const statuses = await Promise.all(
    Array.from(
      { length: 15 },
      async (_, at) => (await ask('POST', hooks(), body(`n-${at}`))).status,
    ),
  )
  assert.equal(statuses.filter((status) => status === 201).length, 10)
  assert.equal(statuses.filter((status) => status === 409).length, 5)
  const enabled = `<Webhook><IsEnabled>true</IsEnabled><Url>https://siem.example/</Url></Webhook>`
  const refused = await ask('PUT', `/api/admin/webhook/${api.eng.ids['webhook']}`, enabled)
  assert.equal(refused.status, 409, refused.text)
  await api.cloud.db.deleteFrom('webhook').where('name', 'like', 'n-%').execute()
})

test('an organisation adds no webhook to another, and sends no event of another again', async () => {
  assert.equal((await ask('POST', hooks(api.ops.org), body('spy'))).status, 404)
  assert.equal((await ask('GET', `/api/admin/webhook/${api.ops.ids['webhook']}`)).status, 404)
  const path = `/api/admin/webhook/${api.eng.ids['webhook']}/action/resend`
  const foreign = eventCursors(api.ops.org).write({ tx: '5', seq: '5' })
  const sent = (from: string) => `<ResendParams><From>${from}</From></ResendParams>`
  assert.equal((await ask('POST', path, sent(foreign))).status, 400)
  const future = eventCursors(api.eng.org).write({ tx: '900000000', seq: '1' })
  const early = await ask('POST', path, sent(future))
  assert.equal(early.status, 409, early.text)
})

test('only a system administrator adds a webhook to System, which gets the events of all', async () => {
  const { id } = await api.cloud.db
    .insertInto('org')
    .values({ name: 'System' })
    .returning('id')
    .executeTakeFirstOrThrow()
  const local = await api.enter(id, 'organisation administrator')
  assert.equal((await ask('POST', hooks(id), body('all'), local)).status, 403)
  const ruler = await api.enter(id, 'system administrator')
  const made = read(await ask('POST', hooks(id), body('all'), ruler), 201)
  const path = pathOf(hrefOf(made))
  for (const [method, at, sent] of [
    ['PUT', path, body('all', '<Url>https://other.example/</Url>')],
    ['POST', `${path}/action/replaceSecret`],
    ['DELETE', path],
  ] as const) {
    assert.equal((await ask(method, at, sent, local)).status, 403, `${method} ${at}`)
  }
})

test('a webhook is tested, changed and removed', async () => {
  const made = await add('whole')
  const path = pathOf(hrefOf(made))
  const tested = read(await ask('POST', `${path}/action/test`))
  assert.deepEqual(
    [attribute(tested, 'taken'), textIn(tested, 'Message')],
    ['true', 'answered 204'],
  )
  const off = '<IsEnabled>false</IsEnabled><Url>http://siem.example:8080/</Url><Kind>vm.</Kind>'
  const changed = read(await ask('PUT', path, body('whole', off)))
  assert.deepEqual(
    ['IsEnabled', 'Url', 'Kind', 'DisabledBecause'].map((name) => textIn(changed, name)),
    ['false', 'http://siem.example:8080/', 'vm.', 'asked'],
  )
  assert.equal((await ask('DELETE', path)).status, 204)
  assert.equal((await ask('GET', path)).status, 404)
})

test('waits double up to a quarter of an hour, and a webhook is given up after three days of many attempts', () => {
  const bad: Outcome = { is: 'answered', status: 500 }
  const wait = (attempts: number, random = 0.5) => {
    const decision = decideDelivery(bad, { attempts, failingMs: 0 }, random)
    return decision.next === 'try again' ? decision.waitMs : undefined
  }
  assert.deepEqual(
    [0, 1, 2, 9, 10, 2000].map((each) => wait(each)),
    [1000, 2000, 4000, 512_000, 900_000, 900_000],
  )
  assert.deepEqual([wait(0, 0), wait(0, 1), wait(99, 1)], [900, 1100, LONGEST_WAIT_MS])
  const day = 24 * 3_600_000
  const next = (outcome: Outcome, attempts: number, failingMs: number) =>
    decideDelivery(outcome, { attempts, failingMs }, 0.5).next
  assert.equal(next(bad, 280, 3 * day + 1), 'disable')
  assert.equal(next(bad, 280, 3 * day - 1), 'try again')
  assert.equal(next(bad, 5, 400 * day), 'try again', 'a clock that jumped')
  assert.equal(next({ is: 'unsent' }, 500, 9 * day), 'try again', 'not the receiver’s fault')
  assert.equal(next({ is: 'answered', status: 410 }, 0, 0), 'disable')
  for (const status of [200, 202, 299])
    assert.equal(next({ is: 'answered', status }, 5, day), 'go on')
  for (const status of [0, 100, 199, 300, 304, 404]) {
    assert.equal(next({ is: 'answered', status }, 5, day), 'try again', String(status))
  }
})

test('a message has no more than fits, an event that is too large is sent without its data, and kinds are matched whole', () => {
  const row = (seq: number, details = {}, kind = 'vm.status') =>
    ({ tx: '9', seq: String(seq), at: new Date(0), org: api.eng.org, kind, details }) as EventRow
  const blank = { vapp: null, vm: null, task: null, host: null }
  const writer = { base: new URL('https://cloud.example'), cursors: eventCursors(api.eng.org) }
  const rows = [1, 2, 3].map((seq) => ({ ...row(seq, { text: 'x'.repeat(90_000) }), ...blank }))
  const start = { tx: '0', seq: '0' }
  const batch = makeBatch(start, rows, { kinds: [] }, writer)
  assert.deepEqual([batch.events.length, batch.last], [2, rows[1]])
  const huge = makeBatch(
    start,
    [{ ...row(1, { text: 'é'.repeat(150_000) }), ...blank }],
    { kinds: [] },
    writer,
  )
  assert.deepEqual(huge.events[0]?.data, { tooLarge: true })
  const unwanted = makeBatch(start, rows, { kinds: ['task.'] }, writer)
  assert.deepEqual([unwanted.events, unwanted.last], [[], rows[2]])
  assert.ok(isWanted('vm.status', ['vm.']) && isWanted('vm.status', ['task.', 'vm.status']))
  assert.ok(!isWanted('vms.unknown', ['vm.']) && !isWanted('vm.status', ['vm.stat']))
})

test('a signature is that of the example of Standard Webhooks', () => {
  const sent = signedHeaders(
    ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    'msg_p5jXN8AQM9LWM0D4loKWxJek',
    new Date(1_614_265_330_000),
    '{"test": 2432232314}',
  )
  assert.equal(sent['webhook-timestamp'], '1614265330')
  assert.equal(sent['webhook-signature'], 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
})
