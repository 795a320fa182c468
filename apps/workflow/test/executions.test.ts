// Goal: runs are started, followed, canceled and answered as clients of this API do it, and secrets are never returned.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import type { RunProgress } from '@skerry/serverless-workflow'
import { attribute, child, children, text } from '@skerry/xml'
import { sql } from 'kysely'

import { streamBounds } from '../src/identity/open-streams.ts'
import { record } from '../src/store/record.ts'
import { BASE, openWorkflowApi, readAnswer, readJson, type WorkflowApi } from './workflow-api.ts'
import { seedExecution, seedWorkflow } from './workflow-database.ts'

let api: WorkflowApi
let path: string
before(async () => {
  api = await openWorkflowApi()
  path = `/api/workflows/${api.eng.ids['workflow']}/executions`
})
after(() => api[Symbol.asyncDispose]())

const json = 'application/json'
const SECRET = 'correct horse battery staple'
const context = {
  json: JSON.stringify({
    parameters: [
      { name: 'name', type: 'string', scope: 'local', value: { string: { value: 'John' } } },
      { name: 'word', type: 'SecureString', value: { 'secure-string': { value: SECRET } } },
    ],
  }),
  xml: `<execution-context xmlns="urn:workflow"><parameters><parameter name="name" type="string"><string>John</string></parameter><parameter name="word" type="SecureString"><secure-string>${SECRET}</secure-string></parameter></parameters></execution-context>`,
}

test('starting a run returns its URL and document, from XML and from JSON', async () => {
  for (const [format, body] of Object.entries(context)) {
    const answer = await api.ask('POST', path, {
      as: api.eng.principal,
      body,
      accept: `application/${format}`,
    })
    assert.equal(answer.status, 202, answer.text)
    const location = String(answer.headers['location'])
    assert.match(location, new RegExp(`^${BASE}${path}/[0-9a-f-]{36}/$`))
    const id = location.split('/').at(-2) ?? ''
    assert.ok(answer.text.includes(id))
    assert.ok(api.runs.started.includes(id))
    const read = await api.ask('GET', `${path}/${id}`, { as: api.eng.principal, accept: json })
    const details = readJson(read)
    assert.deepEqual(
      [details['state'], details['started-by'], details['name']],
      ['initializing', api.eng.principal.user, 'Send Hello'],
    )
    const inputs = details['input-parameters'] as { name: string; type: string; value: unknown }[]
    assert.deepEqual(inputs.find(({ name }) => name === 'name')?.value, {
      string: { value: 'John' },
    })
    assert.deepEqual(inputs.find(({ name }) => name === 'times')?.value, { number: { value: 1 } })
    assert.equal(inputs.find(({ name }) => name === 'word')?.type, 'SecureString')
    assert.ok(!read.text.includes(SECRET) && !answer.text.includes(SECRET))
    const xml = readAnswer(await api.ask('GET', `${path}/${id}`, { as: api.eng.principal }))
    assert.equal(text(child(children(child(xml, 'input-parameters'))[0], 'string')), 'John')
  }
  const { rows } = await sql<{ found: boolean }>`
    select execution::text || encode(sealed, 'escape') like ${`%${SECRET}%`} as found from execution_secret
    union all select input::text like ${`%${SECRET}%`} from execution`.execute(api.store.db)
  assert.ok(
    rows.length > 2 && rows.every(({ found }) => !found),
    'no secret is stored in clear text',
  )
})

test('invalid inputs are reported, and nothing is started', async () => {
  const before = api.runs.started.length
  for (const body of ['', '{"input":{"name":1}}', '{"input":{}}', '<execution-context/>']) {
    const answer = await api.ask('POST', path, { as: api.eng.principal, body, accept: json })
    assert.equal(answer.status, 400, `${body} ${answer.text}`)
    assert.match(String(readJson(answer, 400)['message']), /name/)
  }
  assert.equal(api.runs.started.length, before)
})

test('the same Idempotency-Key returns the same run', async () => {
  const start = (key: string) =>
    api.ask('POST', path, {
      as: api.eng.principal,
      body: context.json,
      headers: { 'idempotency-key': key },
    })
  const [one, two, other] = [await start('a'), await start('a'), await start('b')]
  assert.equal(one.headers['location'], two.headers['location'])
  assert.notEqual(one.headers['location'], other.headers['location'])
})

test('a repeated request starts a run that a crash left unstarted', async () => {
  const start = () =>
    api.ask('POST', path, {
      as: api.eng.principal,
      body: context.json,
      headers: { 'idempotency-key': 'left' },
    })
  const left = await start()
  const id = String(left.headers['location']).split('/').filter(Boolean).at(-1) ?? ''
  await sql`update execution set grant_id = null where id = ${id}`.execute(api.store.db)
  const before = api.runs.started.length
  const again = await start()
  assert.deepEqual([again.status, again.headers['location']], [202, left.headers['location']])
  assert.deepEqual(api.runs.started.slice(before), [id])
  await start()
  assert.equal(api.runs.started.length, before + 1, 'once')
})

test('while Temporal is unavailable lists and exports work, and a start returns 503 with a message', async () => {
  api.runs.away = true
  try {
    const get = (at: string, accept?: string) =>
      api.ask('GET', at, { as: api.eng.principal, accept })
    const workflow = `/api/workflows/${api.eng.ids['workflow']}`
    for (const at of ['/api/workflows', workflow, path, '/api/schedules', `${workflow}/schema`]) {
      assert.equal((await get(at)).status, 200, at)
    }
    assert.equal((await get(workflow, 'application/zip')).status, 200)
    const grants = api.cloud.grants.alive.size
    const refused = await api.ask('POST', path, { as: api.eng.principal, body: context.json })
    assert.equal(text(child(readAnswer(refused, 503), 'message')), 'Temporal is not reachable')
    assert.equal(refused.headers['retry-after'], '2')
    assert.equal(api.cloud.grants.alive.size, grants, 'no grant is left')
    const { total } = readJson<{ total: number }>(await get(path, json))
    assert.ok(total > 0)
    const made = await api.ask('POST', '/api/schedules', {
      as: api.eng.principal,
      body: JSON.stringify({ workflow: api.eng.ids['workflow'], name: 'x', cron: '0 3 * * *' }),
    })
    assert.equal(made.status, 400, 'a schedule cannot store secrets')
  } finally {
    api.runs.away = false
  }
})

const progressOf = (execution: string, more: Partial<RunProgress>): RunProgress => ({
  execution,
  state: 'running',
  steps: [],
  asks: [],
  ...more,
})

test('state, current step, logs both ways, outputs and failure match what clients read', async () => {
  const principal = api.enter('eng', 'author')
  const workflow = await seedWorkflow(api.store, principal, { name: 'followed' })
  const run = await seedExecution(api.store, principal, workflow)
  const at = `/api/workflows/${workflow.id}/executions/${run}`
  const now = Date.now()
  const note = (number: number, what: 'began' | 'ended' | 'failed') => ({
    number,
    at: now + number,
    place: '/do/0/greet',
    name: 'greet',
    what,
    text: 'with <care> \u0001',
  })
  await record(api.store.db, progressOf(run, { steps: [note(1, 'began')] }))
  const state = await api.ask('GET', `${at}/state`, { as: principal, accept: json })
  assert.deepEqual(readJson(state), { value: 'running', state: 'running' })
  const running = readJson(await api.ask('GET', at, { as: principal, accept: json }))
  assert.equal(running['current-item-display-name'], 'greet')
  const drawing = await api.ask('GET', `${at}/schema`, { as: principal })
  assert.equal(drawing.headers['content-type'], 'image/svg+xml; charset=utf-8')
  const outline = await api.ask('GET', `${at}/schema`, { as: principal, accept: json })
  const { column } = readJson<{ column: { steps: { place: string; state: string }[] } }>(outline)
  assert.deepEqual(
    column.steps.map(({ place, state: shown }) => [place, shown]),
    [['/do/0/greet', 'running']],
  )
  const error = { type: 'x', status: 500, title: 'no', detail: 'it broke' }
  await record(
    api.store.db,
    progressOf(run, { state: 'failed', steps: [note(2, 'failed')], error, output: { n: 1 } }),
  )
  const failed = readJson(await api.ask('GET', at, { as: principal, accept: json }))
  assert.deepEqual([failed['state'], failed['content-exception']], ['failed', 'no: it broke (500)'])
  assert.ok(failed['end-date'])
  const logs = readJson<{ logs: { entry: Record<string, string> }[] }>(
    await api.ask('GET', `${at}/logs`, { as: principal, accept: json }),
  )
  assert.deepEqual(
    logs.logs.map(({ entry }) => [entry['severity'], entry['short-description'], entry['user']]),
    [
      ['debug', 'greet began', principal.user],
      ['error', 'greet failed', principal.user],
    ],
  )
  const xml = readAnswer(await api.ask('GET', `${at}/syslogs?severity=error`, { as: principal }))
  assert.equal(children(xml, 'entry').length, 1)
  for (const body of [
    JSON.stringify({ severity: 'error', 'older-than': now }),
    `<log-request severity="error"><older-than>${new Date(now).toISOString()}</older-than></log-request>`,
  ]) {
    const requested = readAnswer(await api.ask('POST', `${at}/syslogs`, { as: principal, body }))
    assert.equal(children(requested, 'entry').length, 1, body)
  }
  const none = await api.ask('GET', `${at}/logs?older-than=${now + 10}`, { as: principal })
  assert.equal(children(readAnswer(none), 'entry').length, 0)
  for (const body of ['{', '{"severity":"loud"}', '{"older-than":"yesterday"}']) {
    assert.equal(
      (await api.ask('POST', `${at}/syslogs`, { as: principal, body })).status,
      400,
      body,
    )
  }
  const runs = readJson<{
    relations: { link: { attributes: { name: string; value: string }[] }[] }
  }>(
    await api.ask('GET', `/api/workflows/${workflow.id}/executions`, {
      as: principal,
      accept: json,
    }),
  )
  const [first] = runs.relations.link
  const attributes = Object.fromEntries(
    first?.attributes.map(({ name, value }) => [name, value]) ?? [],
  )
  assert.deepEqual(
    [attributes['id'], attributes['state'], attributes['startedBy']],
    [run, 'failed', principal.user],
  )
})

test('a run is canceled both ways by its owner or an administrator, and then deleted', async () => {
  const [principal, other, admin] = [
    api.enter('eng', 'user'),
    api.enter('eng', 'author'),
    api.enter('eng', 'organisation administrator'),
  ]
  const start = async () => {
    const answer = await api.ask('POST', path, { as: principal, body: context.json })
    return String(answer.headers['location']).replace(BASE, '')
  }
  const [one, two] = [await start(), await start()]
  assert.equal((await api.ask('DELETE', `${one}state`, { as: other })).status, 403)
  assert.equal((await api.ask('DELETE', `${one}state`, { as: principal })).status, 204)
  assert.equal((await api.ask('DELETE', two, { as: admin })).status, 204)
  const requested = [one, two].map((each) => each.split('/').at(-2))
  assert.deepEqual(api.runs.canceled.slice(-2), requested)
  const canceling = readJson(await api.ask('GET', one, { as: principal, accept: json }))
  assert.equal(canceling['business-state'], 'canceling')
  await record(api.store.db, progressOf(requested[0] ?? '', { state: 'canceled' }))
  assert.equal((await api.ask('DELETE', `${one}state`, { as: principal })).status, 409)
  const { alive } = api.cloud.grants
  assert.deepEqual(
    requested.map((each) => alive.has(each ?? '')),
    [true, true],
  )
  assert.equal((await api.ask('DELETE', one, { as: principal })).status, 204)
  assert.deepEqual(
    requested.map((each) => alive.has(each ?? '')),
    [false, true],
    'without a record no one would end the grant later',
  )
  assert.equal((await api.ask('GET', one, { as: principal })).status, 404)
})

test('a run that waits for a user is listed, shown and answered once', async () => {
  const principal = api.enter('eng', 'user')
  const workflow = await seedWorkflow(api.store, api.eng.principal, { name: 'asks' })
  const run = await seedExecution(api.store, api.eng.principal, workflow)
  const at = `/api/workflows/${workflow.id}/executions/${run}/interaction`
  assert.equal((await api.ask('GET', at, { as: principal })).status, 409)
  const form = { type: 'object', properties: { go: { type: 'boolean' } }, required: ['go'] }
  const asks = [
    { id: 'ask-1', place: '/do/0', question: { title: 'Go on?', text: 'Really.', form } },
  ]
  await record(api.store.db, progressOf(run, { state: 'waiting', asks }))
  const open = readAnswer(
    await api.ask('GET', '/api/catalog/System/UserInteraction?status=0', { as: principal }),
  )
  const [only] = children(open, 'user-interaction')
  assert.deepEqual([text(child(only, 'name')), text(child(only, 'state'))], ['Go on?', 'waiting'])
  const shown = readAnswer(await api.ask('GET', at, { as: principal }))
  assert.equal(attribute(children(child(shown, 'input-parameters'))[0], 'type'), 'boolean')
  const answer = (go: string) =>
    api.ask('POST', at, {
      as: principal,
      body: `<execution-context><parameters><parameter name="go" type="boolean"><boolean>${go}</boolean></parameter></parameters></execution-context>`,
    })
  assert.equal((await answer('maybe')).status, 400)
  api.runs.away = true
  assert.equal((await answer('true')).status, 503)
  api.runs.away = false
  assert.equal((await answer('true')).status, 204)
  assert.deepEqual(api.runs.answered.at(-1), [run, 'ask-1', principal.user, { go: true }])
  assert.equal((await answer('true')).status, 409)
})

test('with approver other, the starter of the run and the owner of its schedule cannot answer', async () => {
  const [starter, other] = [api.enter('eng', 'author'), api.enter('eng', 'user')]
  const workflow = await seedWorkflow(api.store, starter, { name: 'approved' })
  const run = await seedExecution(api.store, starter, workflow)
  const at = `/api/workflows/${workflow.id}/executions/${run}/interaction`
  const page = `/workflows/${workflow.id}/runs/${run}`
  const form = { type: 'object', properties: { go: { type: 'boolean' } }, required: ['go'] }
  const question = { title: 'Go on?', form, approver: 'other' as const }
  const asks = [{ id: 'ask-1', place: '/do/0', question }]
  await record(api.store.db, progressOf(run, { state: 'waiting', asks }))
  const answer = (as: typeof starter) =>
    api.ask('POST', at, { as, accept: json, body: JSON.stringify({ input: { go: true } }) })
  const refused = await answer(starter)
  assert.equal(refused.status, 403)
  assert.match(refused.text, /another user must answer this/)
  const filled = { 'content-type': 'application/x-www-form-urlencoded' }
  const fromPage = { as: starter, body: 'go=true', headers: filled }
  assert.equal((await api.ask('POST', `${page}/answer`, fromPage)).status, 403)
  const shown = await api.ask('GET', page, { as: starter, accept: 'text/html' })
  assert.match(shown.text, /Another user must answer this/)
  assert.doesNotMatch(shown.text, /id="answer"/)
  assert.match((await api.ask('GET', page, { as: other, accept: 'text/html' })).text, /id="answer"/)
  const seen = readJson(await api.ask('GET', at, { as: starter, accept: json }))
  assert.equal(seen['approver'], 'other')
  assert.equal((await answer(other)).status, 204)
  assert.deepEqual(api.runs.answered.at(-1), [run, 'ask-1', other.user, { go: true }])
})

test('a run is streamed live to its end, and resumes where a reader left off', async () => {
  const principal = api.eng.principal
  const workflow = await seedWorkflow(api.store, principal, { name: 'live' })
  const run = await seedExecution(api.store, principal, workflow)
  const at = `/api/workflows/${workflow.id}/executions/${run}/events`
  const reading = api.ask('GET', at, { as: principal })
  const note = (number: number, what: 'began' | 'ended') => ({
    number,
    at: 1_700_000_000_000,
    place: '/do/0/greet',
    name: 'greet',
    what,
  })
  await record(api.store.db, progressOf(run, { steps: [note(1, 'began')] }))
  await record(
    api.store.db,
    progressOf(run, { state: 'completed', steps: [note(2, 'ended')], output: {} }),
  )
  const { text: said, headers } = await reading
  assert.match(String(headers['content-type']), /^text\/event-stream/)
  assert.match(said, /event: log\ndata: .*greet began/)
  assert.match(said, /event: execution\ndata: .*"state":"completed"/)
  const rest = await api.ask('GET', at, { as: principal, headers: { 'last-event-id': '1' } })
  assert.doesNotMatch(rest.text, /greet began/)
  assert.match(rest.text, /greet ended/)
})

test('a stream ends when its reader’s role changes or is gone, and the number of streams is limited', async () => {
  const workflow = await seedWorkflow(api.store, api.eng.principal, { name: 'watched' })
  const run = await seedExecution(api.store, api.eng.principal, workflow)
  const at = `/api/workflows/${workflow.id}/executions/${run}/events`
  const demoted = api.enter('eng', 'author')
  const first = api.ask('GET', at, { as: demoted })
  const disabled = api.enter('eng', 'author')
  const second = api.ask('GET', at, { as: disabled })
  const reader = api.enter('eng', 'user')
  const many = Array.from({ length: streamBounds.ofUser + 1 }, () =>
    api.ask('GET', at, { as: reader }),
  )
  // A stream above the limit is rejected at once; all others are read until they end.
  assert.equal((await Promise.race(many)).status, 429)
  api.cloud.add({ ...demoted, role: 'console only' })
  api.cloud.disable(disabled)
  for (const ended of [await first, await second]) {
    assert.equal(ended.status, 200)
    assert.doesNotMatch(ended.text, /"state":"completed"/)
  }
  await record(api.store.db, progressOf(run, { state: 'completed', steps: [], output: {} }))
  const read = (await Promise.all(many)).filter(({ status }) => status === 200)
  assert.equal(read.length, streamBounds.ofUser)
  for (const each of read) assert.match(each.text, /"state":"completed"/)
})
