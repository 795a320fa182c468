// Goal: a connection works over any transport and fails clearly. Method: a real ovsdb-server, stopped, killed, or behind a relay that
// cuts; and one of our own where a real one behaves too well.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempDisposable } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { startIssuer } from '../../../tools/lab/src/network/certificates.ts'
import { seededRandom } from '../../../tools/lab/src/system/seeded-random.ts'
import { until } from '../../../tools/lab/src/system/wait.ts'
import { ConnectionLost, namedUuid, Ovsdb, type OvsdbOperation } from '../src/index.ts'
import { startRelay } from './relay.ts'
import { needsOvsdbServer, startOvsdbServer, type OvsdbServer } from './start-ovsdb-server.ts'

const skip = needsOvsdbServer
const insert = (name: string): OvsdbOperation => ({ op: 'insert', table: 'Host', row: { name } })
const lost = (pattern: RegExp) => (error: unknown) =>
  error instanceof ConnectionLost && pattern.test(error.message)

test('messages arrive whole in any cuts, in both directions', { skip }, async () => {
  await using server = await startOvsdbServer()
  const random = seededRandom(7047)
  const path = join(server.directory, 'relay')
  await using relay = await startRelay(path, { path: server.path }, () => 1 + random.below(40))
  await using ovsdb = await Ovsdb.open({ path: relay.path })
  const names = Array.from(
    { length: 50 },
    (_, index) => `${index} "}]{[\\" € 🌊 ${'x'.repeat(index)}`,
  )
  await Promise.all(names.map((name) => ovsdb.transact('Test', [insert(name)])))
  const rows = await ovsdb.select('Test', 'Host', ['name'])
  assert.deepEqual(new Set(rows.map((row) => row['name'])), new Set(names))
})

test('by TLS both sides accept certificates of their issuer only', { skip }, async () => {
  await using issuer = await startIssuer('ovsdb')
  await using foreign = await startIssuer('foreign')
  const certificate = { ...(await issuer.issue()), ca: issuer.cert }
  await using server = await startOvsdbServer({ certificate })
  const [own, theirs] = [await issuer.issue(), await foreign.issue()]
  const at = { host: '127.0.0.1', port: server.port }
  {
    await using ovsdb = await Ovsdb.open({ ...at, ...own, ca: issuer.cert })
    await ovsdb.transact('Test', [insert('by-tls')])
    assert.deepEqual(await ovsdb.select('Test', 'Host', ['name']), [{ name: 'by-tls' }])
  }
  await assert.rejects(
    Ovsdb.open({ ...at, ...own, ca: foreign.cert }),
    lost(/cannot connect to 127\.0\.0\.1:\d+: .*certificate/),
  )
  await assert.rejects(Ovsdb.open({ ...at, ...theirs, ca: issuer.cert }), ConnectionLost)
})

test('echo of the server is answered, so that it keeps the connection', { skip }, async () => {
  await using server = await startOvsdbServer()
  await listenAt(server)
  const path = join(server.directory, 'relay')
  await using relay = await startRelay(path, { host: '127.0.0.1', port: server.port })
  await using ovsdb = await Ovsdb.open({ path }, { probeMs: 0 })
  // Without an answer to the first, the server would close instead of sending a second.
  await relay.sent('toClient', '"method":"echo"', 2)
  assert.deepEqual(await ovsdb.select('Test', 'Host', ['name']), [])
})

test('a silent server is sent echo, and stays connected while it answers', { skip }, async () => {
  await using server = await startOvsdbServer()
  const path = join(server.directory, 'relay')
  await using relay = await startRelay(path, { path: server.path })
  // A server on a busy machine needs some time for an answer.
  await using ovsdb = await Ovsdb.open({ path }, { probeMs: 500 })
  await relay.sent('toServer', '"method":"echo"', 4)
  assert.deepEqual(await ovsdb.select('Test', 'Host', ['name']), [])
})

test(
  'a server that does not answer an echo is dead, and waiting calls fail',
  { skip },
  async () => {
    await using server = await startOvsdbServer()
    await using ovsdb = await Ovsdb.open({ path: server.path }, { probeMs: 50 })
    server.process.kill('SIGSTOP')
    const call = ovsdb.transact('Test', [insert('a')])
    await assert.rejects(call, lost(/has not answered an echo for 50 ms/))
    assert.match(String(await ovsdb.closed), /has not answered an echo/)
    await assert.rejects(
      Ovsdb.open({ path: server.path }, { timeoutMs: 100 }),
      lost(/did not answer within 100 ms/),
    )
  },
)

test(
  'a server that dies fails every waiting call at once, and everything afterwards',
  { skip },
  async () => {
    await using server = await startOvsdbServer()
    await using ovsdb = await Ovsdb.open({ path: server.path })
    // A stopped server leaves every call waiting.
    server.process.kill('SIGSTOP')
    const calls = Array.from({ length: 20 }, (_, index) =>
      ovsdb.transact('Test', [insert(`${index}`)]),
    )
    const exited = once(server.process, 'exit')
    server.process.kill('SIGKILL')
    const results = await Promise.allSettled(calls)
    for (const result of results) {
      assert.ok(result.status === 'rejected' && result.reason instanceof ConnectionLost)
    }
    assert.ok((await ovsdb.closed) instanceof ConnectionLost)
    await assert.rejects(ovsdb.select('Test', 'Host', ['name']), ConnectionLost)
    // A dying process closes its connections before its listening socket.
    await exited
    await assert.rejects(Ovsdb.open({ path: server.path }), lost(/cannot connect to/))
  },
)

test('a message larger than the bound ends the connection', { skip }, async () => {
  await using server = await startOvsdbServer()
  await using ovsdb = await Ovsdb.open({ path: server.path })
  await using bounded = await Ovsdb.open({ path: server.path }, { maxMessageBytes: 10_000 })
  await ovsdb.transact('Test', [insert('x'.repeat(5_000))])
  assert.equal((await bounded.select('Test', 'Host', ['name'])).length, 1)
  await ovsdb.transact('Test', [insert('y'.repeat(5_000))])
  await assert.rejects(bounded.select('Test', 'Host', ['name']), lost(/more than 10000 bytes/))
  assert.equal((await ovsdb.select('Test', 'Host', ['name'])).length, 2)
})

test('closing fails waiting calls, reports no reason and may be repeated', { skip }, async () => {
  await using server = await startOvsdbServer()
  await using ovsdb = await Ovsdb.open({ path: server.path })
  const call = assert.rejects(ovsdb.select('Test', 'Host', ['name']), lost(/closed by its owner/))
  await ovsdb.close()
  await call
  assert.equal(await ovsdb.closed, undefined)
  await ovsdb.close()
})

test('a server that violates the protocol loses the connection', async () => {
  const messages = ['HTTP/1.1 400 Bad Request', '[1]', '{"id":2,"result":7,"error":null}', '{"a":}']
  for (const message of messages) {
    await using server = await hostileServer((socket) => socket.write(message))
    const ovsdb = await Ovsdb.open({ path: server.path })
    await assert.rejects(ovsdb.transact('Test', []), lost(/violated the protocol/), message)
  }
})

test('a server that sends echo without reading gets few answers', async () => {
  const echo = JSON.stringify({ method: 'echo', params: ['x'.repeat(10_000)], id: 'echo' })
  const flooded = Promise.withResolvers<Socket>()
  await using server = await hostileServer((socket) => {
    socket.pause()
    for (let sent = 0; sent < 2_000; sent += 1) socket.write(echo)
    socket.write('{"id":2,"result":[],"error":null}', () => flooded.resolve(socket))
  })
  await using ovsdb = await Ovsdb.open({ path: server.path })
  assert.deepEqual(await ovsdb.transact('Test', []), [])
  const socket = await flooded.promise
  let answered = 0
  socket.removeAllListeners('data')
  socket.on('data', (chunk: Buffer) => {
    answered += chunk.length
  })
  socket.resume()
  await ovsdb.close()
  await once(socket, 'close')
  // A Unix socket of the kernel holds some 200 kB.
  assert.ok(answered < 2_000_000, `${answered} bytes of answers`)
})

/** Lets the server listen at its port, with echo after a second of silence: the shortest that it knows. */
async function listenAt({ path, port }: OvsdbServer): Promise<void> {
  await using ovsdb = await Ovsdb.open({ path })
  const row = { target: `ptcp:${port}:127.0.0.1`, inactivity_probe: 1_000 }
  await ovsdb.transact('Test', [
    { op: 'insert', table: 'Listener', row, 'uuid-name': 'listener' },
    { op: 'insert', table: 'Config', row: { listeners: namedUuid('listener') } },
  ])
  // It answers before it listens.
  await until(`port ${port} should be open`, async () => {
    const socket = connect(port, '127.0.0.1')
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    return isOpen
  })
}

/** Answers the first message, which is our echo, and then does something else. */
async function hostileServer(act: (socket: Socket) => void) {
  const directory = await mkdtempDisposable(join(tmpdir(), 'ovsdb-hostile-'))
  const path = join(directory.path, 'sock')
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.write('{"id":1,"result":[],"error":null}')
      socket.once('data', () => act(socket))
    })
  })
  await new Promise<void>((resolve) => void server.listen(path, resolve))
  return {
    path,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((resolve) => void server.close(() => resolve()))
      await directory.remove()
    },
  }
}
