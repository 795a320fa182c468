// Runs with loops, forks, retries and waits, while their backends are killed with SIGKILL at points drawn from a seed: the worker (a
// separate process), Temporal, and PostgreSQL.
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { until } from '@skerry/lab'

import { definitionOf } from '../../../packages/serverless-workflow/test/scenarios.ts'
import { seededRandom } from '../../../tools/lab/src/system/seeded-random.ts'
import { workflowIdOf } from '../src/durable/run-activities.ts'
import { startRun } from '../src/runs/start.ts'
import { startRunsEngine, type RunsEngine } from './runs-engine.ts'

const GRPC_UNAVAILABLE = 14

export interface StormOptions {
  readonly runs: number
  readonly kills: number
  readonly seed: number
  /** The maximum time for all runs to end after the last kill. */
  readonly patienceMs: number
}

export interface StormFigures {
  readonly seed: number
  readonly runs: number
  readonly kills: Readonly<Record<Victim, number>>
  readonly effects: number
  /** Including requests repeated because their outcome was unknown. */
  readonly requested: number
  readonly seconds: number
}

export const victims = ['worker', 'temporal', 'postgres'] as const
export type Victim = (typeof victims)[number]

/** 3 + 2 + 1 calls. */
const CALLS = 6
const definition = definitionOf(
  'storm',
  `- each: { for: { in: '[1, 2, 3]' }, do: [ { call: { call: skerry.test.slow, with: { n: '\${ $item * 10 }' } } } ] }
- both:
    fork:
      branches:
        - one: { do: [ { rest: { wait: PT0.5S } }, { call: { call: skerry.test.slow } } ] }
        - other: { do: [ { call: { call: skerry.test.slow } }, { rest: { wait: PT1S } } ] }
- attempt:
    try: [ { no: { call: skerry.test.no } } ]
    catch: { retry: { delay: PT0.3S, limit: { attempt: { count: 2 } } }, do: [ { handled: { set: '\${ $error.status }' } } ] }
- last: { call: skerry.test.slow, output: { as: .input } }
- sum: { set: '\${ [., $workflow.id] }' }`,
)

/** Throws if a run does not end as expected, or an effect is missing. One key is one effect, however often it was requested. */
export async function runStorm({
  runs,
  kills,
  seed,
  patienceMs,
}: StormOptions): Promise<StormFigures> {
  const dir = await mkdtemp(join(tmpdir(), 'workflow-storm-'))
  try {
    await using engine = await startRunsEngine(dir)
    const began = performance.now()
    await writeFile(join(dir, 'storm.yaml'), definition)
    const draw = seededRandom(seed)
    const ids = Array.from({ length: runs }, (_, n) => `storm-${n}`)
    const left = [...ids]
    const killed = { worker: 0, temporal: 0, postgres: 0 }
    // Runs start continuously, so that every kill hits runs at every point.
    const each = Math.ceil(runs / (kills + 1))
    for (let n = 0; n <= kills; n += 1) {
      for (const execution of left.splice(0, each)) {
        const run = { execution, grant: execution, definition: join(dir, 'storm.yaml') }
        await insist(async () => startRun(engine.temporal, run, engine.queue))
      }
      if (n === kills) break
      await sleep(draw.between(200, 1_700))
      const victim = draw.pick(victims)
      killed[victim] += 1
      await engine.kill(victim)
    }
    await allEnd(engine, ids, patienceMs)
    const keys = (await readFile(engine.effects, 'utf8')).trim().split('\n')
    const effects = new Set(keys).size
    assert.equal(effects, runs * CALLS, `seed ${seed}: each call of each run should take effect`)
    const seconds = Math.round((performance.now() - began) / 1_000)
    return { seed, runs, kills: killed, effects, requested: keys.length, seconds }
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

/** Repeated while the server is unavailable: an existing run is not started twice. */
async function insist(work: () => Promise<void>): Promise<void> {
  await until(
    'Temporal should accept it',
    async () =>
      work().then(
        () => true,
        () => false,
      ),
    60_000,
  )
}

async function allEnd(
  { temporal }: RunsEngine,
  ids: readonly string[],
  patienceMs: number,
): Promise<void> {
  const handles = ids.map((id) => temporal.client.workflow.getHandle(workflowIdOf(id)))
  const goesOn = async (at: number) => {
    try {
      return (await handles[at]?.describe())?.status.name === 'RUNNING'
    } catch (error) {
      // Temporal is not ready again after its own kill.
      if ((error as { cause?: { code?: number } }).cause?.code === GRPC_UNAVAILABLE) return true
      throw error
    }
  }
  let first = 0
  await until(
    'all runs should end',
    async () => {
      while (first < ids.length && !(await goesOn(first))) first += 1
      return first === ids.length
    },
    patienceMs,
  )
  for (const [at, handle] of handles.entries()) {
    assert.deepEqual(await handle.result(), [{}, ids[at]])
  }
}
