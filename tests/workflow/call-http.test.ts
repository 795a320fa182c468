// Goal: an HTTP call of a workflow reaches a server only through the egress, if it is on the list, and carries its key. Method:
// the egress as a separate program, the worker's side of it, and a real server.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'

import { Fault } from '@skerry/fault'
import type { HttpCall } from '@skerry/serverless-workflow'

import { callHttp, CallProblem } from '../../apps/workflow/src/runs/call-http.ts'

const signal = new AbortController().signal
let dir: string
let port: number
let egress: ReturnType<typeof spawn>
const heard: { headers: IncomingHttpHeaders; body: string }[] = []
const server = createServer((request, response) => {
  let body = ''
  request.on('data', (piece: Buffer) => (body += piece.toString()))
  request.on('end', () => {
    heard.push({ headers: request.headers, body })
    const type = request.url === '/text' ? 'text/plain' : 'application/problem+json; charset=utf-8'
    response.writeHead(request.url === '/no' ? 500 : 200, { 'content-type': type })
    response.end('{"tide":"high"}')
  })
})

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'call-http-'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  ;({ port } = server.address() as AddressInfo)
  const rule = { host: '127.0.0.1', ports: [port, 1], schemes: ['http'] }
  const config = { listen: join(dir, 'socket'), orgs: { north: [rule] } }
  await writeFile(join(dir, 'egress.json'), JSON.stringify(config))
  const program = `${import.meta.dirname}/../../apps/egress/src/main.ts`
  egress = spawn(process.execPath, [program, join(dir, 'egress.json')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (egress.stdout !== null) await once(egress.stdout, 'data')
})
after(async () => {
  // A killed process has a signal, and no exit code.
  if (egress.exitCode === null && egress.signalCode === null) {
    egress.kill()
    await once(egress, 'exit')
  }
  server.close()
  await rm(dir, { recursive: true, force: true })
})

const call = async (more: Partial<HttpCall>, org = 'north') =>
  callHttp(
    { socket: join(dir, 'socket'), org },
    {
      execution: 'run',
      key: 'run/7',
      method: 'GET',
      uri: `http://127.0.0.1:${port}/`,
      headers: {},
      output: 'content',
      ...more,
    },
    signal,
  )
const problemOf = async (work: Promise<unknown>) =>
  work.then(
    () => assert.fail('it was answered'),
    (error: unknown) => (error instanceof CallProblem ? error.problem : assert.fail(String(error))),
  )

test('a call is sent with its key, its credentials and its body, and its response is parsed', async () => {
  const authentication = { basic: { username: 'keeper', password: 'lantern' } }
  const answer = await call({
    method: 'POST',
    body: { a: 1 },
    headers: { 'X-N': 5 },
    authentication,
  })
  assert.deepEqual([answer.status, answer.content], [200, { tide: 'high' }])
  const { headers, body } = heard.at(-1) ?? assert.fail()
  assert.equal(headers['idempotency-key'], 'run/7')
  assert.equal(headers.authorization, `Basic ${btoa('keeper:lantern')}`)
  assert.deepEqual(
    [headers['x-n'], headers['content-type'], body],
    ['5', 'application/json', '{"a":1}'],
  )
  await call({ authentication: { bearer: { token: 'word' } } })
  assert.equal(heard.at(-1)?.headers.authorization, 'Bearer word')
  const raw = await call({ output: 'raw' })
  assert.equal(raw.content, btoa('{"tide":"high"}'))
  const text = await call({ uri: `http://127.0.0.1:${port}/text` })
  assert.equal(text.content, '{"tide":"high"}')
  assert.equal((await call({ uri: `http://127.0.0.1:${port}/no` })).status, 500)
})

test('a rejection by the egress is an error that a definition may catch', async () => {
  const other = await problemOf(call({}, 'south'))
  assert.deepEqual([other.status, other.type.split('/').at(-1)], [403, 'authorization'])
  assert.match(other.detail ?? '', /is not on the list of allowed servers of this organisation/)
  assert.equal((await problemOf(call({ uri: 'http://[::1]/' }))).status, 403)
  assert.equal((await problemOf(call({ headers: { host: 'x' } }))).status, 400)
  assert.equal((await problemOf(call({ uri: 'http://127.0.0.1:1/' }))).status, 503)
})

test('while the egress is unavailable a call is retryable', async () => {
  egress.kill('SIGKILL')
  await once(egress, 'exit')
  await assert.rejects(call({}), (error) => error instanceof Fault && error.kind === 'unavailable')
})

test('an answer of the egress that is not JSON means: try again', async () => {
  const socket = join(dir, 'wrong')
  const wrong = createServer((_request, response) => response.writeHead(400).end())
  wrong.listen(socket)
  await once(wrong, 'listening')
  try {
    const sent = { execution: 'run', key: 'run/8', method: 'GET', uri: 'http://a.example/' }
    await assert.rejects(
      callHttp({ socket, org: 'north' }, { ...sent, headers: {}, output: 'content' }, signal),
      { kind: 'unavailable' },
    )
  } finally {
    wrong.close()
  }
})
