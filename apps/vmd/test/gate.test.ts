import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { request, type IncomingMessage, type RequestOptions } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'

import { freePorts } from '@skerry/lab'
import fastify, { type FastifyInstance } from 'fastify'

import { Gate, refusal, type GateOptions } from '../src/local/access/gate.ts'
import { isOwnSocket } from '../src/local/access/peer.ts'
import { makeToken } from '../src/local/access/token.ts'
import { listenAtFile } from '../src/local/access/unix-socket.ts'

const WORD = '0123456789abcdef'

/** A server that answers 'yes' to every request that passes the gate. */
function yesServer(options: Partial<GateOptions>): FastifyInstance {
  const gate = new Gate({
    api: { kind: 'file' },
    admits: async () => true,
    // This test connects from the process that answers; real users do not.
    isOurs: () => false,
    log: () => undefined,
    ...options,
  })
  const server = fastify({
    serverFactory: (hand) =>
      gate.serve(hand, {
        wants: ({ url }) => url === '/socket',
        take: ({ socket, carriesToken }) => socket.end(`taken ${carriesToken}`),
      }),
    clientErrorHandler: (error, socket) => void gate.refuse(error, socket),
  })
  server.get('/*', async () => 'yes')
  return server
}

/** On loopback, with a port that is known only once it is bound. */
async function onLoopback(
  options: Partial<GateOptions>,
): Promise<AsyncDisposable & { readonly port: number }> {
  const port = await freePorts()
  const server = yesServer({ ...options, api: { kind: 'loopback', port } })
  await server.listen({ port, host: '127.0.0.1' })
  return { port, [Symbol.asyncDispose]: () => server.close() }
}

async function ask(
  options: RequestOptions,
): Promise<{ status: number; body: string; head: object }> {
  const sent = request({ agent: false, ...options }).end()
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  return { status: answer.statusCode ?? 0, body: await text(answer), head: answer.headers }
}

test('admitted users are answered, others get the uniform rejection', async () => {
  const seen: number[] = []
  await using friend = await onLoopback({
    admits: async (uid) => {
      seen.push(uid)
      return true
    },
  })
  assert.equal((await ask({ port: friend.port, host: '127.0.0.1' })).body, 'yes')
  assert.deepEqual(seen, [process.getuid?.()])
  const { status, body, head } = await ask({
    port: friend.port,
    host: '127.0.0.1',
    headers: { host: 'evil.example' },
  })
  assert.deepEqual([status, body], [403, refusal.body])
  assert.equal((head as IncomingMessage['headers'])['x-content-type-options'], 'nosniff')

  await using foe = await onLoopback({ admits: async () => false })
  assert.equal((await ask({ port: foe.port, host: '127.0.0.1' })).body, refusal.body)
})

test('a connection from the process itself has no user, even if its user may do everything', async () => {
  const requested: number[] = []
  const admits = async (uid: number) => requested.push(uid) > 0
  await using server = await onLoopback({ admits, isOurs: isOwnSocket })
  const { status, body } = await ask({ port: server.port, host: '127.0.0.1' })
  assert.deepEqual([status, body, requested], [403, refusal.body, []])
})

test('no one is admitted if the lookup of permissions fails', async () => {
  const logged: unknown[] = []
  await using server = await onLoopback({
    admits: () => Promise.reject(new Error('no register')),
    log: (_, cause) => logged.push(cause),
  })
  assert.equal((await ask({ port: server.port, host: '127.0.0.1' })).body, refusal.body)
  assert.match(String(logged[0]), /no register/)
})

test('a user is looked up once per connection, regardless of the number of requests', async () => {
  let looks = 0
  await using server = await onLoopback({ admits: async () => ++looks > 0 })
  const socket = connect(server.port, '127.0.0.1')
  const one = `GET / HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\n`
  socket.write(`${one}\r\n`.repeat(9) + `${one}Connection: close\r\n\r\n`)
  assert.equal((await text(socket)).match(/HTTP\/1\.1 200/g)?.length, 10)
  assert.equal(looks, 1)
})

test('an invalid request is 400 for admitted users and the uniform rejection for others', async () => {
  for (const [admitted, expected] of [
    [true, /^HTTP\/1\.1 400 /],
    [false, /^HTTP\/1\.1 403 /],
  ] as const) {
    await using server = await onLoopback({ admits: async () => admitted })
    const socket = connect(server.port, '127.0.0.1')
    socket.write('not HTTP at all\r\n\r\n')
    const answer = await text(socket)
    assert.match(answer, expected)
    assert.equal(answer.endsWith(refusal.body), !admitted)
  }
})

test('with a token every request must carry it, after the origin check', async () => {
  await using server = await onLoopback({ token: makeToken(WORD) })
  const asks = async (headers: Record<string, string>) =>
    (await ask({ port: server.port, host: '127.0.0.1', headers })).status
  assert.equal(await asks({}), 401)
  assert.equal(await asks({ authorization: `Bearer ${WORD}x` }), 401)
  assert.equal(await asks({ authorization: `Bearer ${WORD}` }), 200)
  assert.equal(await asks({ authorization: `Bearer ${WORD}`, host: 'evil.example' }), 403)
})

/** The complete answer to an upgrade request. */
async function upgrade(port: number, lines: readonly string[], path = '/socket'): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  const head = [`GET ${path} HTTP/1.1`, ...lines, 'Connection: Upgrade', 'Upgrade: websocket']
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  return text(socket)
}

test('an upgrade passes the same gate, and is marked with whether it carried the token', async () => {
  await using server = await onLoopback({ token: makeToken(WORD) })
  const own = [`Host: 127.0.0.1:${server.port}`]
  assert.equal(await upgrade(server.port, own), 'taken false')
  const bearer = [...own, `Authorization: Bearer ${WORD}`]
  assert.equal(await upgrade(server.port, bearer), 'taken true')
  const page = [...own, `Origin: http://127.0.0.1:${server.port}`, 'Sec-Fetch-Site: same-origin']
  assert.equal(await upgrade(server.port, page), 'taken false')
  for (const hostile of [
    [],
    ['Host: evil.example'],
    [...own, 'Origin: null'],
    [...own, 'Origin: http://evil.example'],
    [...own, `Origin: http://localhost:${server.port}`],
    [...own, 'Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: navigate', 'Sec-Fetch-Dest: document'],
  ]) {
    const said = await upgrade(server.port, [...hostile, `Authorization: Bearer ${WORD}`])
    assert.match(said, /^HTTP\/1\.1 403 Forbidden\r\n/, hostile.join())
    assert.ok(said.endsWith(refusal.body))
  }
  await using foe = await onLoopback({ admits: async () => false })
  assert.match(await upgrade(foe.port, [`Host: 127.0.0.1:${foe.port}`]), /^HTTP\/1\.1 403 /)
})

test('an upgrade request where there is none is answered as a plain request', async () => {
  await using server = await onLoopback({})
  const once = [`Host: 127.0.0.1:${server.port}`, 'Connection: close']
  const said = await upgrade(server.port, once, '/other')
  assert.match(said, /^HTTP\/1\.1 200 [^]*yes$/)
})

test('only pages can be requested without a token, and the session of a page', async () => {
  await using server = await onLoopback({ token: makeToken(WORD) })
  const status = async (path: string, method = 'GET') =>
    (await ask({ port: server.port, host: '127.0.0.1', path, method })).status
  assert.deepEqual(
    await Promise.all(
      ['/console/vm-1', '/console/a/b.js', '/ui', '/ui/', '/ui/vms?q=a'].map((one) => status(one)),
    ),
    [200, 200, 200, 200, 200],
  )
  for (const path of [
    '/',
    '/console',
    '/consoles/x',
    '/uis',
    '/api/ui/session',
    '/api/ui/ticket',
    '/api/vms',
    '/api/vms/console/x',
    '//console/x',
  ])
    assert.equal(await status(path), 401, path)
  assert.equal(await status('/console/vm-1', 'POST'), 401)
  assert.equal(await status('/ui/', 'POST'), 401)
  assert.equal(await status('/api/ui/ticket', 'POST'), 401)
  // The gate passes it on; this server has no such route.
  assert.equal(await status('/api/ui/session', 'POST'), 404)
})

test('for the Unix socket its file mode decides, and no Host is required', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'gate-'))
  const path = join(dir, 'vmd.sock')
  const isRoot = process.getuid?.() === 0
  const gid = 54_320
  const server = yesServer({ admits: async () => false })
  try {
    await listenAtFile(server, path, isRoot ? gid : undefined)
    const { mode, gid: group } = await stat(path)
    assert.equal(mode & 0o777, isRoot ? 0o660 : 0o600)
    if (isRoot) assert.equal(group, gid)
    const headers = { host: 'anything' }
    assert.equal((await ask({ socketPath: path, headers })).body, 'yes')

    const second = yesServer({})
    await assert.rejects(listenAtFile(second, path, undefined), /is in use/)
    await second.close()
  } finally {
    await server.close()
    await rm(dir, { recursive: true })
  }
})

test('a file that is not a socket is left alone', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'gate-'))
  const server = yesServer({})
  try {
    await writeFile(join(dir, 'precious'), 'data')
    await assert.rejects(listenAtFile(server, join(dir, 'precious'), undefined), /is not a socket/)
  } finally {
    await server.close()
    await rm(dir, { recursive: true })
  }
})
