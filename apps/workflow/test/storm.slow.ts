// Goal: whoever is killed, every run ends, and each of its calls has taken effect once. Method: 20 runs with loops, forks, attempts and
// waits; a worker in a process of its own and Temporal are killed with SIGKILL at random points, again and again.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import { reasonWithoutRoot, reasonWithoutTemporal, startPostgres, startTemporal } from '@skerry/lab'
import { bundleWorkflows, connectTemporal } from '@skerry/temporal'

import { workflowIdOf } from '../src/durable/states.ts'
import { startRun } from '../src/worker/start.ts'
import { definitionOf } from './scenarios.ts'
import { testConverter as dataConverter, WORKFLOWS } from './test-key.ts'

const skip = reasonWithoutRoot('cloud') ?? (await reasonWithoutTemporal()) ?? false
const RUNS = Number(process.env['SKERRY_RUNS'] ?? 20)
const KILLS = Number(process.env['SKERRY_KILLS'] ?? 5)
const timeout = 600_000

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
    catch: { retry: { delay: PT0.3S, limit: { attempt: { count: 2 } } }, do: [ { told: { set: '\${ $error.status }' } } ] }
- last: { call: skerry.test.slow, output: { as: .input } }
- sum: { set: '\${ [., $workflow.id] }' }`,
)

test(
  'every run ends and each effect is there once, whoever is killed',
  { skip, timeout },
  async (t) => {
    const dir = await mkdtemp(join(tmpdir(), 'workflow-storm-'))
    t.after(async () => rm(dir, { recursive: true, force: true }))
    await using postgres = await startPostgres(join(dir, 'postgres'), { durable: false })
    await using engine = await startTemporal(join(dir, 'temporal'), postgres)
    await using temporal = connectTemporal({ ...engine, dataConverter })
    const bundle = join(dir, 'bundle.js')
    await writeFile(bundle, await bundleWorkflows(WORKFLOWS, dataConverter))
    await writeFile(join(dir, 'storm.yaml'), definition)
    const effects = join(dir, 'effects')
    await writeFile(effects, '')
    const startWorker = async (): Promise<ChildProcess> => {
      const program = `${import.meta.dirname}/run-process.ts`
      const args = [program, engine.address, engine.namespace, 'runs', bundle, effects]
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
      await once(child.stdout, 'data')
      return child
    }
    const kill = async (child: ChildProcess) => {
      child.kill('SIGKILL')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    }
    let worker = await startWorker()
    try {
      const ids = Array.from({ length: RUNS }, (_, n) => `storm-${n}`)
      for (const execution of ids) {
        const run = { execution, grant: execution, definition: join(dir, 'storm.yaml') }
        await startRun(temporal, run, 'runs')
      }
      for (let n = 0; n < KILLS; n++) {
        await sleep(200 + Math.random() * 1_500)
        if (n % 2 === 0) {
          await kill(worker)
          worker = await startWorker()
        } else {
          await engine.kill9()
          await engine.restart()
        }
      }
      const outputs = await Promise.all(
        ids.map(async (id) => temporal.client.workflow.getHandle(workflowIdOf(id)).result()),
      )
      assert.deepEqual(
        outputs,
        ids.map((id) => [{}, id]),
      )
      const keys = (await readFile(effects, 'utf8')).trim().split('\n')
      const once = new Set(keys)
      t.diagnostic(
        `${RUNS} runs, ${KILLS} kills: ${once.size} effects, asked for ${keys.length} times`,
      )
      assert.equal(once.size, RUNS * CALLS)
    } finally {
      await kill(worker)
    }
  },
)
