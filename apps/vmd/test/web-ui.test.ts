// Goal: vmd serves the web UI to the browser of an admitted user and to no other page. Method: the local API on a real libvirtd without
// real guests; requests with the headers that browsers send.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'

import { createVm } from '@skerry/engine'
import { reasonWithoutRoot } from '@skerry/lab'

import {
  startEmulatedHost,
  type EmulatedHost,
} from '../../../packages/engine/test/emulated-host.ts'
import { TicketSessions } from '../src/local/access/ticket-sessions.ts'
import { serveLocal } from './served-local.ts'

const skip = reasonWithoutRoot('host') ?? false
const WORD = 'a-word-of-our-own-choice'
let started: EmulatedHost | undefined
let dist: string
before(async () => {
  if (skip !== false) return
  started = await startEmulatedHost()
  await createVm(started.host, { id: 'kept' })
  dist = await mkdtemp(join(tmpdir(), 'dist-'))
  await mkdir(join(dist, 'assets'))
  await writeFile(join(dist, 'index.html'), '<!doctype html><title>Skerry</title>')
  await writeFile(join(dist, 'assets/app-1.js'), 'export {}')
})
after(async () => {
  await started?.[Symbol.asyncDispose]()
  if (dist) await rm(dist, { recursive: true })
})

interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

interface Server extends AsyncDisposable {
  readonly port: number
  readonly send: (
    method: string,
    path: string,
    headers?: Readonly<Record<string, string>>,
    body?: string,
  ) => Promise<Reply>
}

async function openServer(token?: string, directory = dist): Promise<Server> {
  assert.ok(started)
  const served = await serveLocal(started.host, { token, directory })
  const { port } = served
  return {
    port,
    // Not by fetch, which does not send these headers as they are.
    async send(method, path, headers = {}, body = '') {
      const length = { 'content-length': Buffer.byteLength(body) }
      const sent = request({
        host: '127.0.0.1',
        port,
        path,
        method,
        headers: { ...length, ...headers },
        agent: false,
      })
      sent.end(body)
      const [answer] = (await once(sent, 'response')) as [IncomingMessage]
      return { status: answer.statusCode ?? 0, headers: answer.headers, body: await text(answer) }
    },
    [Symbol.asyncDispose]: () => served[Symbol.asyncDispose](),
  }
}

const visit = { accept: 'text/html', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
const bearer = { authorization: `Bearer ${WORD}` }
/** What a browser sends with a request of our own page. */
const ofPage = (port: number) => ({
  origin: `http://127.0.0.1:${port}`,
  'sec-fetch-site': 'same-origin',
  'sec-fetch-mode': 'cors',
})

test(
  'files, pages and the configuration are served with the policy of the page',
  { skip },
  async () => {
    await using server = await openServer()
    for (const path of ['/ui', '/ui/', '/ui/vms/kept']) {
      const { status, headers, body } = await server.send('GET', path, {
        ...visit,
        'sec-fetch-site': 'cross-site',
      })
      assert.deepEqual([status, body.includes('<title>Skerry')], [200, true], path)
      assert.match(
        String(headers['content-security-policy']),
        /default-src 'none'.*frame-ancestors 'none'/,
      )
      assert.equal(headers['x-frame-options'], 'DENY')
      assert.equal(headers['cross-origin-opener-policy'], 'same-origin')
    }
    const script = await server.send('GET', '/ui/assets/app-1.js')
    assert.match(String(script.headers['cache-control']), /immutable/)
    assert.equal((await server.send('GET', '/ui/assets/old-1.js')).status, 404)
    const config = await server.send('GET', '/ui/config.json')
    assert.deepEqual(JSON.parse(config.body), { kind: 'machine', name: 'laptop', version: '1.2.3' })
    assert.equal(config.headers['cache-control'], 'no-store')
    assert.match((await server.send('GET', '/')).body, /href="\/ui\/"/)
  },
)

test('a web UI that is not built answers 503 with what to do', { skip }, async () => {
  await using server = await openServer(undefined, join(dist, 'missing'))
  const { status, body } = await server.send('GET', '/ui/', visit)
  assert.equal(status, 503)
  assert.match(body, /npm run build:web/)
  assert.equal((await server.send('GET', '/api/vms')).status, 200)
})

test(
  'without a token a web page of another origin changes and reads nothing',
  { skip },
  async () => {
    await using server = await openServer()
    const { port, send } = server
    const body = JSON.stringify({ id: 'planted' })
    const senders: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
      ['another site', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
      ['another port', { origin: 'http://127.0.0.1:9999', 'sec-fetch-site': 'same-site' }],
      [
        'another name of this machine',
        { origin: `http://localhost:${port}`, 'sec-fetch-site': 'cross-site' },
      ],
      ['a sandboxed frame', { origin: 'null', 'sec-fetch-site': 'cross-site' }],
      [
        'DNS rebinding',
        {
          host: `evil.example:${port}`,
          origin: `http://evil.example:${port}`,
          'sec-fetch-site': 'same-origin',
        },
      ],
      ['an old browser', { origin: 'https://evil.example' }],
      [
        'a navigation by a form',
        { ...visit, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
      ],
    ]
    for (const [sender, headers] of senders) {
      for (const [method, path] of [
        ['POST', '/api/vms'],
        ['DELETE', '/api/vms/kept'],
        ['PATCH', '/api/vms/power/kept'],
        ['POST', '/api/ui/session'],
        ['POST', '/api/ui/ticket'],
        ['GET', '/api/vms'],
      ] as const) {
        const reply = await send(method, path, headers, method === 'GET' ? '' : body)
        assert.equal(reply.status, 403, `${sender}: ${method} ${path}`)
        assert.equal(reply.headers['access-control-allow-origin'], undefined)
      }
    }
    assert.deepEqual(JSON.parse((await send('GET', '/api/vms')).body), ['kept'])
  },
)

test(
  'with a token a page trades its ticket once for a cookie that counts for our own page only',
  { skip },
  async () => {
    await using server = await openServer(WORD)
    const { port, send } = server
    const locked = JSON.parse((await send('GET', '/ui/config.json')).body) as object
    assert.deepEqual(locked, { kind: 'machine', name: 'laptop', version: '1.2.3', isLocked: true })
    assert.equal((await send('GET', '/ui/', visit)).status, 200)
    assert.equal((await send('POST', '/api/ui/ticket')).status, 401)
    const issued = await send('POST', '/api/ui/ticket', bearer)
    const { page } = JSON.parse(issued.body) as { readonly page: string }
    assert.match(page, /^\/ui\/#ticket=secret-\d+$/)
    const body = JSON.stringify({ ticket: page.slice('/ui/#ticket='.length) })
    const foreign = { origin: 'http://127.0.0.1:9999', 'sec-fetch-site': 'same-site' }
    assert.equal((await send('POST', '/api/ui/session', foreign, body)).status, 403)
    const traded = await send('POST', '/api/ui/session', ofPage(port), body)
    assert.equal(traded.status, 204)
    const [set = ''] = traded.headers['set-cookie'] ?? []
    assert.match(set, /^skerry-ui=secret-\d+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/)
    assert.equal((await send('POST', '/api/ui/session', ofPage(port), body)).status, 403)

    const cookie = set.split(';')[0] ?? ''
    const own = ofPage(port)
    const { origin: _, ...read } = own
    const senders: readonly (readonly [
      string,
      number,
      number,
      Readonly<Record<string, string>>,
    ])[] = [
      ['our page', 200, 200, own],
      ['our page, a read without Origin', 200, 401, read],
      ['a program', 401, 401, {}],
      ['a program with our Origin', 401, 401, { origin: own.origin }],
      ['a typed address', 401, 401, { 'sec-fetch-site': 'none' }],
      [
        'a page at another port',
        403,
        403,
        { ...own, origin: 'http://127.0.0.1:9999', 'sec-fetch-site': 'same-site' },
      ],
      ['another port, a read', 403, 403, { 'sec-fetch-site': 'same-site' }],
      [
        'another site',
        403,
        403,
        { ...own, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
      ],
      [
        'DNS rebinding',
        403,
        403,
        { ...own, host: `evil.example:${port}`, origin: `http://evil.example:${port}` },
      ],
      ['two cookies', 401, 401, { ...own, cookie: `${cookie}; skerry-ui=planted` }],
      ['a wrong cookie', 401, 401, { ...own, cookie: 'skerry-ui=guess' }],
    ]
    for (const [sender, reads, changes, headers] of senders) {
      const all = { cookie, ...headers }
      assert.equal((await send('GET', '/api/vms', all)).status, reads, `${sender} reads`)
      const change = await send('PATCH', '/api/vms/kept', all, JSON.stringify({ tag: 'seen' }))
      assert.equal(change.status, changes, `${sender} changes`)
    }
    assert.equal((await send('POST', '/api/ui/ticket', { ...own, cookie })).status, 403)
    const config = await send('GET', '/ui/config.json', { cookie, ...read })
    assert.equal((JSON.parse(config.body) as { isLocked?: boolean }).isLocked, undefined)

    assert.equal((await send('DELETE', '/api/ui/session', { ...own, cookie })).status, 204)
    assert.equal((await send('GET', '/api/vms', { ...own, cookie })).status, 401)
  },
)

test('a session ends after a working day, and the hundredth browser displaces the oldest', () => {
  const clock = { now: 0 }
  let made = 0
  const sessions = new TicketSessions(
    () => `secret-${made++}`,
    () => clock.now,
  )
  const [uid, other] = [1000, 1001]
  const open = (): string => sessions.open(sessions.issueTicket().text, uid)?.split(';')[0] ?? ''
  const first = open()
  assert.equal(sessions.has(first, uid), true)
  assert.equal(sessions.has(first, other), false)
  clock.now += 12 * 60 * 60_000 - 1
  assert.equal(sessions.has(first, uid), true)
  clock.now += 1
  assert.equal(sessions.has(first, uid), false)
  const all = Array.from({ length: 101 }, open)
  assert.deepEqual(all.map((each) => sessions.has(each, uid)).filter((isOpen) => !isOpen).length, 1)
  const late = sessions.issueTicket().text
  clock.now += 30_000
  assert.equal(sessions.open(late, uid), undefined)
})

test(
  'the machine is described with its capacity and the checks of skerry doctor',
  { skip },
  async () => {
    await using server = await openServer()
    const { body } = await server.send('GET', '/api/machine')
    const machine = JSON.parse(body) as {
      readonly name: string
      readonly cpus: number
      readonly checks: readonly { readonly check: string; readonly state: string }[]
    }
    assert.deepEqual([machine.name, machine.cpus > 0], ['laptop', true])
    const checks = machine.checks.map(({ check }) => check)
    for (const name of ['program qemu-img', 'acceleration', 'space', 'template default'])
      assert.ok(checks.includes(name), name)
  },
)
