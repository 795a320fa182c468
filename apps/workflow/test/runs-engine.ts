// The backends of runs, each to be killed: a durable PostgreSQL, Temporal on it, and a worker in a separate process.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { startPostgres, startTemporal, type Postgres, type Temporal } from '@skerry/lab'
import { bundleWorkflows, connectTemporal, type TemporalClient } from '@skerry/temporal'

import { testConverter as dataConverter, WORKFLOWS } from './test-key.ts'

export interface RunsEngine extends AsyncDisposable {
  readonly temporal: TemporalClient
  readonly queue: string
  readonly server: Temporal
  readonly postgres: Postgres
  /** The file in which the worker records each key that took effect. */
  readonly effects: string
  readonly workerPid: number
  /** SIGKILL, and restart. */
  kill(victim: 'worker' | 'temporal' | 'postgres'): Promise<void>
}

const QUEUE = 'runs'

export async function startRunsEngine(dir: string): Promise<RunsEngine> {
  await using stack = new AsyncDisposableStack()
  const postgres = stack.use(await startPostgres(join(dir, 'postgres'), { durable: true }))
  const server = stack.use(await startTemporal(join(dir, 'temporal'), postgres))
  const temporal = stack.use(
    connectTemporal({ address: server.address, namespace: server.namespace, dataConverter }),
  )
  const bundle = join(dir, 'bundle.js')
  await writeFile(bundle, await bundleWorkflows(WORKFLOWS, dataConverter))
  const effects = join(dir, 'effects')
  await writeFile(effects, '')
  const { address, namespace } = server
  const startWorker = async (): Promise<ChildProcess> => {
    const program = `${import.meta.dirname}/run-process.ts`
    const args = [program, address, namespace, QUEUE, bundle, effects]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(child.stdout, 'data')
    return child
  }
  let worker = await startWorker()
  const killWorker = async () => {
    worker.kill('SIGKILL')
    if (worker.exitCode === null && worker.signalCode === null) await once(worker, 'exit')
  }
  stack.defer(killWorker)
  const all = stack.move()
  return {
    temporal,
    server,
    postgres,
    effects,
    queue: QUEUE,
    get workerPid() {
      return worker.pid ?? 0
    },
    async kill(victim) {
      if (victim === 'worker') {
        await killWorker()
        worker = await startWorker()
      } else if (victim === 'temporal') {
        await server.kill9()
        await server.restart()
      } else {
        await postgres.kill9()
        await postgres.restart()
        // Temporal stops by itself when its database is unavailable for long; that is not required here.
        if (!server.isRunning) await server.start()
      }
    },
    [Symbol.asyncDispose]: async () => all.disposeAsync(),
  }
}
