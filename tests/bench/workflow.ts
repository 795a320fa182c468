import assert from 'node:assert/strict'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { requirePrograms, startPostgres, startTemporal } from '@skerry/lab'
import type { RunInput } from '@skerry/serverless-workflow'
import { connectTemporal } from '@skerry/temporal'

import { startRun } from '../../apps/workflow/src/runs/start.ts'
import { testConverter as dataConverter } from '../../apps/workflow/test/test-key.ts'
import { compareAll, type Figure } from './figure.ts'
import { processorSeconds, serverSeconds } from './processor.ts'
import { startTalkingProcess } from './side-process.ts'
import { type definitions, EXPRESSIONS } from './workflow-definitions.ts'

const QUEUE = 'runs'
const RUNS = 20
/** Concurrent start requests. */
const LANES = 16

interface Measured {
  readonly perSecond: number
  readonly perProcessorSecond: number
  readonly activities: number
}

type Seconds = Readonly<Record<'worker' | 'temporal' | 'postgres' | 'client', number>>
const sum = (seconds: Seconds): number =>
  Object.values(seconds).reduce((all, each) => all + each, 0)

/** CPU milliseconds per run by process, for profiling. */
function log(what: string, ms: number, before: Seconds, after: Seconds): void {
  if (!process.argv.includes('--verbose')) return
  const each = (Object.keys(after) as (keyof Seconds)[]).map(
    (name) => `${name} ${(((after[name] - before[name]) / RUNS) * 1_000).toFixed(1)}`,
  )
  console.error(`${what}: ${(ms / RUNS).toFixed(1)} ms each; of processors: ${each.join(', ')}`)
}

/**
 * Runs of a definition with five calls and three expressions, against runs of a workflow written for Temporal alone with the same
 * activities: at the same server, by the same worker, sealed by the same converter. Per second, and per CPU second (worker,
 * Temporal, Postgres, client), which other load of the machine does not affect. Then the cost of an expression.
 */
export async function benchWorkflow(pairs: number): Promise<Figure[]> {
  requirePrograms('cloud')
  await using dir = await mkdtempDisposable(join(tmpdir(), 'bench-workflow-'))
  await using postgres = await startPostgres(join(dir.path, 'postgres'))
  await using engine = await startTemporal(join(dir.path, 'temporal'), postgres)
  const { address, namespace } = engine
  await using worker = await startTalkingProcess('workflow-worker.ts', [address, namespace, QUEUE])
  await using temporal = connectTemporal({ ...engine, dataConverter, callTimeoutMs: 30_000 })
  const seconds = (): Seconds => ({
    worker: processorSeconds(worker.pid),
    temporal: processorSeconds(engine.pid),
    postgres: serverSeconds(postgres.pid),
    client: processorSeconds(process.pid),
  })
  let started = 0
  let activities = 0
  const measure = async (
    what: string,
    definition: keyof typeof definitions,
    start: (run: RunInput) => Promise<void>,
  ) => {
    const [begun, before, counted] = [performance.now(), seconds(), activities]
    const ids = Array.from({ length: RUNS }, () => `run-${(started += 1)}`)
    const open = new Set(ids)
    const lane = async () => {
      for (let id = ids.shift(); id !== undefined; id = ids.shift()) {
        await start({ execution: id, grant: id, definition })
      }
    }
    await Promise.all(Array.from({ length: LANES }, lane))
    // A step may be executed twice if a workflow task took too long; a run ends once.
    while (open.size > 0) {
      const [id = '', count] = (await worker.hear()).split(' ')
      open.delete(id)
      activities = Number(count)
    }
    const [ms, after] = [performance.now() - begun, seconds()]
    log(what, ms, before, after)
    return {
      perSecond: (RUNS / ms) * 1_000,
      perProcessorSecond: RUNS / (sum(after) - sum(before)),
      activities: (activities - counted) / RUNS,
    } satisfies Measured
  }
  const interpreted = (definition: keyof typeof definitions) =>
    measure(definition, definition, async (run) => startRun(temporal, run, QUEUE))
  const bare = () =>
    measure('bare', 'calls', async (run) => {
      await temporal.within((client) =>
        client.workflow.start('bareRun', {
          taskQueue: QUEUE,
          workflowId: run.execution,
          args: [run],
          workflowTaskTimeout: '5s',
        }),
      )
    })
  const [one, other] = [await interpreted('calls'), await bare()]
  assert.equal(
    one.activities,
    other.activities,
    'both should execute the same number of activities',
  )
  const name = `${RUNS} runs of ${one.activities} activities at once`
  const rates = ({ perSecond, perProcessorSecond }: Measured) => [perSecond, perProcessorSecond]
  const figures = await compareAll(
    [
      { name, unit: 'runs/s', atLeast: 0.7 },
      { name, unit: 'runs/CPU s', atLeast: 0.7 },
    ],
    pairs,
    async () => rates(await interpreted('calls')),
    async () => rates(await bare()),
  )
  // A run with many steps of one expression each, beside the same with paths that need no jq.
  const costs = ({ perSecond, perProcessorSecond }: Measured) =>
    [perSecond, perProcessorSecond].map((rate) => 1_000 / rate)
  const expressions = await compareAll(
    [
      {
        name: `a run of ${EXPRESSIONS} expressions, beside ${EXPRESSIONS} plain paths`,
        unit: 'ms',
      },
      { name: 'the same, of processors’ time', unit: 'ms' },
    ],
    Math.max(1, Math.ceil(pairs / 3)),
    async () => costs(await interpreted('expressions')),
    async () => costs(await interpreted('paths')),
  )
  const each = expressions.map(({ ours, bare: paths }) => ((ours - paths) / EXPRESSIONS).toFixed(1))
  console.error(`one expression costs ${each[0]} ms, and ${each[1]} ms of processors' time`)
  return [...figures, ...expressions]
}
