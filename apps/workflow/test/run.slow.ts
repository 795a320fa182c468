// Goal: runs on a real Temporal behave like the interpreter alone, with sealed histories. Method: a real server, a worker in this
// process, and the same scenarios as conformance.test.ts.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'

import { startEvaluator } from '@skerry/jq'
import {
  type Postgres,
  reasonWithoutRoot,
  reasonWithoutTemporal,
  startPostgres,
  startTemporal,
  type Temporal,
  until,
} from '@skerry/lab'
import type { DefinitionDocument, RunEnd, Json, Problem } from '@skerry/serverless-workflow'
import {
  connectTemporal,
  runWorker,
  type RunningWorker,
  type TemporalClient,
} from '@skerry/temporal'
import { parse } from 'yaml'

import { definitionOf, scenariosAt } from '../../../packages/serverless-workflow/test/scenarios.ts'
import { fetchPlainly } from '../../../packages/serverless-workflow/test/small-runtime.ts'
import { startStandIn, type StandIn } from '../../../packages/serverless-workflow/test/stand-in.ts'
import { workflowIdOf } from '../src/durable/run-activities.ts'
import { makeActivities } from '../src/runs/activities.ts'
import { sealedConverter } from '../src/runs/codec.ts'
import {
  createSchedule,
  deleteSchedule,
  pauseSchedule,
  readSchedule,
} from '../src/runs/schedules.ts'
import { answerInteraction, cancelRun, goesOn, signalEvent, startRun } from '../src/runs/start.ts'
import { begun, makeSmallServer } from './small-server.ts'

const skip = reasonWithoutRoot('cloud') ?? (await reasonWithoutTemporal()) ?? false
const timeout = 160_000
const QUEUE = 'runs'
const WORKFLOWS = `${import.meta.dirname}/../src/durable/workflows.ts`
const evaluator = startEvaluator()
const server = makeSmallServer({
  evaluator,
  callHttp: fetchPlainly,
  pause: async (signal) =>
    new Promise((_, reject) =>
      signal.addEventListener('abort', () => reject(new DOMException('stop', 'AbortError'))),
    ),
})
const dataConverter = sealedConverter({
  keys: [{ id: 'k1', key: randomBytes(32) }],
  random: (bytes) => randomBytes(bytes),
})
let dir: string
let postgres: Postgres
let engine: Temporal
let temporal: TemporalClient
let worker: RunningWorker
let host: StandIn

before(async () => {
  if (skip) return
  dir = await mkdtemp(join(tmpdir(), 'workflow-runs-'))
  postgres = await startPostgres(join(dir, 'postgres'), { durable: false })
  engine = await startTemporal(join(dir, 'temporal'), postgres)
  temporal = connectTemporal({ ...engine, dataConverter })
  host = await startStandIn()
  worker = runWorker({
    address: engine.address,
    namespace: engine.namespace,
    taskQueue: QUEUE,
    dataConverter,
    workflows: { path: WORKFLOWS },
    activities: makeActivities(server),
    say: () => undefined,
  })
  await worker.ready
})
after(async () => {
  await evaluator[Symbol.asyncDispose]()
  if (skip) return
  await worker.stop()
  await host[Symbol.asyncDispose]()
  await temporal.close()
  await engine[Symbol.asyncDispose]()
  await postgres[Symbol.asyncDispose]()
  await rm(dir, { recursive: true, force: true })
})

function define(id: string, definition: string, input: Json = {}) {
  server.definitions.set(id, { document: parse(definition) as DefinitionDocument, input })
  return begun(id)
}
const handleOf = (id: string) => temporal.client.workflow.getHandle(workflowIdOf(id))
const stepsOf = (id: string) =>
  server.progress.filter(({ execution }) => execution === id).flatMap(({ steps }) => steps)
const lastOf = (id: string) => server.progress.findLast(({ execution }) => execution === id)

async function run(id: string, definition: string, input: Json = {}): Promise<RunEnd> {
  await startRun(temporal, define(id, definition, input), QUEUE)
  try {
    return { ended: 'completed', output: (await handleOf(id).result()) as Json }
  } catch (error) {
    const last = lastOf(id)
    if (last?.error === undefined) throw error
    return { ended: 'failed', error: last.error }
  }
}

test(
  'every published scenario of the subset passes on Temporal too',
  { skip, timeout },
  async (t) => {
    let n = 0
    for (const { name, tasks, input = {}, expect } of scenariosAt(host.url)) {
      await t.test(name, async () => {
        const id = `scenario-${n++}`
        expect(await run(id, definitionOf('scenario', tasks), input), stepsOf(id))
        assert.ok(server.ended.includes(`grant-${id}`), 'its grant is ended')
      })
    }
  },
)

test('a history contains no tenant data in clear text', { skip, timeout }, async () => {
  const secret = 'a very plain word'
  const ended = await run(
    'sealed',
    definitionOf(
      'sealed',
      `- tellTale: { set: { word: '\${ .word + "!" }' } }\n- no: { raise: { error: { type: 'urn:x', status: 1, detail: '\${ .word }' } } }`,
    ),
    { word: secret },
  )
  assert.equal(ended.ended === 'failed' && ended.error.detail, `${secret}!`)
  const history = JSON.stringify(await handleOf('sealed').fetchHistory())
  const plain = [...history.matchAll(/"data":"([^"]+)"/g)].map(([, data = '']) => atob(data)).join()
  for (const word of ['plain', 'tellTale', 'urn:x', 'grant-sealed']) {
    assert.ok(!`${history}${plain}`.includes(word), word)
  }
})

test(
  'a call passes its key and secrets to the function, and its error can be caught',
  { skip, timeout },
  async () => {
    const ended = await run(
      'calls',
      definitionOf(
        'calls',
        `- call: { call: skerry.test.yes, with: { password: '\${ .password }' } }
- attempt:
    try: [ { no: { call: skerry.test.no } } ]
    catch: { errors: { with: { status: 403 } }, do: [ { handled: { set: { was: '\${ $error }', before: '\${ . }' } } } ] }`,
      ),
      { password: { 'skerry.secure': 'password' } },
    )
    assert.equal(ended.ended, 'completed')
    const { was, before: first } = (ended as { output: Record<string, Record<string, Json>> })
      .output
    assert.deepEqual(first, { key: 'calls/1', input: { password: 'secret password of calls' } })
    assert.deepEqual((was as unknown as Problem).instance, '/do/1/attempt/try/0/no')
  },
)

test(
  'a long run continues under a new history from inside a loop',
  { skip, timeout: 300_000 },
  async (t) => {
    const definition = definitionOf(
      'long',
      `- count: { for: { in: '[range(1100)]' }, do: [ { add: { set: '\${ . + 1 }' } }, { rest: { if: '$index % 20 == 0', wait: { milliseconds: 1 } } } ] }`,
    )
    const began = performance.now()
    const ended = await run('long', definition, 0)
    assert.deepEqual(ended, { ended: 'completed', output: 1100 })
    const first = await temporal.client.workflow.getHandle(workflowIdOf('long')).describe()
    t.diagnostic(
      `1,100 rounds in ${((performance.now() - began) / 1000).toFixed(1)} s, the last history has ${first.historyLength} events`,
    )
    const runs = temporal.client.workflow.list({ query: `WorkflowId = '${workflowIdOf('long')}'` })
    await until(
      'its histories should be listed',
      async () => (await Array.fromAsync(runs)).length > 1,
      60_000,
    )
  },
)

test('a run receives events, a user’s answer and cancellation', { skip, timeout }, async () => {
  const definition = definitionOf(
    'hears',
    `- event: { listen: { to: { one: { with: { type: tide } } } } }
- ask:
    metadata: { interaction: { title: Go on?, form: { type: object } } }
    listen: { to: { one: { with: { type: skerry.interaction } } } }
- slow: { call: skerry.test.slow }`,
  )
  await startRun(temporal, define('hears', definition), QUEUE)
  await startRun(temporal, begun('hears'), QUEUE)
  await until('it should wait', () => lastOf('hears')?.state === 'waiting-signal', 60_000)
  assert.equal(await goesOn(temporal, 'hears'), true)
  const event = { id: '1', type: 'tide', source: 'test', data: 'high' }
  assert.equal(await signalEvent(temporal, 'hears', event), true)
  const ask = await until(
    'a user should be asked',
    () =>
      server.progress.flatMap(({ asks }) => asks).find(({ question }) => question !== undefined),
    60_000,
  )
  const answer = { interaction: ask.id, by: 'ines', answer: { yes: true } }
  assert.equal(await answerInteraction(temporal, 'hears', answer), true)
  await until(
    'the call should be in progress',
    () => stepsOf('hears').some(({ name }) => name === 'slow'),
    60_000,
  )
  await cancelRun(temporal, 'hears')
  await assert.rejects(handleOf('hears').result())
  assert.equal(lastOf('hears')?.state, 'canceled')
  assert.ok(server.ended.includes('grant-hears'))
  await cancelRun(temporal, 'hears')
  assert.equal(await signalEvent(temporal, 'hears', event), false)
  assert.equal(await goesOn(temporal, 'hears'), false)
  assert.equal(await goesOn(temporal, 'nobody'), false)
})

test(
  'a child run returns its output or error, and ends with its parent',
  { skip, timeout },
  async () => {
    define('inner', definitionOf('inner', `- twice: { set: { n: '\${ .n * 2 }' } }`))
    define(
      'wrong',
      definitionOf('wrong', `- no: { raise: { error: { type: 'urn:inner', status: 418 } } }`),
    )
    const call = (name: string) =>
      `run: { workflow: { namespace: test, name: ${name}, version: latest, input: { n: 21 } } }`
    const good = await run('outer', definitionOf('outer', `- call: { ${call('inner')} }`))
    assert.deepEqual(good, { ended: 'completed', output: { n: 42 } })
    const bad = await run('outer-2', definitionOf('outer', `- call: { ${call('wrong')} }`))
    assert.deepEqual(bad, {
      ended: 'failed',
      error: { type: 'urn:inner', status: 418, instance: '/do/0/call' },
    })
    const none = await run('outer-3', definitionOf('outer', `- call: { ${call('nothing')} }`))
    assert.equal(none.ended === 'failed' && none.error.status, 404)
  },
)

test(
  'a schedule starts runs at its times in its time zone, and stops while paused',
  { skip, timeout },
  async () => {
    define('nightly', definitionOf('nightly', `- one: { set: { n: 1 } }`))
    const schedule = { id: 'nightly', everySeconds: 1, overlap: 'skip' } as const
    await createSchedule(temporal, schedule, QUEUE)
    await createSchedule(temporal, schedule, QUEUE)
    const done = () =>
      server.progress.filter(
        ({ execution, state }) => execution.startsWith('schedule-nightly') && state === 'completed',
      ).length
    await until('the schedule should start runs', () => done() >= 2, 60_000)
    await pauseSchedule(temporal, 'nightly', true)
    assert.equal((await readSchedule(temporal, 'nightly'))?.paused, true)
    await deleteSchedule(temporal, 'nightly')
    await deleteSchedule(temporal, 'nightly')
    assert.equal(await readSchedule(temporal, 'nightly'), undefined)
    const zoned = { id: 'night', cron: '30 2 * * *', timeZone: 'Pacific/Auckland' }
    await createSchedule(temporal, zoned, QUEUE)
    const [next = ''] = (await readSchedule(temporal, 'night'))?.next ?? []
    const there = new Intl.DateTimeFormat('en-GB', {
      timeZone: 'Pacific/Auckland',
      timeStyle: 'short',
    })
    assert.equal(there.format(new Date(next)), '02:30')
    await deleteSchedule(temporal, 'night')
  },
)
