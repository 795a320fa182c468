// Goal: event feeds are limited, end with the rights that they were opened with, and reveal nothing about other organisations.
// Method: the tenant API over a real Postgres; changes are made in the tables, as any cell would make them.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'

import type { OrgId } from '@skerry/vm'
import { sql } from 'kysely'

import { hashToken } from '../src/auth/access-token.ts'
import { makeCursors } from '../src/feeds/event-cursors.ts'
import { feedBounds } from '../src/feeds/feeds.ts'
import { eventCursors } from './cloud-database.ts'
import { openTenantsApi, XML, type TenantsApi } from './tenants-api.ts'

let api: TenantsApi
let system: OrgId
before(async () => {
  api = await openTenantsApi()
  const { db } = api.cloud
  const made = await db.insertInto('org').values({ name: 'System' }).returning('id').execute()
  system = made[0]?.id as OrgId
})
after(() => api[Symbol.asyncDispose]())

interface Read {
  readonly id: string
  readonly kind: string
}

/** An open feed, and what it has sent. */
async function follow(token: string, path = '/api/events') {
  const gone = new AbortController()
  const response = await fetch(`http://127.0.0.1:${api.port}${path}`, {
    headers: { accept: XML, 'x-cloud-authorization': token },
    signal: gone.signal,
  })
  const reported: Read[] = []
  const read = async () => {
    let text = ''
    const decoder = new TextDecoder()
    for await (const chunk of response.body as ReadableStream<Uint8Array>) {
      text += decoder.decode(chunk, { stream: true })
      const whole = text.split('\n\n')
      text = whole.pop() ?? ''
      for (const each of whole) {
        const [, id = ''] = /^id: (.+)$/m.exec(each) ?? []
        const [, kind] = /^event: (.+)$/m.exec(each) ?? []
        if (kind !== undefined) reported.push({ id, kind })
      }
    }
    return performance.now()
  }
  const over = response.status === 200 ? read() : Promise.resolve(performance.now())
  over.catch(() => undefined)
  return { status: response.status, response, reported, over, leave: () => gone.abort() }
}

const emit = (kind: string, org: OrgId | null) =>
  api.cloud.db.insertInto('event').values({ kind, org, details: '{}' }).execute()

async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 60_000
  while (!(await isSo())) {
    assert.ok(performance.now() < deadline, what)
    await new Promise((resolve) => void setTimeout(resolve, 20))
  }
}

test('a user has 20 feeds and an organisation 200; one more is 429 with a message, and another organisation has its own limit', async () => {
  const { org } = api.eng
  const users = await Promise.all(
    Array.from({ length: feedBounds.ofOrg / feedBounds.ofUser + 1 }, () => api.enter(org, 'user')),
  )
  const [first = '', ...rest] = users
  const last = rest.pop() ?? ''
  const open: Awaited<ReturnType<typeof follow>>[] = []
  for (let n = 0; n < feedBounds.ofUser; n += 1) open.push(await follow(first))
  assert.deepEqual(new Set(open.map(({ status }) => status)), new Set([200]))
  const over = await follow(first)
  assert.equal(over.status, 429)
  assert.equal(over.response.headers.get('retry-after'), '120')
  assert.match(await over.response.text(), /this user already has 20 event feeds open/)
  for (const user of rest) {
    for (let n = 0; n < feedBounds.ofUser; n += 1) open.push(await follow(user))
  }
  assert.deepEqual(new Set(open.map(({ status }) => status)), new Set([200]))
  const beyond = await follow(last)
  assert.equal(beyond.status, 429)
  assert.match(await beyond.response.text(), /this organisation already has 200 event feeds open/)
  const theirs = await follow(api.ops.token)
  assert.equal(theirs.status, 200)
  await emit('test.all', org)
  await until('all readers receive it', () =>
    open.every(({ reported }) => reported.some((e) => e.kind === 'test.all')),
  )
  assert.ok(!theirs.reported.some(({ kind }) => kind === 'test.all'))
  for (const each of [...open, theirs]) each.leave()
  await until('a closed feed frees its slot', async () => {
    const again = await follow(first)
    again.leave()
    return again.status === 200
  })
})

test('system administrators have the same limits', async () => {
  const token = await api.enter(system, 'system administrator')
  const open = []
  for (let n = 0; n < feedBounds.ofUser; n += 1) open.push(await follow(token))
  assert.equal((await follow(token)).status, 429)
  for (const each of open) each.leave()
})

const changes: Readonly<Record<string, (account: string, hash: Buffer) => ReturnType<typeof sql>>> =
  {
    'another role': (account) =>
      sql`update account set role = 'console only' where id = ${account}`,
    'a disabled account': (account) =>
      sql`update account set disabled = true where id = ${account}`,
    'a disabled organisation': (account) =>
      sql`update org set disabled = true where id = (select org from account where id = ${account})`,
    'a session that is gone': (_, hash) => sql`delete from session where token_hash = ${hash}`,
  }

for (const [name, change] of Object.entries(changes)) {
  test(`an open feed of all organisations ends within a second: ${name}`, async () => {
    const { db } = api.cloud
    const [org] = await db
      .insertInto('org')
      .values({ name: `System ${randomBytes(4).toString('hex')}` })
      .returning('id')
      .execute()
    const token = await api.enter(org?.id as OrgId, 'system administrator')
    const feed = await follow(token)
    await emit('test.before', api.eng.org)
    await until('it is delivered', () => feed.reported.some(({ kind }) => kind === 'test.before'))
    const account = await db
      .selectFrom('session')
      .select('account')
      .where('token_hash', '=', hashToken(token))
      .executeTakeFirstOrThrow()
    await change(account.account, hashToken(token)).execute(db)
    const changedAt = performance.now()
    const emitting = setInterval(() => {
      const isLate = performance.now() > changedAt + 1000
      void emit(isLate ? 'test.late' : 'test.after', api.eng.org)
    }, 100)
    const endedAt = await feed.over
    clearInterval(emitting)
    assert.ok(endedAt - changedAt < 5000, `${endedAt - changedAt} ms`)
    const late = feed.reported.filter(({ kind }) => kind === 'test.late')
    assert.deepEqual(late, [], 'nothing that happens a second later is sent')
  })
}

test('event ids reveal nothing about other organisations, are the same at every cell, and can be resumed from', async () => {
  const feed = await follow(api.eng.token)
  for (let n = 0; n < 8; n += 1) {
    await emit('test.mine', api.eng.org)
    for (let others = 0; others < n; others += 1) await emit('test.theirs', api.ops.org)
  }
  await until(
    'all readers receive it',
    () => feed.reported.filter((e) => e.kind === 'test.mine').length === 8,
  )
  feed.leave()
  const ids = feed.reported.map(({ id }) => id)
  for (const id of ids) {
    assert.match(id, /^[0-9a-f]{48}$/)
    assert.doesNotThrow(() => eventCursors(api.eng.org).read(id))
  }
  // The differences between neighbouring ids are as large as the ids themselves: they contain no counter.
  const numbers = ids.map((id) => BigInt(`0x${id}`))
  const near = numbers.slice(1).filter((each, at) => {
    const apart = each - (numbers[at] ?? 0n)
    return (apart < 0n ? -apart : apart) < 1n << 160n
  })
  assert.deepEqual(near, [])
  const again = await follow(api.eng.token, `/api/events?after=${ids[3]}`)
  await until('the rest is delivered', () => again.reported.length >= ids.length - 4)
  again.leave()
  assert.deepEqual(
    again.reported.slice(0, ids.length - 4).map(({ id }) => id),
    ids.slice(4),
  )
})

test('until=now sends every event that happened before the request, then a message named end, and closes', async () => {
  const { token, org } = api.eng
  const begin = await follow(token, '/api/events?after=0-0&until=now')
  await begin.over
  const before = begin.reported.length
  assert.equal(begin.reported.at(-1)?.kind, 'end')
  // More than two pages of 500, and beside an open feed that shares pages.
  const open = await follow(token)
  for (let round = 0; round < 5; round += 1) {
    await api.cloud.db
      .insertInto('event')
      .values(Array.from({ length: 250 }, () => ({ kind: 'test.until', org, details: '{}' })))
      .execute()
    const { reported, over } = await follow(token, '/api/events?after=0-0&until=now')
    await over
    assert.equal(reported.length, before + (round + 1) * 250)
    assert.deepEqual(
      reported.filter(({ kind }) => kind === 'end'),
      [{ id: '', kind: 'end' }],
    )
    assert.equal(reported.at(-1)?.kind, 'end')
  }
  open.leave()
  const wrong = await api.ask('GET', '/api/events?until=tomorrow', { token })
  assert.equal(wrong.status, 400)
})

test('until=now waits for events that an older transaction still holds back', async () => {
  const { token, org } = api.eng
  const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const older = api.cloud.db.transaction().execute(async (tx) => {
    await sql`select pg_current_xact_id()`.execute(tx)
    begun.resolve()
    await ended.promise
  })
  try {
    await begun.promise
    await emit('test.held', org)
    const { reported, over } = await follow(token, '/api/events?after=0-0&until=now')
    // Time enough to read the first page.
    for (let round = 0; round < 10; round += 1) await api.ask('GET', '/api/session', { token })
    ended.resolve()
    await over
    assert.deepEqual(
      reported.slice(-2).map(({ kind }) => kind),
      ['test.held', 'end'],
    )
  } finally {
    ended.resolve()
    await older
  }
})

test('a forged, foreign or plain cursor is 400, and so is one of another cloud', async () => {
  const place = { tx: '4711', seq: '12' }
  const mine = eventCursors(api.eng.org).write(place)
  const other = makeCursors(() => randomBytes(32).toString('base64'))
  const forged = Buffer.from(mine, 'hex')
  forged[3] = (forged[3] ?? 0) ^ 1
  const wrong = [
    eventCursors(api.ops.org).write(place),
    other(api.eng.org).write(place),
    '4711-12',
    forged.toString('hex'),
    `${mine}A`,
    `${mine}=`,
    mine.slice(1),
    'yesterday',
    '',
  ]
  for (const each of wrong) {
    const { status } = await api.ask('GET', `/api/events?after=${encodeURIComponent(each)}`, {
      token: api.eng.token,
    })
    assert.equal(status, 400, each)
  }
})

test('event queries use the same ids, page by page', async () => {
  const { token, org } = api.eng
  for (let n = 0; n < 6; n += 1) await emit('test.paged', org)
  const ids: string[] = []
  let path: string | undefined =
    '/api/query?type=event&format=idrecords&pageSize=2&filter=eventType==test.paged'
  while (path !== undefined) {
    const { status, text } = await api.ask('GET', path, { token })
    assert.equal(status, 200, text)
    ids.push(
      ...[...text.matchAll(/ id="urn:skerry:event:([0-9a-f-]{36})"/g)].map(([, id = '']) => id),
    )
    const next =
      / rel="nextPage"[^>]* href="([^"]+)"/.exec(text)?.[1] ??
      / href="([^"]+)"[^>]* rel="nextPage"/.exec(text)?.[1]
    const address: URL | undefined =
      next === undefined ? undefined : new URL(next.replaceAll('&amp;', '&'))
    const cursor = address?.searchParams.get('after')
    if (cursor) assert.doesNotMatch(Buffer.from(cursor, 'base64url').toString(), /"\d+"/)
    path = address && `${address.pathname}${address.search}`
  }
  assert.equal(new Set(ids).size, 6)
  const [one = ''] = ids
  const found = await api.ask('GET', `/api/query?type=event&format=idrecords&filter=id==${one}`, {
    token,
  })
  assert.match(found.text, / total="1"/)
  const foreign = await api.ask('GET', `/api/query?type=event&format=idrecords&filter=id==${one}`, {
    token: api.ops.token,
  })
  assert.match(foreign.text, / total="0"/)
})
