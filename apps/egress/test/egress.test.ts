// Goal: the egress is the only way out, with strict limits. Method: the real program on its socket, and real servers on loopback
// addresses that the list names.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, request, type RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TLSSocket } from 'node:tls'

import { Fault } from '@skerry/fault'
import { startIssuer } from '@skerry/lab'

import type { EgressRule } from '../src/allowed.ts'
import { fetchOut, outLimits, type OutboundRequest } from '../src/fetch-out.ts'

const timeout = 120_000

async function listen(listener: RequestListener) {
  const server = createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const rules: EgressRule[] = [
    { host: 'shore.example', addresses: ['127.0.0.1'], ports: [port], schemes: ['http'] },
  ]
  return {
    port,
    rules,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
const way = (answers: string[][] = [['127.0.0.1']], limits: Partial<typeof outLimits> = {}) => {
  const requested: string[] = []
  const resolve = async (host: string) => {
    requested.push(host)
    return answers[Math.min(requested.length, answers.length) - 1] ?? []
  }
  return { requested, resolve, limits: { ...outLimits, ...limits } }
}
const signal = new AbortController().signal
const get = (port: number, more: Partial<OutboundRequest> = {}): OutboundRequest => ({
  method: 'GET',
  uri: `http://shore.example:${port}/a?b=c`,
  headers: {},
  ...more,
})
const kindOf = async (work: Promise<unknown>) =>
  work.then(
    () => 'answered',
    (error: unknown) => (error instanceof Fault ? error.kind : String(error)),
  )

test(
  'a request goes to the resolved address, and a name is resolved once',
  { timeout },
  async () => {
    const heard: (string | undefined)[] = []
    await using server = await listen((requested, answer) => {
      heard.push(requested.url, requested.headers.host, requested.headers['x-tide'] as string)
      answer.writeHead(200, { 'set-cookie': ['a=1', 'b=2'] }).end('high')
    })
    // The DNS server returns another address the second time.
    const changing = way([['127.0.0.1'], ['127.0.0.2']])
    const answered = await fetchOut(
      changing,
      server.rules,
      get(server.port, { headers: { 'x-tide': 'high' } }),
      signal,
    )
    assert.equal(answered.body.toString(), 'high')
    assert.equal(answered.headers['set-cookie'], 'a=1, b=2')
    assert.deepEqual(changing.requested, ['shore.example'])
    assert.deepEqual(heard, ['/a?b=c', `shore.example:${server.port}`, 'high'])
    assert.equal(
      await kindOf(fetchOut(way([['127.0.0.2']]), server.rules, get(server.port), signal)),
      'forbidden',
    )
  },
)

test(
  'over HTTPS the server must present a certificate for the requested name or address',
  { timeout },
  async () => {
    await using issuer = await startIssuer('shore')
    const names = ['DNS:shore.example', 'IP:127.0.0.1']
    const { cert, key } = await issuer.issue(...names)
    const server = createSecureServer({ cert, key }, (requested, answer) => {
      answer.end((requested.socket as TLSSocket).servername || 'no name')
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    try {
      const { port } = server.address() as AddressInfo
      const rules = ['shore.example', 'tide.example', '127.0.0.1'].map((host) => ({
        host,
        ports: [port],
        addresses: ['127.0.0.1'],
      }))
      const ask = (host: string, more: { ca?: string } = { ca: issuer.cert }) =>
        fetchOut(
          { ...way(), ...more },
          rules,
          get(port, { uri: `https://${host}:${port}/` }),
          signal,
        )
      assert.equal(String((await ask('shore.example')).body), 'shore.example')
      assert.equal(String((await ask('127.0.0.1')).body), 'no name')
      assert.equal(await kindOf(ask('tide.example')), 'unavailable')
      assert.equal(await kindOf(ask('shore.example', {})), 'unavailable')
    } finally {
      server.closeAllConnections()
      server.close()
    }
  },
)

test('a redirect is returned and not followed', { timeout }, async () => {
  let requested = 0
  await using server = await listen((_, answer) => {
    requested++
    answer.writeHead(302, { location: 'http://169.254.169.254/' }).end()
  })
  const { status } = await fetchOut(way(), server.rules, get(server.port), signal)
  assert.deepEqual([status, requested], [302, 1])
})

test('a response that is too large, too slow or not HTTP is aborted', { timeout }, async () => {
  await using large = await listen((_, answer) => {
    answer.writeHead(200)
    const more = () => answer.write('x'.repeat(65_536)) && setImmediate(more)
    answer.on('drain', more)
    more()
  })
  assert.equal(await kindOf(fetchOut(way(), large.rules, get(large.port), signal)), 'no-room')
  await using slow = await listen((_, answer) => void answer.writeHead(200).write('x'))
  assert.equal(
    await kindOf(
      fetchOut(way([['127.0.0.1']], { timeMs: 200 }), slow.rules, get(slow.port), signal),
    ),
    'timed-out',
  )
  const never = {
    ...way([['127.0.0.1']], { timeMs: 200 }),
    resolve: async () => new Promise<string[]>(() => undefined),
  }
  assert.equal(await kindOf(fetchOut(never, slow.rules, get(slow.port), signal)), 'timed-out')
  await using other = await listen((requested) => requested.socket.end('SSH-2.0-x\r\n\r\n'))
  assert.equal(await kindOf(fetchOut(way(), other.rules, get(other.port), signal)), 'unavailable')
})

test(
  'reserved headers, unknown methods and invalid characters are rejected',
  { timeout },
  async () => {
    let heard = 0
    await using server = await listen((_, answer) => {
      heard++
      answer.end()
    })
    const cases: Partial<OutboundRequest>[] = [
      ...[
        'host',
        'Content-Length',
        'transfer-encoding',
        'Connection',
        'Upgrade',
        'proxy-authorization',
        'TE',
        'expect',
      ].map((name) => ({ headers: { [name]: 'x' } })),
      ...['CONNECT', 'TRACE', 'get', 'GET / HTTP/1.1\r\nX:', ''].map((method) => ({ method })),
      { headers: { 'x-a': 'b\r\nx-c: d' } },
      { headers: { 'x a': 'b' } },
      { uri: `http://shore.example:${server.port}/a\r\nx: y` },
      { body: Buffer.alloc(300_000), method: 'POST' },
    ]
    for (const each of cases) {
      const kind = await kindOf(fetchOut(way(), server.rules, get(server.port, each), signal))
      assert.equal(kind, 'invalid', JSON.stringify(each).slice(0, 100))
    }
    assert.equal(heard, 0)
  },
)

async function askSocket(socketPath: string, body: unknown, path = '/v1/fetch') {
  const asking = request({ socketPath, method: 'POST', path })
  asking.end(typeof body === 'string' ? body : JSON.stringify(body))
  const [answer] = (await once(asking, 'response')) as [IncomingMessage]
  const pieces: Buffer[] = []
  for await (const piece of answer) pieces.push(piece as Buffer)
  return {
    status: answer.statusCode,
    said: JSON.parse(Buffer.concat(pieces).toString()) as Record<string, unknown>,
  }
}

test(
  'the program serves its socket and applies the list of the calling organisation',
  { timeout },
  async () => {
    const dir = await mkdtemp(join(tmpdir(), 'egress-'))
    await using server = await listen((_, answer) => void answer.end('high tide'))
    const socket = join(dir, 'egress.sock')
    const file = join(dir, 'egress.json')
    const rules = [{ host: '127.0.0.1', ports: [server.port], schemes: ['http'] }]
    await writeFile(file, JSON.stringify({ listen: socket, orgs: { north: rules } }))
    const program = spawn(process.execPath, [`${import.meta.dirname}/../src/main.ts`, file], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {},
    })
    try {
      await once(program.stdout, 'data')
      assert.equal((await stat(socket)).mode & 0o777, 0o660)
      const requested = { method: 'GET', uri: `http://127.0.0.1:${server.port}/`, headers: {} }
      const north = await askSocket(socket, { ...requested, org: 'north' })
      assert.equal(atob(String(north.said['body'])), 'high tide')
      const south = await askSocket(socket, { ...requested, org: 'south' })
      assert.deepEqual([south.status, south.said['error']], [403, 'forbidden'])
      for (const wrong of [
        '',
        '{',
        '[]',
        { ...requested },
        { ...requested, org: 'north', more: 1 },
      ]) {
        assert.equal((await askSocket(socket, wrong)).status, 400)
      }
      assert.equal((await askSocket(socket, {}, '/')).status, 404)
      // The list changes while it runs; an unreadable file changes nothing.
      await writeFile(file, '{')
      program.kill('SIGHUP')
      assert.equal((await askSocket(socket, { ...requested, org: 'north' })).status, 200)
    } finally {
      program.kill('SIGTERM')
      const [code] = (await once(program, 'exit')) as [number]
      assert.equal(code, 0)
      await chmod(dir, 0o700)
      await rm(dir, { recursive: true, force: true })
    }
  },
)
