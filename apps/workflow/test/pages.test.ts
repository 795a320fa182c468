// Goal: a user with only a browser lists, starts, follows, cancels and answers; no foreign page can do it for them.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { record } from '../src/store/record.ts'
import { BASE, openWorkflowApi, type WorkflowApi } from './workflow-api.ts'
import { seedExecution, seedWorkflow } from './workflow-database.ts'

let api: WorkflowApi
before(async () => {
  api = await openWorkflowApi()
})
after(() => api[Symbol.asyncDispose]())

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
const get = (path: string, principal = api.eng.principal) =>
  api.ask('GET', path, { as: principal, accept: BROWSER })
const post = (path: string, body = '', headers = {}, principal = api.eng.principal) =>
  api.ask('POST', path, { as: principal, accept: BROWSER, body, headers })

test('the list shows workflows and runs without a script, and user text is escaped', async () => {
  const name = `<script>alert("1")</script> & 'co'`
  await seedWorkflow(api.store, api.eng.principal, {
    name,
    description: '<img src=x onerror=alert(1)>',
  })
  const page = await get('/')
  assert.equal(page.status, 200)
  assert.equal(page.headers['content-type'], 'text/html; charset=utf-8')
  assert.match(
    String(page.headers['content-security-policy']),
    /default-src 'none'.*script-src 'self'.*frame-ancestors 'none'/,
  )
  assert.equal(page.headers['x-content-type-options'], 'nosniff')
  assert.match(page.text, /&lt;script>alert\(&quot;1&quot;\)&lt;\/script> &amp; 'co'/)
  assert.doesNotMatch(page.text, /<script>|<img src=x|onerror="/)
  assert.match(page.text, /Send Hello/)
  assert.doesNotMatch(page.text, new RegExp(api.ops.ids['workflow'] ?? 'x'))
  assert.match((await get('/?q=Hello')).text, />1 workflow</)
  assert.equal((await get('/?page=0')).status, 400)
})

test('a form generated from the schema starts a run, and its page shows the progress', async () => {
  const at = `/workflows/${api.eng.ids['workflow']}`
  const page = await get(at)
  assert.match(
    page.text,
    /<input id="start-name" name="name"[^>]* required="required" type="text">/,
  )
  assert.match(page.text, /type="number" step="any" value="1"/)
  assert.match(page.text, /type="password" autocomplete="off"/)
  assert.match(
    page.text,
    /<img class="drawing" src="\/api\/workflows\/[^"]+\/schema" alt="Drawing of Send Hello">/,
  )
  const started = await post(`${at}/runs`, 'name=John+Doe&times=2&word=hush')
  assert.equal(started.status, 303, started.text)
  const run = String(started.headers['location'])
  const followed = await get(run)
  assert.match(followed.text, /data-events="\/api\/workflows\/[^"]+\/events"/)
  assert.match(followed.text, /John Doe/)
  assert.doesNotMatch(followed.text, /hush/)
  assert.match(followed.text, /<noscript><meta http-equiv="refresh"/)
  assert.equal((await post(`${run}/cancel`)).status, 303)
  assert.match((await get(run)).text, /The run is being canceled/)
  const wrong = await post(`${at}/runs`, 'times=2')
  assert.equal(wrong.status, 400)
  assert.equal(wrong.headers['content-type'], 'text/html; charset=utf-8')
  assert.match(wrong.text, /role="alert"[^>]*>invalid inputs: name/)
})

test('an interaction is answered on the run page, and the list shows that it waits', async () => {
  const workflow = await seedWorkflow(api.store, api.eng.principal, { name: 'asks' })
  const execution = await seedExecution(api.store, api.eng.principal, workflow)
  const form = {
    type: 'object',
    properties: {
      go: { type: 'boolean' },
      how: { enum: ['fast', 'slow'] },
      list: { type: 'array' },
    },
  }
  const asks = [{ id: 'a/1', place: '/do/0', question: { title: 'Go <on>?', text: 'Now.', form } }]
  await record(api.store.db, { execution, state: 'waiting', steps: [], asks })
  assert.match((await get('/')).text, /Waiting for an answer.*Go &lt;on>\?/s)
  const run = `/workflows/${workflow.id}/runs/${execution}`
  const page = await get(run)
  const action = /<form method="post" action="([^"]+answer[^"]*)"/.exec(page.text)?.[1] ?? ''
  assert.equal(action, `${run}/answer?id=a%2F1`)
  assert.equal((await post(action, 'go=true&how=slow&list=%5B1')).status, 400)
  assert.equal((await post(action, 'go=true&how=slow&list=%5B1%5D')).status, 303)
  assert.deepEqual(api.runs.answered.at(-1)?.[3], { go: true, how: 'slow', list: [1] })
})

test('a page of another origin cannot change data, neither here nor over the API', async () => {
  const at = `/workflows/${api.eng.ids['workflow']}/runs`
  const json = `/api/workflows/${api.eng.ids['workflow']}/executions`
  const before = api.runs.started.length
  for (const origin of [
    'https://evil.example',
    'null',
    'https://workflows.example:8281.evil.example',
  ]) {
    assert.equal((await post(at, 'name=x', { origin })).status, 403, origin)
    assert.equal((await post(json, '{"input":{"name":"x"}}', { origin })).status, 403, origin)
  }
  assert.equal(api.runs.started.length, before)
  for (const origin of [BASE, `http://127.0.0.1:${api.port}`]) {
    assert.equal((await post(at, 'name=x', { origin })).status, 303, origin)
  }
})

test('static files need no credentials, and an unknown path is an HTML page for browsers', async () => {
  for (const [path, type] of [
    ['/pages/style.css', 'text/css; charset=utf-8'],
    ['/pages/live.js', 'text/javascript; charset=utf-8'],
  ] as const) {
    const file = await api.ask('GET', path, { accept: '*/*' })
    assert.deepEqual([file.status, file.headers['content-type']], [200, type])
  }
  const nowhere = await get('/nowhere')
  assert.deepEqual(
    [nowhere.status, nowhere.headers['content-type']],
    [404, 'text/html; charset=utf-8'],
  )
})
