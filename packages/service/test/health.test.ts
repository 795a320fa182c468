// Goal: the operator's monitoring reads health and metrics, and no one else can. Method: a real listener over TCP.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { Fault } from '@skerry/fault'
import { freePorts } from '@skerry/lab'

import {
  Conditions,
  healthPorts,
  measuredServers,
  metricReference,
  metricTable,
  openHealth,
  ServerMeter,
  type HealthContext,
} from '../src/index.ts'
import { healthListener } from '../src/metrics/health.ts'

const at = new Date('2026-01-01T00:00:00Z')

async function open(more: Partial<HealthContext> = {}) {
  const conditions = new Conditions()
  const metrics = new ServerMeter('cell', conditions)
  const port = await freePorts()
  const logged: string[] = []
  const listener = await openHealth({
    server: 'cell',
    listen: { address: '127.0.0.1', port },
    conditions,
    metrics,
    now: () => performance.now(),
    log: (message) => void logged.push(message),
    ...more,
  })
  const get = async (path: string, method = 'GET') => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method })
    return {
      status: answer.status,
      type: answer.headers.get('content-type'),
      text: await answer.text(),
    }
  }
  return {
    conditions,
    metrics,
    port,
    get,
    logged,
    [Symbol.asyncDispose]: () => listener[Symbol.asyncDispose](),
  }
}

test('liveness is always 200; readiness is 503 with the failing conditions', async () => {
  await using health = await open()
  health.conditions.set('clock', true, 'differs by 1 s', at)
  assert.deepEqual(await health.get('/readyz'), {
    status: 200,
    type: 'application/json; charset=utf-8',
    text: '{"ready":true,"failing":[]}\n',
  })
  health.conditions.set('database', false, 'PostgreSQL does not answer', at)
  const { status, text } = await health.get('/readyz')
  assert.equal(status, 503)
  assert.deepEqual(JSON.parse(text), {
    ready: false,
    failing: [
      {
        name: 'database',
        ok: false,
        since: at.toISOString(),
        message: 'PostgreSQL does not answer',
      },
    ],
  })
  assert.equal((await health.get('/healthz')).status, 200)
  const { text: metrics, type } = await health.get('/metrics')
  assert.equal(type, 'text/plain; version=0.0.4; charset=utf-8')
  assert.match(metrics, /^skerry_condition_ok\{condition="clock"\} 1$/m)
  assert.match(metrics, /^skerry_condition_ok\{condition="database"\} 0$/m)
  health.conditions.set('database', true, 'PostgreSQL answers', at)
  assert.equal((await health.get('/readyz')).status, 200)
})

test('other paths are 404, and other methods 405', async () => {
  await using health = await open()
  assert.equal((await health.get('/')).status, 404)
  assert.equal((await health.get('/metrics/..%2f')).status, 404)
  assert.equal((await health.get('/metrics', 'POST')).status, 405)
  const head = await health.get('/metrics', 'HEAD')
  assert.deepEqual([head.status, head.text], [200, ''])
})

test('many readers share one update, and none waits for a hanging one', async () => {
  let looks = 0
  const hangs = Promise.withResolvers<void>()
  await using health = await open({
    look: async () => {
      looks += 1
      await hangs.promise
    },
  })
  const began = performance.now()
  const answers = await Promise.all(Array.from({ length: 10 }, () => health.get('/readyz')))
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
  assert.equal(looks, 1)
  assert.ok(performance.now() - began < 20_000)
  hangs.resolve()
})

test('a failing update does not prevent the response', async () => {
  await using health = await open({ look: () => Promise.reject(new Error('away')) })
  assert.equal((await health.get('/metrics')).status, 200)
})

test('by default it listens only on loopback; all interfaces need an explicit confirmation', async () => {
  for (const server of measuredServers) {
    assert.deepEqual(healthListener(server, undefined), {
      address: '127.0.0.1',
      port: healthPorts[server],
    })
  }
  assert.equal(new Set(Object.values(healthPorts)).size, measuredServers.length)
  for (const address of ['0.0.0.0', '::', '0:0:0:0:0:0:0:0']) {
    assert.throws(
      () => healthListener('cell', { address, port: 9641 }),
      (error) => error instanceof Fault && error.kind === 'invalid',
    )
    assert.equal(healthListener('cell', { address, port: 9641, anyAddress: true }).port, 9641)
  }
  assert.throws(() => healthListener('cell', { address: 'localhost', port: 1 }), /an IP address/)
  await using health = await open()
  const [outside] = Object.values(networkInterfaces())
    .flat()
    .flatMap((each) => (each && !each.internal && each.family === 'IPv4' ? [each.address] : []))
  if (outside === undefined) return
  const refused = await new Promise((resolve) => {
    connect({ host: outside, port: health.port })
      .once('error', (error: NodeJS.ErrnoException) => resolve(error.code))
      .once('connect', () => resolve('connected'))
  })
  assert.equal(refused, 'ECONNREFUSED')
})

test('a configured port in use is an error; a default port in use is logged', async () => {
  await using first = await open()
  const listen = { address: '127.0.0.1', port: first.port }
  await assert.rejects(open({ listen }), { code: 'EADDRINUSE' })
  await using taken = createServer()
  taken.listen({ host: '127.0.0.1', port: healthPorts.egress })
  await new Promise((resolve) => taken.once('listening', resolve).once('error', resolve))
  await using second = await open({ server: 'egress', listen: undefined })
  assert.match(second.logged.join(), /9645 is in use: .* in "health"/)
})

test('a server has exactly the metrics that the table lists for it', () => {
  const meter = new ServerMeter('egress', new Conditions())
  assert.throws(() => meter.single('skerry_tasks', () => 0), /not a metric of egress/)
  meter.request('fetch', { method: 'POST', status: 204, seconds: 0.01 })
  meter.request(undefined, { method: 'GET', status: 404, seconds: 'streamed' })
  assert.match(
    meter.text(),
    /^skerry_requests_total\{route="fetch",method="POST",status="2xx"\} 1$/m,
  )
  assert.match(meter.text(), /^skerry_requests_total\{route="none",method="GET",status="4xx"\} 1$/m)
  assert.match(meter.text(), /^skerry_request_seconds_count\{route="fetch"\} 1$/m)
  assert.doesNotMatch(meter.text(), /skerry_request_seconds_count\{route="none"\}/)
})

test('names follow the conventions of Prometheus, and the reference matches the table', async () => {
  for (const [name, { type, help }] of Object.entries(metricTable)) {
    assert.match(name, /^(skerry|process)_[a-z_]+$/)
    assert.equal(name.endsWith('_total'), type === 'counter', name)
    if (type === 'histogram') assert.match(name, /_seconds$/)
    assert.match(help, /^[A-Z1].*\.$/)
  }
  const page = join(import.meta.dirname, '../../../docs/reference/metrics.md')
  assert.equal(await readFile(page, 'utf8'), metricReference(), 'npm run reference makes it again')
})

test('metrics that cannot be read are answered with 500, and the server goes on', async () => {
  const broken = {
    text: () => {
      throw new Error('too many open files')
    },
  }
  await using health = await open({ metrics: broken })
  assert.equal((await health.get('/metrics')).status, 500)
  assert.equal((await health.get('/healthz')).status, 200)
})
