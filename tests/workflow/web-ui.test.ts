// Goal: a page of the web UI reaches the workflow server through its cell with its session, and nothing else does. Method: the
// listeners of a cell and of a workflow server with real certificates and databases; every sender of a table; a reader that does not
// read; a server that is away.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { createServer, request as secureRequest } from 'node:https'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'

import { admitPeers, MachineLink, readText, type MachineIdentity } from '@skerry/host-api'
import { until } from '@skerry/lab'

import { ours } from '../../apps/cloud/src/dialect/dialect.ts'
import { WorkflowServers } from '../../apps/cloud/src/web-ui/workflow-servers.ts'
import {
  identityOf,
  openTestMachineApi,
  type TestMachineApi,
} from '../../apps/cloud/test/machine-api.ts'
import { BASE, openTenantsApi, type TenantsApi } from '../../apps/cloud/test/tenants-api.ts'
import {
  markedLines,
  type WorkflowImportReport,
} from '../../apps/web/src/model/workflows/workflow-import.ts'
import { findSession } from '../../apps/workflow/src/cloud/accounts.ts'
import { Cells } from '../../apps/workflow/src/cloud/cells.ts'
import { bySession } from '../../apps/workflow/src/http/identify.ts'
import { PageSessions } from '../../apps/workflow/src/http/page-sessions.ts'
import { rights } from '../../apps/workflow/src/identity/rights.ts'
import { openWorkflowApi, type WorkflowApi } from '../../apps/workflow/test/workflow-api.ts'
import { seedExecution, seedWorkflow } from '../../apps/workflow/test/workflow-database.ts'

type Headers = Readonly<Record<string, string>>

const addresses: { address: string; port: number }[] = []
const stack = new AsyncDisposableStack()
let cloud: TenantsApi
let machines: TestMachineApi
let flow: WorkflowApi
let cell: MachineIdentity
let server: MachineIdentity
/** The workflow server's listener for cells. */
let port: number
const ids: Record<'eng' | 'ops', { workflow: string; execution: string }> = {
  eng: { workflow: '', execution: '' },
  ops: { workflow: '', execution: '' },
}

before(async () => {
  const workflows = stack.use(new WorkflowServers(addresses, () => cell))
  cloud = stack.use(await openTenantsApi(undefined, workflows))
  const { forWorkflows } = cloud
  machines = stack.use(await openTestMachineApi(cloud.cloud.db, { forWorkflows }))
  cell = await identityOf(machines, 'cell', 'cell-2')
  server = await identityOf(machines, 'workflow', 'flow-1')
  flow = stack.use(await openWorkflowApi())
  const cells = stack.use(new Cells([{ address: '127.0.0.1', port: machines.port }], () => server))
  const sessions = new PageSessions(
    (token) => findSession(cells, token),
    () => performance.now(),
  )
  const epochs = { highest: 1, raise: async () => undefined }
  const admit = admitPeers({ cloud: machines.identity.name.cloud, epochs })
  port = await flow.openListener(
    bySession((token) => sessions.find(token), admit),
    { key: server.key, cert: server.cert, clientIssuer: String(server.ca) },
  )
  addresses.push({ address: '127.0.0.1', port })
  for (const orgName of ['eng', 'ops'] as const) {
    const { org, ids: own } = cloud[orgName]
    const account = own['account'] as never
    const alice = {
      account,
      org,
      orgName,
      user: 'alice',
      role: 'author',
      rights: rights.author,
    } as const
    const made = await seedWorkflow(flow.store, alice, { name: `Hello of ${orgName}` })
    ids[orgName] = {
      workflow: made.id,
      execution: await seedExecution(flow.store, alice, made),
    }
  }
})
after(() => stack.disposeAsync())

const page: Headers = { 'sec-fetch-site': 'same-origin', origin: BASE, accept: 'application/json' }
const cookieOf = (token: string): Headers => ({ cookie: `${ours.pageCookie}=${token}` })

interface PassedOn {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly text: string
}

async function open(method: string, path: string, headers: Headers, body?: string) {
  const to = { port: cloud.port, host: '127.0.0.1', method, path: `/api/workflow${path}`, headers }
  const sent = request(to)
  sent.end(body)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return response
}

async function ask(method: string, path: string, headers: Headers, body?: string) {
  const response = await open(method, path, headers, body)
  const text = Buffer.concat((await response.toArray()) as Buffer[]).toString()
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text,
  } satisfies PassedOn
}

test('a page lists and starts the workflows of its organisation, with its cookie alone', async () => {
  for (const org of ['eng', 'ops'] as const) {
    const listed = await ask('GET', '/workflows', { ...page, ...cookieOf(cloud[org].token) })
    assert.equal(listed.status, 200, listed.text)
    assert.match(listed.text, new RegExp(`Hello of ${org}`))
    assert.equal(listed.text.match(/Hello of/g)?.length, 1, 'no other organisation')
    assert.match(String(listed.headers['content-security-policy']), /sandbox/)
  }
  const started = await ask(
    'POST',
    `/workflows/${ids.eng.workflow}/executions`,
    { ...page, ...cookieOf(cloud.eng.token), 'content-type': 'application/json' },
    '{"input":{}}',
  )
  assert.equal(started.status, 202, started.text)
  const { id, 'started-by': by } = JSON.parse(started.text) as Record<string, string>
  assert.equal(by, 'alice')
  assert.ok(id !== undefined && flow.runs.started.includes(id))
})

test('a page imports a definition as text, and a refusal lists the errors with their lines', async () => {
  const own = { ...page, ...cookieOf(cloud.eng.token), 'content-type': 'text/plain' }
  const send = (text: string, query = '') => ask('POST', `/workflows${query}`, own, text)
  const good = `document:
  dsl: '1.0.3'
  namespace: tests
  name: from-the-page
  version: '1.0.0'
  title: From the page – ü
do:
  - pause:
      wait: PT1S
`
  const refused = await send(good.replace('wait: PT1S', 'wiat: PT1S'))
  assert.equal(refused.status, 400, refused.text)
  const { result, complaints } = JSON.parse(refused.text) as WorkflowImportReport
  assert.equal(result, 'refused')
  assert.deepEqual(markedLines(complaints), new Set(complaints.map(({ line }) => line)))
  assert.ok(
    complaints.length > 0 && complaints.every(({ message }) => message !== ''),
    refused.text,
  )
  const checked = await send(good, '?dryRun=true')
  assert.deepEqual([checked.status, reportOf(checked).result], [200, 'created'], checked.text)
  const imported = reportOf(await send(good))
  assert.deepEqual([imported.name, imported.result], ['From the page – ü', 'created'])
  const read = await ask('GET', `/workflows/${imported.id}`, {
    ...page,
    ...cookieOf(cloud.eng.token),
  })
  assert.equal(read.status, 200, read.text)
})

const reportOf = ({ text }: PassedOn) => JSON.parse(text) as WorkflowImportReport

test('what belongs to another organisation does not exist', async () => {
  const own = { ...page, ...cookieOf(cloud.eng.token) }
  for (const path of [
    `/workflows/${ids.ops.workflow}`,
    `/workflows/${ids.ops.workflow}/executions/${ids.ops.execution}`,
    `/workflows/${ids.ops.workflow}/executions/${ids.ops.execution}/events`,
  ]) {
    const accept = path.endsWith('events') ? 'text/event-stream' : 'application/json'
    assert.equal((await ask('GET', path, { ...own, accept })).status, 404, path)
  }
})

test('the cookie counts for pages of this cloud only, and an API token in it for nothing', async () => {
  const own = cookieOf(cloud.eng.token)
  const made = await cloud.ask('POST', '/api/session/tokens', {
    token: cloud.eng.token,
    body: '<AccessTokenParams name="for-a-cookie"/>',
  })
  const script = /skat_[\w-]+/.exec(made.text)?.[0] ?? assert.fail(made.text)
  const refused: readonly (readonly [string, Headers])[] = [
    ['no cookie', page],
    ['another site', { ...page, ...own, 'sec-fetch-site': 'cross-site' }],
    ['the same site', { ...page, ...own, 'sec-fetch-site': 'same-site' }],
    ['an address typed in', { ...page, ...own, 'sec-fetch-site': 'none' }],
    ['an API token in the cookie', { ...page, ...cookieOf(script) }],
    ['an API token in a header', { ...page, authorization: `Bearer ${script}` }],
    ['a session in a header', { ...page, 'x-cloud-authorization': cloud.eng.token }],
    ['a guess', { ...page, ...cookieOf('guess') }],
  ]
  for (const [who, headers] of refused) {
    const { status, headers: got } = await ask('GET', '/workflows', {
      ...headers,
      'sec-fetch-mode': 'cors',
    })
    assert.deepEqual([status, got['www-authenticate']], [401, undefined], who)
  }
  const start = `/workflows/${ids.eng.workflow}/executions`
  const before = flow.runs.started.length
  for (const origin of ['https://evil.example', 'null', `${BASE}:444`]) {
    assert.equal((await ask('POST', start, { ...page, ...own, origin })).status, 401, origin)
  }
  assert.equal(flow.runs.started.length, before)
})

test('a session that has ended is refused', async () => {
  const token = await cloud.enter(cloud.eng.org, 'author')
  const own = { ...page, ...cookieOf(token) }
  assert.equal((await ask('GET', '/workflows', own)).status, 200)
  const ended = await cloud.ask('DELETE', '/api/session', { token })
  assert.equal(ended.status, 204)
  assert.equal((await ask('GET', '/workflows', own)).status, 401)
})

test('a session in a header counts for nothing at the public listener of the workflow server', async () => {
  const headers = { 'x-cloud-authorization': cloud.eng.token }
  assert.equal((await flow.ask('GET', '/api/workflows', { headers })).status, 401)
})

test('the listener for cells refuses everyone else, and tokens that are no session', async () => {
  const headers = { accept: 'application/json', 'x-cloud-authorization': cloud.eng.token }
  const target = { address: '127.0.0.1', port }
  const statusOf = async (identity: MachineIdentity, token = cloud.eng.token) => {
    using link = new MachineLink(target, identity, { role: 'workflow' })
    const more = { ...headers, 'x-cloud-authorization': token }
    const answer = await link.ask({ method: 'GET', path: '/api/workflows', headers: more })
    await readText(answer)
    return answer.statusCode
  }
  assert.equal(await statusOf(cell), 200)
  for (const role of ['console', 'workflow'] as const) {
    assert.equal(await statusOf(await identityOf(machines, role, 'one')), 403, role)
  }
  assert.equal(await statusOf(cell, 'guess'), 401)
  const script = await cloud.ask('POST', '/api/session/tokens', {
    token: cloud.eng.token,
    body: '<AccessTokenParams name="for-a-header"/>',
  })
  const token = /skat_[\w-]+/.exec(script.text)?.[0] ?? assert.fail(script.text)
  assert.equal(await statusOf(cell, token), 401)
  const to = { host: '127.0.0.1', port, path: '/api/workflows', headers, rejectUnauthorized: false }
  await assert.rejects(once(secureRequest(to).end(), 'response'), 'no certificate')
})

test('the events of a run arrive while it goes on, and its stream ends with the reader', async () => {
  const { workflow, execution } = ids.eng
  const path = `/workflows/${workflow}/executions/${execution}/events`
  const own = { ...page, ...cookieOf(cloud.eng.token), accept: 'text/event-stream' }
  const streams = await Promise.all(Array.from({ length: 20 }, () => open('GET', path, own)))
  const texts = streams.map((each) => {
    const read = { text: '' }
    each.on('data', (chunk: Buffer) => (read.text += chunk.toString()))
    each.on('error', () => undefined)
    return read
  })
  assert.deepEqual(new Set(streams.map(({ statusCode }) => statusCode)), new Set([200]))
  await until('each has the run, while it goes on', async () =>
    texts.every(({ text }) => text.includes('event: execution')),
  )
  const full = await open('GET', path, own)
  assert.equal(full.statusCode, 429, 'as many as the workflow server allows')
  full.resume()
  for (const each of streams) each.destroy()
  // The places are free again only if the cell has closed its side.
  await until('a place is free', async () => {
    const again = await open('GET', path, own)
    again.destroy()
    return again.statusCode === 200
  })
})

/** A workflow server that writes as fast as its reader reads. */
async function flood(): Promise<AsyncDisposable & { readonly port: number; written: number }> {
  const { key, cert, ca } = server
  const tls = { key, cert, ca: String(ca), requestCert: true, minVersion: 'TLSv1.3' } as const
  const chunk = Buffer.alloc(64 * 1024, 'x')
  const flooding = createServer(tls, (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const write = (): void => {
      while (response.write(chunk)) state.written += chunk.length
      state.written += chunk.length
    }
    response.on('drain', write)
    write()
  })
  flooding.listen(0, '127.0.0.1')
  await once(flooding, 'listening')
  const state = {
    port: (flooding.address() as AddressInfo).port,
    written: 0,
    async [Symbol.asyncDispose]() {
      flooding.closeAllConnections()
      flooding.close()
      await once(flooding, 'close')
    },
  }
  return state
}

test('a reader that does not read makes the workflow server wait, and needs no memory of the cell', async () => {
  await using source = await flood()
  const [usual] = addresses
  assert.ok(usual)
  // A new object: the links to the usual server are not used.
  using workflows = new WorkflowServers([{ address: '127.0.0.1', port: source.port }], () => cell)
  await using slow = await openTenantsApi(undefined, workflows)
  const path = '/api/workflow/workflows/x/executions/y/events'
  const headers = { ...page, ...cookieOf(slow.eng.token) }
  const sent = request({ port: slow.port, host: '127.0.0.1', path, headers })
  sent.end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  response.pause()
  // The buffers of the kernel fill up, then nothing more is written.
  let before = -1
  await until('nothing more is written', async () => {
    const isStill = source.written === before && before > 0
    before = source.written
    return isStill
  })
  const memory = process.memoryUsage().arrayBuffers
  assert.ok(source.written < 64 * 1024 * 1024, String(source.written))
  assert.ok(memory < 128 * 1024 * 1024, String(memory))
  sent.destroy()
})

test('while the workflow server is away, pages get a 503 with words, and the rest of the cell works', async () => {
  using workflows = new WorkflowServers([{ address: '127.0.0.1', port: 1 }], () => cell)
  await using alone = await openTenantsApi(undefined, workflows)
  const headers = { ...page, ...cookieOf(alone.eng.token) }
  const to = { port: alone.port, host: '127.0.0.1', path: '/api/workflow/workflows', headers }
  const sent = request(to)
  sent.end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const text = Buffer.concat((await response.toArray()) as Buffer[]).toString()
  assert.equal(response.statusCode, 503)
  assert.match(text, /the workflow server does not respond/)
  const { status } = await alone.ask('GET', '/api/session', { token: alone.eng.token })
  assert.equal(status, 200)
})
