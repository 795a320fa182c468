// Goal: the API as a client sees it: login, browsing, instantiate, power, tasks, query, events.
// Method: a real HTTP server and a real Postgres. Without Temporal, operations stay queued, and the tests inspect the queue.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { after, before, test } from 'node:test'

import type { VmId } from '@skerry/vm'
import { attribute, localName, readXml } from '@skerry/xml'

import { prolongWaits } from './login-waits.ts'
import {
  BASE,
  find,
  hrefOf,
  instantiate,
  linksOf,
  logIn as logInAt,
  openTenantsApi,
  pathOf,
  read,
  toRead,
  XML,
  type Ask,
  type TenantsApi,
} from './tenants-api.ts'

let api: TenantsApi
before(async () => {
  api = await openTenantsApi()
})
after(() => api[Symbol.asyncDispose]())

const ask: Ask = (method, path, requested) => api.ask(method, path, requested)
const get = (path: string) => ask('GET', path, { token: api.eng.token })
const logIn = (name: string, password?: string) => logInAt(ask, name, password)

test('the versions are listed without credentials and without a version in the request', async () => {
  const answer = await ask('GET', '/api/versions', { headers: { accept: '*/*' } })
  const versions = find(readXml(answer.text), 'VersionInfo', 'LoginUrl')
  assert.deepEqual([answer.status, versions.length], [200, 2])
  assert.ok(answer.text.includes(`<LoginUrl>${BASE}/api/sessions</LoginUrl>`))
})

test('all header names are in lower case', async () => {
  for (const connection of ['keep-alive', 'close']) {
    const sent = request({ port: api.port, path: '/api/org', headers: { connection } })
    const [response] = (await once(sent.end(), 'response')) as [IncomingMessage]
    const names = response.resume().rawHeaders.filter((_, at) => at % 2 === 0)
    assert.deepEqual(
      names,
      names.map((name) => name.toLowerCase()),
    )
    assert.equal(response.headers['connection'], connection)
  }
})

test('a missing or unknown version is 406 and lists the supported ones', async () => {
  for (const accept of ['*/*', 'application/*+xml;version=31.0']) {
    const answer = await ask('GET', '/api/org', { token: api.eng.token, headers: { accept } })
    assert.equal(answer.status, 406)
    const error = readXml(answer.text)
    assert.deepEqual(
      [
        localName(error.name),
        attribute(error, 'majorErrorCode'),
        attribute(error, 'minorErrorCode'),
      ],
      ['Error', '406', 'NOT_ACCEPTABLE'],
    )
    assert.match(attribute(error, 'message') ?? '', /\[1\.5, 5\.1, 5\.5\]/)
  }
  const malformed = { accept: 'vnd.cloud.org+xml;version=5.5' }
  assert.equal(
    (await ask('GET', '/api/org', { token: api.eng.token, headers: malformed })).status,
    200,
  )
})

test('login: a token in a header and a cookie, and the links that clients start from', async () => {
  const answer = await logIn('alice@eng')
  const session = read(answer)
  assert.match(answer.token, /^\S{20,}$/)
  assert.deepEqual(answer.headers['set-cookie'], [
    `cloud-token=${answer.token}; Secure; Path=/; HttpOnly; SameSite=Strict`,
  ])
  assert.deepEqual([attribute(session, 'user'), attribute(session, 'org')], ['alice', 'eng'])
  assert.match(attribute(session, 'type') ?? '', /session\+xml;version=5\.1$/)
  const rels = find(session, 'Link').map((each) => attribute(each, 'rel') ?? '')
  assert.equal(rels.filter((rel) => rel === 'remove').length, 1)
  const targets = find(session, 'Link').map((each) => attribute(each, 'type')?.split('.').at(-1))
  for (const type of ['orgList+xml', 'org+xml', 'queryList+xml']) assert.ok(targets.includes(type))
  assert.ok(find(session, 'Link').some((each) => attribute(each, 'name') === 'eng'))
  const again = await ask('GET', '/api/session', { token: answer.token })
  assert.deepEqual(find(read(again), 'Link').length, rels.length)
  assert.equal(again.headers['x-cloud-authorization'], undefined, 'sent at login only')
  const gone = await ask('DELETE', '/api/session', { token: answer.token })
  assert.deepEqual([gone.status, gone.text], [204, ''])
  assert.equal((await ask('GET', '/api/session', { token: answer.token })).status, 401)
})

test('a wrong password, an unknown user, no credentials, and the cookie alone are 401 with a challenge', async () => {
  const cookie = { cookie: `cloud-token=${api.eng.token}` }
  const refused = [
    await logIn('alice@eng', 'wrong'),
    await logIn('nobody@eng'),
    await logIn('alice@nowhere'),
    await ask('POST', '/api/sessions'),
    await ask('GET', '/api/session', { headers: cookie }),
    await ask('GET', '/api/session'),
  ]
  for (const { status, headers, text } of refused) {
    assert.deepEqual([status, headers['www-authenticate']], [401, 'Basic realm="skerry"'])
    assert.equal(localName(readXml(text).name), 'Error')
  }
  assert.equal(refused[0]?.text, refused[1]?.text, 'the response does not reveal which users exist')
})

test('after five wrong passwords a login is 429, with Retry-After', async () => {
  for (let n = 0; n < 5; n += 1) assert.equal((await logIn('mallory@eng', 'guess')).status, 401)
  assert.deepEqual(await prolongWaits(api.cloud.db), [1])
  const { status, headers, text } = await logIn('mallory@eng', 'guess')
  assert.deepEqual([status, Number(headers['retry-after']) > 3500], [429, true])
  assert.match(text, /minorErrorCode="TOO_MANY"/)
  assert.equal((await logIn('alice@eng')).status, 200)
})

test('links lead from the session to a template', async () => {
  const org = read(await get(`/api/org/${api.eng.org}`))
  assert.equal(attribute(org, 'name'), 'eng')
  const list = read(await get('/api/org/'))
  assert.deepEqual(
    find(list, 'Org').map((each) => attribute(each, 'name')),
    ['eng'],
  )
  const vdcLink = find(org, 'Link').find((each) => attribute(each, 'name') === 'centre')
  const vdc = read(await get(pathOf(hrefOf(vdcLink))))
  assert.equal(attribute(vdc, 'status'), '1')
  const [entity] = find(vdc, 'ResourceEntities', 'ResourceEntity')
  const template = read(await get(pathOf(hrefOf(entity))))
  assert.equal(attribute(template, 'name'), 'debian')
  const adds = find(vdc, 'Link')
    .filter((each) => attribute(each, 'rel') === 'add')
    .map(hrefOf)
  assert.ok(adds.some((href) => href.endsWith('/action/instantiateVAppTemplate')))
})

test('instantiate is 201 with the vApp, its task inside, and each can be read', async () => {
  const { vdc, template = '' } = api.eng.ids
  const body = instantiate('second', template.replace('vappTemplate-', ''), true)
  const path = `/api/vdc/${vdc}/action/instantiateVAppTemplate`
  const answer = await ask('POST', path, { token: api.eng.token, body })
  const vapp = read(answer, 201)
  assert.equal(answer.headers['location'], hrefOf(vapp))
  assert.deepEqual([attribute(vapp, 'status'), attribute(vapp, 'deployed')], ['0', 'false'])
  const [inside] = find(vapp, 'Tasks', 'Task')
  const task = read(await get(pathOf(hrefOf(inside))))
  assert.equal(attribute(task, 'status'), 'running')
  assert.equal(attribute(task, 'operationName'), 'vdcInstantiateVapp')
  assert.equal(hrefOf(find(task, 'Owner')[0]), hrefOf(vapp))
  const started = new Date(attribute(task, 'startTime') ?? '').getTime()
  const expires = new Date(attribute(task, 'expiryTime') ?? '').getTime()
  assert.equal(expires - started, 90 * 86_400_000)
  const [child] = find(vapp, 'Children', 'Vm')
  const vm = read(await get(pathOf(hrefOf(child))))
  assert.deepEqual([localName(vm.name), attribute(vm, 'status')], ['Vm', '0'])
  assert.equal(find(vm, 'Tasks', 'Task').length, 2, 'it is created, then started')
  const twice = await ask('POST', path, { token: api.eng.token, body })
  assert.equal(twice.status, 409)
  for (const wrong of ['', '<Other/>', body.replace('vappTemplate-', 'x-')]) {
    assert.equal((await ask('POST', path, { token: api.eng.token, body: wrong })).status, 400)
  }
})

test('power: 202 with the task and its Location; an action without a link is 409; cancel is 204', async () => {
  const [vm] = (await api.cloud.addVms(1, 'POWERED_OFF')).vms as [VmId]
  const path = `/api/vApp/vm-${vm}`
  const links = linksOf(read(await get(path)))
  assert.ok(links['power:powerOn'] && links['remove'] && !links['power:powerOff'])
  const answer = await ask('POST', pathOf(links['power:powerOn']), { token: api.eng.token })
  const task = read(answer, 202)
  assert.equal(answer.headers['location'], hrefOf(task))
  assert.deepEqual(
    [attribute(task, 'status'), attribute(task, 'operationName')],
    ['queued', 'vappDeploy'],
  )
  assert.equal((await ask('DELETE', path, { token: api.eng.token })).status, 409)
  const off = read(
    await ask('POST', `${path}/power/action/powerOff`, { token: api.eng.token }),
    202,
  )
  assert.equal(attribute(off, 'status'), 'queued', 'a busy VM queues the operation')
  const cancel = linksOf(off)['task:cancel'] ?? ''
  const canceled = await ask('POST', pathOf(cancel), { token: api.eng.token })
  assert.deepEqual([canceled.status, canceled.text], [204, ''])
  const ended = read(await get(pathOf(hrefOf(off))))
  assert.equal(attribute(ended, 'status'), 'canceled')
  assert.ok(attribute(ended, 'endTime'))
  assert.equal(linksOf(ended)['task:cancel'], undefined)
})

test('an operation on a vApp applies to all its VMs; after its deletion nothing can be queued', async () => {
  const { vapp } = await api.cloud.addVms(2, 'POWERED_OFF')
  const path = `/api/vApp/vapp-${vapp}`
  const answer = await ask('DELETE', `${path}?force=False&recursive=False`, {
    token: api.eng.token,
  })
  const task = read(answer, 202)
  assert.equal(attribute(task, 'operationName'), 'vdcDeleteVapp')
  const after = await ask('POST', `${path}/power/action/powerOn`, { token: api.eng.token })
  assert.equal(after.status, 409)
  const document = read(await get(`/api/vApp/urn:skerry:vapp:${vapp}/`))
  assert.equal(linksOf(document)['remove'], undefined)
})

test('a query is filtered, has the requested fields, and is paged', async () => {
  const { vms } = await api.cloud.addVms(3, 'SUSPENDED')
  const query = async (rest: string) => read(await get(`/api/query?type=vm${rest}`))
  const found = await query('&filter=status==SUSPENDED&fields=name,containerName&sortAsc=name')
  const records = find(found, 'VMRecord')
  assert.equal(attribute(found, 'total'), '3')
  assert.deepEqual(
    records.map((each) => Object.keys(each.attributes).toSorted()),
    records.map(() => ['containerName', 'href', 'name']),
  )
  assert.deepEqual(
    records.map((each) => attribute(each, 'name')),
    ['vm-0', 'vm-1', 'vm-2'],
  )
  assert.deepEqual(
    records.map(hrefOf),
    vms.map((vm) => `${BASE}/api/vApp/vm-${vm}`),
  )
  const page = await query('&filter=status==SUSPENDED&pageSize=2&page=2&sortDesc=name')
  assert.deepEqual(
    find(page, 'VMRecord').map((each) => attribute(each, 'name')),
    ['vm-0'],
  )
  assert.deepEqual(Object.keys(linksOf(page)), ['alternate', 'firstPage', 'previousPage'])
  const first = read(await get(pathOf(linksOf(page)['firstPage'] ?? '')))
  assert.equal(find(first, 'VMRecord').length, 2)
  const past = await query('&filter=status==SUSPENDED&page=99')
  assert.deepEqual([attribute(past, 'total'), find(past, 'VMRecord').length], ['3', 0])
  assert.equal(attribute(await query('&pageSize=1000'), 'pageSize'), '128')
  const some = await query('&filter=(name==vm-*;status==SUSPENDED),name==none')
  assert.equal(attribute(some, 'total'), '3')
})

test('an invalid query is 400 and says where the error is', async () => {
  const wrong: readonly (readonly [string, RegExp])[] = [
    ['type=vm&filter=size==3', /column 1: vm has no attribute size; it has name/],
    ['type=vm&filter=name==a;', /column 9/],
    ['type=vm&filter=(name==a', /column 9: expected a closing parenthesis/],
    ['type=vm&fields=size', /no attribute size/],
    ['type=moon', /one of vm/],
    ['type=vm&page=0', /page/],
    ['type=vm&pageSize=-1', /pageSize/],
    ["type=vm&sortAsc=name'--", /no attribute/],
  ]
  for (const [rest, says] of wrong) {
    const { status, text } = await get(`/api/query?${rest}`)
    assert.equal(status, 400, rest)
    assert.match(attribute(readXml(text), 'message') ?? '', says, rest)
  }
  const quoted = await get(`/api/query?type=vm&filter=name==${encodeURIComponent("a' or 'a'='a")}`)
  assert.equal(attribute(read(quoted), 'total'), '0')
})

test('a repeated Idempotency-Key returns the same task; with another body 409; organisations have separate keys', async () => {
  const { vdc, template = '' } = api.eng.ids
  const path = `/api/vdc/${vdc}/action/instantiateVAppTemplate`
  const uuid = template.replace('vappTemplate-', '')
  const once = (name: string) =>
    ask('POST', path, {
      token: api.eng.token,
      headers: { 'idempotency-key': 'k-1' },
      body: instantiate(name, uuid, false),
    })
  const answers = await Promise.all(Array.from({ length: 10 }, () => once('same')))
  const hrefs = new Set(answers.map((answer) => hrefOf(read(answer, 201))))
  assert.equal(hrefs.size, 1)
  assert.equal((await once('other')).status, 409)
  const theirs = await ask(
    'POST',
    `/api/vdc/${api.ops.ids['vdc']}/action/instantiateVAppTemplate`,
    {
      token: api.ops.token,
      headers: { 'idempotency-key': 'k-1' },
      body: instantiate(
        'same',
        (api.ops.ids['template'] ?? '').replace('vappTemplate-', ''),
        false,
      ),
    },
  )
  assert.equal(theirs.status, 201)
  const [vm] = (await api.cloud.addVms(1, 'POWERED_OFF')).vms as [VmId]
  const power = () =>
    ask('POST', `/api/vApp/vm-${vm}/power/action/powerOn`, {
      token: api.eng.token,
      headers: { 'idempotency-key': 'k-2' },
    })
  assert.equal(hrefOf(read(await power(), 202)), hrefOf(read(await power(), 202)))
})

test('a delete whose response was lost returns the same task when it is repeated after everything is gone', async () => {
  const { vms, vapp } = await api.cloud.addVms(1, 'POWERED_OFF')
  const [vm] = vms as [VmId]
  const path = `/api/vApp/vapp-${vapp}`
  const remove = (key: string, { token } = api.eng) =>
    ask('DELETE', path, { token, headers: { 'idempotency-key': key } })
  const first = hrefOf(read(await remove('k-3'), 202))
  const gone = { deleted_at: new Date() }
  await api.cloud.db.updateTable('vm').set(gone).where('id', '=', vm).execute()
  await api.cloud.db.updateTable('vapp').set(gone).where('id', '=', vapp).execute()
  assert.equal(hrefOf(read(await remove('k-3'), 202)), first)
  assert.equal((await remove('k-4')).status, 404)
  assert.equal((await remove('k-3', api.ops)).status, 404)
  assert.equal((await get(path)).status, 404)
})

/** Reads this many messages of an event stream. */
async function events(path: string, count: number, token = api.eng.token): Promise<string[][]> {
  const response = await fetch(`http://127.0.0.1:${api.port}${path}`, {
    headers: { accept: XML, 'x-cloud-authorization': token },
    signal: AbortSignal.timeout(60_000),
  })
  assert.equal(response.status, 200)
  assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/)
  const messages: string[][] = []
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body as ReadableStream<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true })
    const whole = text.split('\n\n')
    text = whole.pop() ?? ''
    messages.push(
      ...whole.filter((each) => each.includes('event:')).map((each) => each.split('\n')),
    )
    if (messages.length >= count) break
  }
  return messages.slice(0, count)
}

test('events have a cursor, can be resumed after it, and belong to one organisation', async () => {
  const all = await events('/api/events?after=0-0', 3)
  const [first, second] = all
  assert.match(first?.[0] ?? '', /^id: [0-9a-f]{48}$/)
  assert.deepEqual([first?.[1], second?.[1]], ['event: session.begun', 'event: task.queued'])
  const [next] = await events(`/api/events?after=${first?.[0]?.slice('id: '.length)}`, 1)
  assert.deepEqual(next, second)
  const mine = all
    .slice(1)
    .map((lines) => JSON.parse(lines[2]?.slice('data: '.length) ?? '') as object)
  for (const each of mine) assert.ok('task' in each && 'vapp' in each)
  const [, theirs] = await events('/api/events?after=0-0', 2, api.ops.token)
  assert.ok(theirs?.[2]?.includes(api.ops.vapp.replace('vapp-', '')))
  assert.equal((await get('/api/events?after=yesterday')).status, 400)
})

test('every link can be followed, from the session to all resources', async () => {
  await api.cloud.addVms(2, 'POWERED_ON')
  const seen = new Set([`${BASE}/api/session`])
  for (const href of seen) {
    const answer = await get(pathOf(href))
    assert.equal(answer.status, 200, href)
    if (!href.endsWith('/screen')) for (const next of toRead(read(answer))) seen.add(next)
  }
  const kinds = new Set([...seen].map((href) => pathOf(href).split(/[/?]/)[2]))
  const all = ['org', 'query', 'session', 'task', 'vApp', 'vAppTemplate', 'vdc']
  for (const each of all) assert.ok(kinds.has(each), each)
})

test('while the cloud is recovering, reading works and every change is 503 with a message', async () => {
  const { db } = api.cloud
  const { token, ids } = api.eng
  const vm = `/api/vApp/${ids['entity']}`
  await db.updateTable('cloud').set({ recovering: true }).execute()
  try {
    const body = instantiate('late', (ids['template'] ?? '').slice('vappTemplate-'.length), false)
    for (const [method, path, sent] of [
      ['POST', `${vm}/power/action/powerOn`],
      ['DELETE', vm],
      ['POST', `/api/vdc/${ids['vdc']}/action/instantiateVAppTemplate`, body],
      ['POST', `/api/task/${ids['task']}/action/cancel`],
    ] as const) {
      const answer = await ask(method, path, { token, ...(sent !== undefined && { body: sent }) })
      assert.equal(answer.status, 503, `${method} ${path}: ${answer.text}`)
      assert.match(String(answer.headers['retry-after']), /^\d+$/)
      const said = attribute(readXml(answer.text), 'message') ?? ''
      assert.match(said, /restored from a backup.*retry later.*skerry admin recovery info/)
    }
    for (const path of [vm, `/api/task/${ids['task']}`, '/api/query?type=vm', '/api/org']) {
      assert.equal((await get(path)).status, 200, path)
    }
    assert.equal((await logIn('alice@eng')).status, 200)
  } finally {
    await db.updateTable('cloud').set({ recovering: false }).execute()
  }
})
