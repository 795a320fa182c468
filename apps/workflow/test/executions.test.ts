// Goal: runs are started, followed, canceled and answered as clients of this family do it, and nothing secret is told again.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'

import { attribute, child, children, text } from '@skerry/xml'
import { sql } from 'kysely'

import type { Progress } from '../src/durable/verbs.ts'
import { record } from '../src/store/record.ts'
import { BASE, openDoor, readAnswer, readJson, type Door } from './door.ts'
import { seedExecution, seedWorkflow } from './workflow-database.ts'

let door: Door
let path: string
before(async () => {
  door = await openDoor()
  path = `/api/workflows/${door.eng.ids['workflow']}/executions`
})
after(() => door[Symbol.asyncDispose]())

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

test('a run is accepted with its address and its document, from XML and from JSON', async () => {
  for (const [format, body] of Object.entries(context)) {
    const answer = await door.ask('POST', path, {
      as: door.eng.who,
      body,
      accept: `application/${format}`,
    })
    assert.equal(answer.status, 202, answer.text)
    const location = String(answer.headers['location'])
    assert.match(location, new RegExp(`^${BASE}${path}/[0-9a-f-]{36}/$`))
    const id = location.split('/').at(-2) ?? ''
    assert.ok(answer.text.includes(id))
    assert.ok(door.runs.started.includes(id))
    const read = await door.ask('GET', `${path}/${id}`, { as: door.eng.who, accept: json })
    const told = readJson(read)
    assert.deepEqual(
      [told['state'], told['started-by'], told['name']],
      ['initializing', door.eng.who.user, 'Send Hello'],
    )
    const inputs = told['input-parameters'] as { name: string; type: string; value: unknown }[]
    assert.deepEqual(inputs.find(({ name }) => name === 'name')?.value, {
      string: { value: 'John' },
    })
    assert.deepEqual(inputs.find(({ name }) => name === 'times')?.value, { number: { value: 1 } })
    assert.equal(inputs.find(({ name }) => name === 'word')?.type, 'SecureString')
    assert.ok(!read.text.includes(SECRET) && !answer.text.includes(SECRET))
    const xml = readAnswer(await door.ask('GET', `${path}/${id}`, { as: door.eng.who }))
    assert.equal(text(child(children(child(xml, 'input-parameters'))[0], 'string')), 'John')
  }
  const { rows } = await sql<{ found: boolean }>`
    select execution::text || encode(sealed, 'escape') like ${`%${SECRET}%`} as found from execution_secret
    union all select input::text like ${`%${SECRET}%`} from execution`.execute(door.store.db)
  assert.ok(rows.length > 2 && rows.every(({ found }) => !found), 'no secret stands anywhere')
})

test('inputs that do not fit are told, and nothing is started', async () => {
  const before = door.runs.started.length
  for (const body of ['', '{"input":{"name":1}}', '{"input":{}}', '<execution-context/>']) {
    const answer = await door.ask('POST', path, { as: door.eng.who, body, accept: json })
    assert.equal(answer.status, 400, `${body} ${answer.text}`)
    assert.match(String(readJson(answer, 400)['message']), /name/)
  }
  assert.equal(door.runs.started.length, before)
})

test('the same Idempotency-Key is the same run', async () => {
  const start = (key: string) =>
    door.ask('POST', path, {
      ...{ as: door.eng.who, body: context.json, headers: { 'idempotency-key': key } },
    })
  const [one, two, other] = [await start('a'), await start('a'), await start('b')]
  assert.equal(one.headers['location'], two.headers['location'])
  assert.notEqual(one.headers['location'], other.headers['location'])
})

test('while the engine is away lists and exports are answered, and a start says 503 with words', async () => {
  door.runs.away = true
  try {
    const get = (at: string, accept?: string) => door.ask('GET', at, { as: door.eng.who, accept })
    const workflow = `/api/workflows/${door.eng.ids['workflow']}`
    for (const at of ['/api/workflows', workflow, path, '/api/schedules', `${workflow}/schema`]) {
      assert.equal((await get(at)).status, 200, at)
    }
    assert.equal((await get(workflow, 'application/zip')).status, 200)
    const grants = door.cloud.grants.alive.size
    const refused = await door.ask('POST', path, { as: door.eng.who, body: context.json })
    assert.equal(
      text(child(readAnswer(refused, 503), 'message')),
      'the engine that runs workflows does not answer',
    )
    assert.equal(refused.headers['retry-after'], '2')
    assert.equal(
      door.cloud.grants.alive.size,
      grants,
      'nothing may be done in anybody’s name for it',
    )
    const { total } = readJson<{ total: number }>(await get(path, json))
    assert.ok(total > 0)
    const made = await door.ask('POST', '/api/schedules', {
      as: door.eng.who,
      body: JSON.stringify({ workflow: door.eng.ids['workflow'], name: 'x', cron: '0 3 * * *' }),
    })
    assert.equal(made.status, 400, 'a schedule keeps no secrets')
  } finally {
    door.runs.away = false
  }
})

const told = (execution: string, more: Partial<Progress>): Progress => ({
  ...{ execution, state: 'running', steps: [], asks: [], ...more },
})

test('state, current step, logs both ways, outputs and failure are told as clients read them', async () => {
  const who = door.enter('eng', 'author')
  const workflow = await seedWorkflow(door.store, who, { name: 'followed' })
  const run = await seedExecution(door.store, who, workflow)
  const at = `/api/workflows/${workflow.id}/executions/${run}`
  const now = Date.now()
  const note = (number: number, what: 'began' | 'ended' | 'failed') => ({
    ...{
      number,
      at: now + number,
      place: '/do/0/greet',
      name: 'greet',
      what,
      text: 'with <care> \u0001',
    },
  })
  await record(door.store.db, told(run, { steps: [note(1, 'began')] }))
  const state = await door.ask('GET', `${at}/state`, { as: who, accept: json })
  assert.deepEqual(readJson(state), { value: 'running', state: 'running' })
  const running = readJson(await door.ask('GET', at, { as: who, accept: json }))
  assert.equal(running['current-item-display-name'], 'greet')
  const drawing = await door.ask('GET', `${at}/schema`, { as: who })
  assert.equal(drawing.headers['content-type'], 'image/svg+xml; charset=utf-8')
  const error = { type: 'x', status: 500, title: 'no', detail: 'it broke' }
  await record(
    door.store.db,
    told(run, { state: 'failed', steps: [note(2, 'failed')], error, output: { n: 1 } }),
  )
  const failed = readJson(await door.ask('GET', at, { as: who, accept: json }))
  assert.deepEqual([failed['state'], failed['content-exception']], ['failed', 'no: it broke (500)'])
  assert.ok(failed['end-date'])
  const logs = readJson<{ logs: { entry: Record<string, string> }[] }>(
    await door.ask('GET', `${at}/logs`, { as: who, accept: json }),
  )
  assert.deepEqual(
    logs.logs.map(({ entry }) => [entry['severity'], entry['short-description'], entry['user']]),
    [
      ['debug', 'greet began', who.user],
      ['error', 'greet failed', who.user],
    ],
  )
  const xml = readAnswer(await door.ask('GET', `${at}/syslogs?severity=error`, { as: who }))
  assert.equal(children(xml, 'entry').length, 1)
  for (const body of [
    JSON.stringify({ severity: 'error', 'older-than': now }),
    `<log-request severity="error"><older-than>${new Date(now).toISOString()}</older-than></log-request>`,
  ]) {
    const asked = readAnswer(await door.ask('POST', `${at}/syslogs`, { as: who, body }))
    assert.equal(children(asked, 'entry').length, 1, body)
  }
  const none = await door.ask('GET', `${at}/logs?older-than=${now + 10}`, { as: who })
  assert.equal(children(readAnswer(none), 'entry').length, 0)
  for (const body of ['{', '{"severity":"loud"}', '{"older-than":"yesterday"}']) {
    assert.equal((await door.ask('POST', `${at}/syslogs`, { as: who, body })).status, 400, body)
  }
  const runs = readJson<{
    relations: { link: { attributes: { name: string; value: string }[] }[] }
  }>(await door.ask('GET', `/api/workflows/${workflow.id}/executions`, { as: who, accept: json }))
  const [first] = runs.relations.link
  const attributes = Object.fromEntries(
    first?.attributes.map(({ name, value }) => [name, value]) ?? [],
  )
  assert.deepEqual(
    [attributes['id'], attributes['state'], attributes['startedBy']],
    [run, 'failed', who.user],
  )
})

test('a run is canceled both ways by who started it or an administrator, and then deleted', async () => {
  const [who, other, admin] = [
    door.enter('eng', 'user'),
    door.enter('eng', 'author'),
    door.enter('eng', 'organisation administrator'),
  ]
  const start = async () => {
    const answer = await door.ask('POST', path, { as: who, body: context.json })
    return String(answer.headers['location']).replace(BASE, '')
  }
  const [one, two] = [await start(), await start()]
  assert.equal((await door.ask('DELETE', `${one}state`, { as: other })).status, 403)
  assert.equal((await door.ask('DELETE', `${one}state`, { as: who })).status, 204)
  assert.equal((await door.ask('DELETE', two, { as: admin })).status, 204)
  const asked = [one, two].map((each) => each.split('/').at(-2))
  assert.deepEqual(door.runs.canceled.slice(-2), asked)
  const canceling = readJson(await door.ask('GET', one, { as: who, accept: json }))
  assert.equal(canceling['business-state'], 'canceling')
  await record(door.store.db, told(asked[0] ?? '', { state: 'canceled' }))
  assert.equal((await door.ask('DELETE', `${one}state`, { as: who })).status, 409)
  assert.equal((await door.ask('DELETE', one, { as: who })).status, 204)
  assert.equal((await door.ask('GET', one, { as: who })).status, 404)
})

test('a run that waits for a person is found, told and answered once', async () => {
  const who = door.enter('eng', 'user')
  const workflow = await seedWorkflow(door.store, door.eng.who, { name: 'asks' })
  const run = await seedExecution(door.store, door.eng.who, workflow)
  const at = `/api/workflows/${workflow.id}/executions/${run}/interaction`
  assert.equal((await door.ask('GET', at, { as: who })).status, 409)
  const form = { type: 'object', properties: { go: { type: 'boolean' } }, required: ['go'] }
  const asks = [
    { id: 'ask-1', place: '/do/0', question: { title: 'Go on?', text: 'Really.', form } },
  ]
  await record(door.store.db, told(run, { state: 'waiting', asks }))
  const open = readAnswer(
    await door.ask('GET', '/api/catalog/System/UserInteraction?status=0', { as: who }),
  )
  const [only] = children(open, 'user-interaction')
  assert.deepEqual([text(child(only, 'name')), text(child(only, 'state'))], ['Go on?', 'waiting'])
  const shown = readAnswer(await door.ask('GET', at, { as: who }))
  assert.equal(attribute(children(child(shown, 'input-parameters'))[0], 'type'), 'boolean')
  const answer = (go: string) =>
    door.ask('POST', at, {
      as: who,
      body: `<execution-context><parameters><parameter name="go" type="boolean"><boolean>${go}</boolean></parameter></parameters></execution-context>`,
    })
  assert.equal((await answer('maybe')).status, 400)
  door.runs.away = true
  assert.equal((await answer('true')).status, 503)
  door.runs.away = false
  assert.equal((await answer('true')).status, 204)
  assert.deepEqual(door.runs.answered.at(-1), [run, 'ask-1', who.user, { go: true }])
  assert.equal((await answer('true')).status, 409)
})

test('a run is followed live to its end, and from where a reader left off', async () => {
  const who = door.eng.who
  const workflow = await seedWorkflow(door.store, who, { name: 'live' })
  const run = await seedExecution(door.store, who, workflow)
  const at = `/api/workflows/${workflow.id}/executions/${run}/events`
  const reading = door.ask('GET', at, { as: who })
  const note = (number: number, what: 'began' | 'ended') => ({
    ...{ number, at: 1_700_000_000_000, place: '/do/0/greet', name: 'greet', what },
  })
  await record(door.store.db, told(run, { steps: [note(1, 'began')] }))
  await record(
    door.store.db,
    told(run, { state: 'completed', steps: [note(2, 'ended')], output: {} }),
  )
  const { text: said, headers } = await reading
  assert.match(String(headers['content-type']), /^text\/event-stream/)
  assert.match(said, /event: log\ndata: .*greet began/)
  assert.match(said, /event: execution\ndata: .*"state":"completed"/)
  const rest = await door.ask('GET', at, { as: who, headers: { 'last-event-id': '1' } })
  assert.doesNotMatch(rest.text, /greet began/)
  assert.match(rest.text, /greet ended/)
})

test('schedules have a time zone, an overlap, a pause, and end with whoever may end them', async () => {
  const who = door.enter('eng', 'user')
  const { id } = await seedWorkflow(door.store, door.eng.who, { name: 'scheduled' })
  const post = (body: unknown) =>
    door.ask('POST', '/api/schedules', {
      ...{ as: who, accept: json, body: typeof body === 'string' ? body : JSON.stringify(body) },
    })
  const asked = { workflow: id, name: 'nightly', cron: '0 3 * * *', 'time-zone': 'Europe/Berlin' }
  const made = readJson<Record<string, string>>(await post({ ...asked, overlap: 'queue' }), 201)
  assert.deepEqual(
    [made['state'], made['time-zone'], made['overlap'], made['cron']],
    ['pending', 'Europe/Berlin', 'queue', '0 3 * * *'],
  )
  assert.equal(door.runs.scheduled.get(made['id'] ?? ''), false)
  const at = `/api/schedules/${made['id']}`
  const paused = readJson(await door.ask('POST', `${at}/action/pause`, { as: who, accept: json }))
  assert.equal(paused['state'], 'suspended')
  assert.equal(door.runs.scheduled.get(made['id'] ?? ''), true)
  readAnswer(await door.ask('POST', `${at}/action/resume`, { as: who }))
  for (const wrong of [
    ...[
      { 'time-zone': 'Mars/Base' },
      { cron: undefined },
      { 'every-seconds': 60 },
      { overlap: 'x' },
    ],
    ...[{ cron: 'never' }, { name: '' }, { cron: undefined, 'every-seconds': 1 }],
  ]) {
    const answer = await post({ ...asked, ...wrong })
    assert.equal(answer.status, 400, `${JSON.stringify(wrong)} ${answer.text}`)
  }
  assert.equal((await post({ ...asked, workflow: door.ops.ids['workflow'] })).status, 404)
  assert.equal((await post({ ...asked, workflow: randomUUID() })).status, 404)
  assert.equal((await post('{')).status, 400)
  const xml = `<schedule><workflow>${id}</workflow><name>hourly</name><every-seconds>3600</every-seconds></schedule>`
  assert.equal((await post(xml)).status, 201)
  const stranger = door.enter('eng', 'user')
  assert.equal((await door.ask('DELETE', at, { as: stranger })).status, 403)
  assert.equal((await door.ask('DELETE', at, { as: who })).status, 204)
  assert.equal((await door.ask('GET', at, { as: who })).status, 404)
  const own = readAnswer(await door.ask('GET', `/api/workflows/${id}/tasks`, { as: who }))
  assert.equal(attribute(own, 'total'), '1')
})
