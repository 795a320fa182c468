import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { until } from '@skerry/lab'

import { goesOn, signalEvent, startRun } from '../../apps/workflow/src/runs/start.ts'
import { startRunsEngine } from '../../apps/workflow/test/runs-engine.ts'
import { definitionOf } from '../../packages/serverless-workflow/test/scenarios.ts'
import { memoryOf } from './memory-of.ts'
import { processorSeconds } from './processor.ts'

const LANES = 16
const KIB = 1024

/** A call before and a call after, so that the effects show the position of each run. */
const definition = definitionOf(
  'waiting',
  `- before: { call: skerry.test.yes }
- event: { listen: { to: { one: { with: { type: tide } } } } }
- after: { call: skerry.test.yes }`,
)

export interface WaitingFigures {
  readonly runs: number
  /** The increase since before the start, per run. */
  readonly kibEach: {
    readonly worker: number
    readonly temporal: number
    readonly postgres: number
  }
  readonly startedInSeconds: number
  /** From the first event to the end of the last run. */
  readonly endedInSeconds: number
}

/** This many runs wait at once for an event each; then each gets its own, and all of them must end. */
export async function holdWaiting(runs: number, patienceMs: number): Promise<WaitingFigures> {
  const dir = await mkdtemp(join(tmpdir(), 'workflow-waiting-'))
  try {
    await using engine = await startRunsEngine(dir)
    const { temporal, queue, server, postgres } = engine
    const file = join(dir, 'waiting.yaml')
    await writeFile(file, definition)
    const effects = async () =>
      new Set((await readFile(engine.effects, 'utf8')).split('\n').filter(Boolean)).size
    const weigh = async () => ({
      worker: await memoryOf(engine.workerPid),
      temporal: await memoryOf(server.pid),
      postgres: await memoryOf(postgres.pid, { children: true }),
    })
    const ids = Array.from({ length: runs }, (_, n) => `waiting-${n}`)
    const before = await weigh()
    const began = performance.now()
    await inLanes(ids, async (execution) =>
      startRun(temporal, { execution, grant: execution, definition: file }, queue),
    )
    const reach = async (what: string, count: number) =>
      until(what, async () => (await effects()) >= count, patienceMs)
    await reach('all should have made their first call', runs)
    await untilIdle(engine.workerPid, patienceMs)
    const startedInSeconds = Math.round((performance.now() - began) / 1_000)
    const after = await weigh()
    const more = (name: keyof typeof after) => Math.round((after[name] - before[name]) / runs / KIB)
    const signalled = performance.now()
    await inLanes(ids, async (id) => {
      const heard = await signalEvent(temporal, id, { id, type: 'tide', source: 'proof', data: id })
      if (!heard) throw new Error(`${id} did not wait any more`)
    })
    await reach('all should have made their second call', 2 * runs)
    const lost: string[] = []
    await inLanes(ids, async (id) => {
      await until(`${id} should end`, async () => !(await goesOn(temporal, id)), patienceMs)
      const { status } = await temporal.client.workflow.getHandle(`run/${id}`).describe()
      if (status.name !== 'COMPLETED') lost.push(id)
    })
    if (lost.length > 0) throw new Error(`${lost.length} runs did not end well: ${lost[0]} …`)
    return {
      runs,
      startedInSeconds,
      kibEach: { worker: more('worker'), temporal: more('temporal'), postgres: more('postgres') },
      endedInSeconds: Math.round((performance.now() - signalled) / 1_000),
    }
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

/** Until a process is nearly idle for a second. */
async function untilIdle(pid: number, patienceMs: number): Promise<void> {
  await until(
    'the worker should become idle',
    async () => {
      const before = processorSeconds(pid)
      await sleep(1_000)
      return processorSeconds(pid) - before < 0.1
    },
    patienceMs,
  )
}

async function inLanes<T>(all: readonly T[], work: (each: T) => Promise<void>): Promise<void> {
  const left = [...all]
  const lane = async () => {
    for (let each = left.shift(); each !== undefined; each = left.shift()) await work(each)
  }
  await Promise.all(Array.from({ length: LANES }, lane))
}
