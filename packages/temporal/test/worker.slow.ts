// Goal: work continues after any process dies. Method: a real Temporal server and workers in their own processes; each is killed in turn.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, test } from 'node:test'

import { Fault } from '@skerry/fault'
import {
  type Postgres,
  reasonWithoutRoot,
  reasonWithoutTemporal,
  startPostgres,
  startTemporal,
  type Temporal,
  until,
} from '@skerry/lab'
import { ApplicationFailure } from '@temporalio/common'

import {
  bundleWorkflows,
  connectTemporal,
  ensureSchedule,
  runWorker,
  type TemporalClient,
} from '../src/index.ts'
import { ensureNamespace } from '../src/namespace.ts'
import { makeActivities } from './activities.ts'

const skip = reasonWithoutRoot('cloud') ?? (await reasonWithoutTemporal()) ?? false
const timeout = 120_000
const WORKFLOWS = `${import.meta.dirname}/workflows/index.ts`
let dir: string
let bundle: string
let postgres: Postgres
let server: Temporal
let temporal: TemporalClient

before(async () => {
  if (skip) return
  dir = await mkdtemp(join(tmpdir(), 'temporal-worker-'))
  postgres = await startPostgres(join(dir, 'postgres'), { durable: false })
  server = await startTemporal(join(dir, 'temporal'), postgres)
  temporal = connectTemporal(server)
  bundle = join(dir, 'bundle.js')
  await writeFile(bundle, await bundleWorkflows(WORKFLOWS))
})
after(async () => {
  if (skip) return
  await temporal.close()
  await server[Symbol.asyncDispose]()
  await postgres[Symbol.asyncDispose]()
  await rm(dir, { recursive: true, force: true })
})

const start = async (workflow: string, taskQueue: string, ...args: unknown[]) =>
  temporal.within((client) =>
    client.workflow.start(workflow, {
      taskQueue,
      workflowId: randomUUID(),
      workflowTaskTimeout: '5s',
      args,
    }),
  )

/** A worker in this process. */
function ownWorker(taskQueue: string, heard: string[] = []) {
  return runWorker({
    address: server.address,
    namespace: server.namespace,
    taskQueue,
    workflows: { path: WORKFLOWS },
    activities: makeActivities((what) => heard.push(what)),
    say: () => undefined,
  })
}

interface WorkerProcess extends AsyncDisposable {
  readonly child: ChildProcess
  readonly heard: string[]
}

async function workerProcess(taskQueue: string): Promise<WorkerProcess> {
  const program = `${import.meta.dirname}/test-worker.ts`
  const args = [program, server.address, server.namespace, taskQueue, bundle]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const heard: string[] = []
  createInterface({ input: child.stdout }).on('line', (line) => heard.push(line))
  await until('the worker should be ready', () => heard.includes('ready'), 60_000)
  return {
    child,
    heard,
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

test('a run executes quick and long steps', { skip, timeout }, async () => {
  const heard: string[] = []
  await using worker = ownWorker('steps', heard)
  await worker.ready
  const run = await start('twoSteps', 'steps', 'a')
  assert.deepEqual(await run.result(), ['quick a', 'long a'])
  assert.deepEqual(heard, ['quick a', 'long a'])
})

test('a paused worker takes no work until it is resumed', { skip, timeout }, async () => {
  const [first, second]: [string[], string[]] = [[], []]
  await using paused = ownWorker('paused', first)
  await paused.ready
  paused.pause()
  paused.pause()
  await until('it has no connection to Temporal', () => paused.near() === undefined)
  await using other = ownWorker('paused', second)
  await other.ready
  for (const name of ['a', 'b', 'c']) await (await start('twoSteps', 'paused', name)).result()
  assert.deepEqual([first.length, second.length], [0, 6])
  await other.stop()
  const waiting = await start('twoSteps', 'paused', 'd')
  paused.resume()
  await waiting.result()
  assert.deepEqual(first, ['quick d', 'long d'])
  paused.pause()
  await paused.stop()
})

test(
  'a run that is started over a worker’s own connection starts at that worker',
  { skip, timeout },
  async () => {
    const heard: string[] = []
    await using worker = ownWorker('near', heard)
    assert.equal(worker.near(), undefined, 'it is not up yet')
    await worker.ready
    const run = await worker.near()?.within((client) =>
      client.workflow.start('mark', {
        taskQueue: 'near',
        workflowId: randomUUID(),
        requestEagerStart: true,
      }),
    )
    assert.equal(run?.eagerlyStarted, true)
    await run?.result()
    assert.deepEqual(heard, ['marked'])
    await worker.stop()
    assert.equal(worker.near(), undefined)
  },
)

/** Temporal wraps a failure once per level. */
const innermost = (error: unknown): unknown =>
  error instanceof Error && error.cause instanceof Error ? innermost(error.cause) : error

test(
  'a fault reaches the workflow with its kind; a bug is not retried',
  { skip, timeout },
  async () => {
    const heard: string[] = []
    await using worker = ownWorker('faults', heard)
    await worker.ready
    const conflict = await start('failing', 'faults', 'conflict')
    assert.equal(await conflict.result(), 'conflict: it was conflict 3')
    const bug = await start('failing', 'faults', 'bug')
    assert.match(await bug.result(), /^bug: internal error/)
    assert.deepEqual(heard, ['conflict', 'bug'])

    const out = await start('failsOutright', 'faults', 'no-room')
    const error = innermost(await out.result().catch((thrown: unknown) => thrown))
    assert.ok(error instanceof ApplicationFailure)
    assert.deepEqual(
      [error.type, error.message, error.details],
      ['no-room', 'it was no-room', [{ hint: 'try another' }]],
    )

    const stubborn = await start('failing', 'faults', 'unavailable')
    await until(
      'a retryable fault should be retried',
      () => heard.filter((each) => each === 'unavailable').length > 2,
      60_000,
    )
    // Otherwise it would continue as long as the worker.
    await stubborn.terminate()
  },
)

test("a killed worker's long step is taken over within 15 s", { skip, timeout }, async (t) => {
  await using doomed = await workerProcess('takeover')
  const file = join(dir, 'takeover')
  const run = await start('waitsFor', 'takeover', file)
  await until(
    'the step should have begun',
    () => doomed.heard.some((line) => line.startsWith('waiting')),
    60_000,
  )
  await using heir = await workerProcess('takeover')
  const death = performance.now()
  doomed.child.kill('SIGKILL')
  await until(
    'another should take it over',
    () => heir.heard.some((line) => line.startsWith('waiting')),
    30_000,
  )
  const took = performance.now() - death
  t.diagnostic(`taken over after ${(took / 1000).toFixed(1)} s`)
  await writeFile(file, '')
  assert.equal(await run.result(), `found by ${heir.child.pid}`)
  assert.ok(took < 15_000, `${took} ms`)
})

test(
  'a long step sends heartbeats automatically: it is not taken over while it works',
  { skip, timeout },
  async () => {
    const heard: string[] = []
    await using worker = ownWorker('beats', heard)
    await worker.ready
    const file = join(dir, 'beats')
    const run = await start('waitsFor', 'beats', file)
    await until('the step should have begun', () => heard.length > 0, 60_000)
    const began = performance.now()
    // Longer than the heartbeat timeout of 8 s.
    await until('more than 8 s should pass', () => performance.now() - began > 10_000, 20_000)
    await writeFile(file, '')
    assert.equal(await run.result(), `found by ${process.pid}`)
    assert.equal(heard.length, 1)
  },
)

test(
  'a stopped worker ends, and its step continues at another one',
  { skip, timeout },
  async () => {
    await using leaving = await workerProcess('leaving')
    const file = join(dir, 'leaving')
    const run = await start('waitsFor', 'leaving', file)
    await until('the step should have begun', () => leaving.heard.length > 1, 60_000)
    leaving.child.kill('SIGTERM')
    const [code] = (await once(leaving.child, 'exit')) as [number | null]
    assert.equal(code, 0)
    await using staying = await workerProcess('leaving')
    await writeFile(file, '')
    assert.equal(await run.result(), `found by ${staying.child.pid}`)
  },
)

test('a missing namespace is treated like an unreachable server', { skip, timeout }, async () => {
  await using early = connectTemporal({ ...server, namespace: 'later' })
  const options = { taskQueue: 'later', workflowId: 'later' }
  const begin = () =>
    early.within((client) => client.workflow.start('twoSteps', { ...options, args: ['l'] }))
  await assert.rejects(
    begin(),
    (error) =>
      error instanceof Fault && error.kind === 'unavailable' && /later/.test(error.message),
  )
  await ensureNamespace(early)
  await begin()
})

test(
  'after kill -9 of the server runs continue, and a call in between fails at once',
  { skip, timeout },
  async (t) => {
    await using worker = ownWorker('server')
    await worker.ready
    const file = join(dir, 'server')
    const waiting = await start('waitsFor', 'server', file)
    const resting = await start('rings', 'server', 1)
    await server.kill9()
    const away = performance.now()
    await assert.rejects(
      start('twoSteps', 'server', 'b'),
      (error) => error instanceof Fault && error.kind === 'unavailable',
    )
    assert.ok(performance.now() - away < 5_000)
    await writeFile(file, '')
    await server.restart()
    const back = performance.now()
    await until(
      'a signal should be received again',
      () =>
        temporal
          .within((client) => client.workflow.getHandle(resting.workflowId).signal('bell'))
          .then(
            () => true,
            () => false,
          ),
      60_000,
    )
    assert.equal(await resting.result(), 1)
    assert.match(await waiting.result(), /^found by/)
    const run = await start('twoSteps', 'server', 'c')
    assert.deepEqual(await run.result(), ['quick c', 'long c'])
    t.diagnostic(
      `all went on ${((performance.now() - back) / 1000).toFixed(1)} s after the server was back`,
    )
  },
)

test(
  'a worker that starts before the server, and one whose database was lost, become ready by themselves',
  { skip, timeout },
  async (t) => {
    await server.kill9()
    const heard: string[] = []
    await using worker = ownWorker('early', heard)
    await server.restart()
    await worker.ready
    const before = await start('twoSteps', 'early', 'd')
    assert.deepEqual(await before.result(), ['quick d', 'long d'])

    await server.dropDatabase()
    const dropped = performance.now()
    // Only the worker itself registers the namespace.
    const run = await until(
      'a run should start',
      () => start('twoSteps', 'early', 'e').catch(() => undefined),
      60_000,
    )
    assert.deepEqual(await run.result(), ['quick e', 'long e'])
    t.diagnostic(
      `works again ${((performance.now() - dropped) / 1000).toFixed(1)} s after the empty server was up`,
    )
  },
)

test(
  'a schedule is created once by concurrent callers, and updated when its values change',
  { skip, timeout },
  async () => {
    const heard: string[] = []
    await using worker = ownWorker('schedules', heard)
    await worker.ready
    await ensureNamespace(temporal)
    const schedule = { id: 'marks', everyMs: 1_000, workflow: 'mark', taskQueue: 'schedules' }
    await Promise.all(Array.from({ length: 5 }, () => ensureSchedule(temporal, schedule)))
    await until('it should start repeatedly', () => heard.length >= 3, 60_000)

    const describe = async () => temporal.client.schedule.getHandle('marks').describe()
    assert.deepEqual((await describe()).spec.intervals?.[0]?.every, 1_000)
    await ensureSchedule(temporal, { ...schedule, everyMs: 60_000 })
    assert.deepEqual((await describe()).spec.intervals?.[0]?.every, 60_000)
    assert.equal((await describe()).policies.overlap, 'SKIP')
    const changed = (await describe()).info.lastUpdatedAt
    await ensureSchedule(temporal, { ...schedule, everyMs: 60_000 })
    assert.deepEqual(
      (await describe()).info.lastUpdatedAt,
      changed,
      'nothing to change, nothing written',
    )
  },
)
