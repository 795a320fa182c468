// Goal: a Fault passes through Temporal unchanged, and nothing waits for an unreachable Temporal. No server is needed.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { test } from 'node:test'

import { Fault, faultKinds, retryableKinds } from '@skerry/fault'
import { ApplicationFailure, CancelledFailure } from '@temporalio/common'

import { BUG, toFailure } from '../src/failure.ts'
import { connectTemporal, runWorker } from '../src/index.ts'
import { ensureNamespace } from '../src/namespace.ts'

test('every kind of fault keeps kind, message and hint, and only a retryable one is retried', () => {
  for (const kind of faultKinds) {
    const failure = toFailure(new Fault(kind, 'why', { hint: 'what next' }))
    assert.ok(failure instanceof ApplicationFailure)
    assert.deepEqual([failure.type, failure.nonRetryable], [kind, !retryableKinds.has(kind)])
    assert.deepEqual([failure.message, failure.details], ['why', [{ hint: 'what next' }]])
  }
})

test('a bug is not retried, and its message is not exposed', () => {
  const failure = toFailure(new TypeError('cannot read x of undefined'))
  assert.ok(failure instanceof ApplicationFailure)
  assert.deepEqual([failure.type, failure.nonRetryable], [BUG, true])
  assert.doesNotMatch(failure.message, /undefined/)
})

test('errors of Temporal itself stay unchanged', () => {
  const own = new CancelledFailure('stop')
  assert.equal(toFailure(own), own)
})

test('a call to an unreachable or silent Temporal times out', async () => {
  // One listens and never answers, the other does not exist.
  const open: Socket[] = []
  await using silent = createServer((socket) => open.push(socket)).listen(0, '127.0.0.1')
  using _ = { [Symbol.dispose]: () => open.forEach((socket) => socket.destroy()) }
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  const gone = createServer().listen(0, '127.0.0.1')
  await once(gone, 'listening')
  const free = (gone.address() as AddressInfo).port
  await gone[Symbol.asyncDispose]()
  for (const [what, at] of [
    ['silent', port],
    ['away', free],
  ] as const) {
    await using temporal = connectTemporal({
      address: `127.0.0.1:${at}`,
      namespace: 'n',
      callTimeoutMs: 500,
    })
    const isAway = (error: unknown) => error instanceof Fault && error.kind === 'unavailable'
    const began = performance.now()
    await assert.rejects(
      temporal.within((client) =>
        client.workflow.start('any', { taskQueue: 'q', workflowId: 'w' }),
      ),
      isAway,
      what,
    )
    assert.ok(performance.now() - began < 3_000, `${what}: ${performance.now() - began} ms`)
    await assert.rejects(ensureNamespace(temporal, { patienceMs: 0 }), isAway)
  }
})

test('a worker can be stopped while Temporal is unreachable', async () => {
  const worker = runWorker({
    address: '127.0.0.1:1',
    namespace: 'n',
    taskQueue: 'q',
    workflows: { bundle: '' },
    activities: {},
    say: () => undefined,
  })
  const began = performance.now()
  await worker.stop()
  assert.ok(performance.now() - began < 5_000)
  await assert.rejects(worker.ready, /stopped before it was ready/)
})
