// Goal: a server without routes reads and sends JSON in one way, bounded, and reveals nothing of its bugs. Method: real listeners
// on loopback.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { test } from 'node:test'

import { Fault } from '@skerry/fault'

import {
  closeListener,
  createListener,
  decoded,
  internalFault,
  listenerBounds,
  readJson,
  refuseWrite,
  sendJson,
  sendJsonLine,
  serveJson,
  urlOf,
} from '../src/index.ts'

async function open(answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>) {
  const logged: string[] = []
  const server = createListener({ bounds: listenerBounds.egress })
  serveJson(
    server,
    answer,
    internalFault('it failed', (message) => void logged.push(message)),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const url = (path: string) => `http://127.0.0.1:${port}${path}`
  return { server, logged, port, url, [Symbol.asyncDispose]: () => closeListener(server) }
}

test('a body is JSON of at most so many bytes', async () => {
  await using api = await open(async (request, response) =>
    sendJson(response, 200, await readJson(request, 20)),
  )
  const send = async (body: string) => {
    const answer = await fetch(api.url('/'), { method: 'POST', body })
    return [answer.status, await answer.json()]
  }
  assert.deepEqual(await send('{"a":"≈"}'), [200, { a: '≈' }])
  const refused = (message: string) => [400, { error: 'invalid', message }]
  assert.deepEqual(await send('{'), refused('the body must be JSON'))
  assert.deepEqual(await send(`"${'x'.repeat(20)}"`), refused('the body is too large'))
})

test('a fault is sent with its detail; a bug is logged without the query, and its message is not sent', async () => {
  await using api = await open(async ({ url }) => {
    if (url === '/fault') throw new Fault('stale', 'too old', { detail: '7', cause: 'secret' })
    throw new Error('a secret')
  })
  const fault = await fetch(api.url('/fault'))
  assert.deepEqual(
    [fault.status, await fault.json()],
    [409, { error: 'stale', message: 'too old', detail: '7' }],
  )
  const bug = await fetch(api.url('/bug?ticket=secret'))
  assert.deepEqual(
    [bug.status, await bug.json()],
    [503, { error: 'unavailable', message: 'it failed' }],
  )
  assert.deepEqual(api.logged, ['GET /bug failed'])
})

test('a response that fails half-way is cut off', async () => {
  await using api = await open(async (_request, response) => {
    response.writeHead(200, { 'content-length': 10 }).write('half')
    throw new Fault('unavailable', 'the rest is lost')
  })
  const answer = await fetch(api.url('/'))
  await assert.rejects(answer.text())
})

test('only GET and HEAD, and HEAD has the same headers without a body', async () => {
  await using api = await open(async (request, response) => {
    if (!refuseWrite(request, response)) sendJsonLine(response, 200, { health: 'ok' })
  })
  const [get, head, post] = await Promise.all([
    fetch(api.url('/')),
    fetch(api.url('/'), { method: 'HEAD' }),
    fetch(api.url('/'), { method: 'POST', body: 'x' }),
  ])
  assert.equal(await get.text(), '{"health":"ok"}\n')
  assert.deepEqual([await head.text(), head.headers.get('content-length')], ['', '16'])
  assert.deepEqual([post.status, post.headers.get('allow')], [405, 'GET, HEAD'])
})

test('a malformed address or path is the error of the caller', () => {
  const malformed = { name: 'Fault', kind: 'invalid', message: 'malformed URL' }
  assert.throws(() => urlOf({ url: '//[' } as IncomingMessage), malformed)
  assert.throws(() => decoded('%zz'), malformed)
  assert.equal(decoded('a%20b'), 'a b')
})

test('closing ends silent connections, also of a listener that closed its port before', async () => {
  await using api = await open(async () => undefined)
  const silent = connect({ port: api.port, host: '127.0.0.1' }).on('error', () => undefined)
  silent.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  await once(api.server, 'request')
  api.server.close()
  const over = once(silent.resume(), 'close')
  await closeListener(api.server)
  await over
})
