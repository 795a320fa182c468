// A real Temporal server of a test's or a lab's own, on loopback, that keeps its things in a PostgreSQL of the lab.
import { existsSync, realpathSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import {
  temporalDatabases,
  temporalDynamicSettings,
  temporalPorts,
  temporalSettings,
} from '@skerry/site'
import type { Connection } from '@temporalio/client'

import { findEngines, lastWords, startDaemon } from './daemon.ts'
import { inNetworkNamed } from './netns.ts'
import { freePorts } from './ports.ts'
import type { Postgres } from './postgres.ts'
import { killAndWait } from './processes.ts'
import { run } from './run.ts'
import { temporalPrograms, type TemporalPrograms } from './temporal-build.ts'
import { until } from './wait.ts'

const START_TIMEOUT_MS = 90_000
/** Right for a test. */
const SHARDS = 4
/** gRPC's number for it. */
const ALREADY_EXISTS = 6
/** How long ended runs are kept. The type wants a 64-bit number of a library's own; a plain one does. */
const DAY = { seconds: 86_400 as never }

export interface TemporalOptions {
  /** Registered at the first start; `skerry` unless told. */
  readonly namespace?: string
  /** Whether it goes on when this program ends; otherwise it dies with it. */
  readonly outlives?: boolean
  /** The first of its temporalPorts at its first start; free ones unless told. */
  readonly port?: number
  /** The named network on whose loopback it listens, as its PostgreSQL does. Its address must be seen from ours too. */
  readonly netns?: string
}

export interface Temporal extends AsyncDisposable {
  readonly dir: string
  readonly address: string
  readonly namespace: string
  /** The server's pid now. */
  readonly pid: number
  readonly log: string
  readonly isRunning: boolean
  kill9(): Promise<void>
  /** Starts it where it does not run; answers when it takes calls. */
  start(): Promise<void>
  /** Starts it on the same ports, killing it first when it runs; answers when it takes calls. */
  restart(): Promise<void>
  /** Kills it, drops its databases and starts it on empty ones: no namespace, no run, no schedule is left, and none is made. */
  dropDatabase(): Promise<void>
}

/** Starts a Temporal server that keeps its settings in a directory; one that runs there already is taken as it is. */
export async function startTemporal(
  directory: string,
  postgres: Postgres,
  options: TemporalOptions = {},
): Promise<Temporal> {
  const programs = await temporalPrograms()
  await mkdir(directory, { recursive: true })
  const dir = realpathSync(directory)
  const saved = join(dir, 'port')
  if (!existsSync(saved)) {
    await writeFile(saved, String(options.port ?? (await freePorts(temporalPorts))))
  }
  const port = Number(await readFile(saved, 'utf8'))
  const server = new Server(dir, port, postgres, programs, options)
  if (!existsSync(join(dir, 'schema.done'))) await server.makeTables()
  await server.start()
  await server.register()
  return server
}

class Server implements Temporal {
  readonly dir: string
  readonly address: string
  readonly namespace: string
  readonly log: string
  readonly #port: number
  readonly #postgres: Postgres
  readonly #programs: TemporalPrograms
  readonly #outlives: boolean
  readonly #netns: string | undefined

  constructor(
    dir: string,
    port: number,
    postgres: Postgres,
    programs: TemporalPrograms,
    { namespace = 'skerry', outlives = false, netns }: TemporalOptions,
  ) {
    this.dir = dir
    this.address = `127.0.0.1:${port}`
    this.namespace = namespace
    this.log = join(dir, 'temporal.log')
    this.#port = port
    this.#postgres = postgres
    this.#programs = programs
    this.#outlives = outlives
    this.#netns = netns
  }

  get isRunning(): boolean {
    return this.#running().length > 0
  }

  get pid(): number {
    const [pid] = this.#running()
    if (pid === undefined) throw new Error(`no Temporal runs in ${this.dir}: restart it first`)
    return pid
  }

  async makeTables(): Promise<void> {
    const way = ['--ep', '127.0.0.1', '-p', String(this.#postgres.port), '-u', 'postgres']
    const tool = [this.#programs.sql, ...way, '--pw', 'any', '--pl', 'postgres12']
    const make = async (schema: string, database: string) => {
      const sql = (...words: string[]) =>
        run(inNetworkNamed(this.#netns, [...tool, '--db', database, ...words]))
      await sql('create')
      await sql('setup-schema', '-v', '0.0')
      await sql('update-schema', '--schema-name', `postgresql/v12/${schema}`)
    }
    for (const [schema, name] of Object.entries(temporalDatabases)) await make(schema, name)
    await writeFile(join(this.dir, 'schema.done'), '')
  }

  async start(): Promise<void> {
    if (this.#running().length === 0) {
      const dynamic = join(this.dir, 'dynamic.yaml')
      const postgres = { port: this.#postgres.port, password: 'any' }
      const config = temporalSettings({ port: this.#port, postgres, dynamic, shards: SHARDS })
      await writeFile(dynamic, temporalDynamicSettings)
      await writeFile(join(this.dir, 'temporal.yaml'), config)
      startDaemon({
        dir: this.dir,
        log: this.log,
        command: [
          this.#programs.server,
          ...['--config-file', join(this.dir, 'temporal.yaml'), '--allow-no-auth', 'start'],
        ],
        outlives: this.#outlives,
        ...(this.#netns !== undefined && { netns: this.#netns }),
      })
    }
    await this.#call('should take calls', (connection) =>
      connection.workflowService.getSystemInfo({}),
    )
  }

  async register(): Promise<void> {
    await this.#call(`should register ${this.namespace}`, async ({ workflowService }) => {
      const { namespace } = this
      await workflowService
        .registerNamespace({ namespace, workflowExecutionRetentionPeriod: DAY })
        .catch((error: unknown) => {
          if ((error as { code?: number }).code !== ALREADY_EXISTS) throw error
        })
      // Registered is not yet usable: the services read their list of namespaces once a second.
      await workflowService.listWorkflowExecutions({ namespace, pageSize: 1 })
    })
  }

  async kill9(): Promise<void> {
    await killAndWait(this.#running())
  }

  async restart(): Promise<void> {
    await this.kill9()
    await this.start()
  }

  async dropDatabase(): Promise<void> {
    await this.kill9()
    for (const name of Object.values(temporalDatabases)) {
      await this.#postgres.psql(`drop database if exists ${name} with (force)`)
    }
    await this.makeTables()
    await this.start()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill9()
  }

  #running(): number[] {
    return findEngines((dir) => dir === this.dir)
  }

  /** Calls until it succeeds. The client is loaded only here: most who use the lab never need it. */
  async #call(what: string, ask: (connection: Connection) => Promise<unknown>): Promise<void> {
    const client = await import('@temporalio/client')
    const attemptOnce = async () => {
      if (this.#running().length === 0) {
        throw new Error(`Temporal ended in ${this.dir}: ${await lastWords(this.log)}`)
      }
      // A new connection for each attempt: one that failed waits longer and longer before it tries again.
      const connection = client.Connection.lazy({ address: this.address, interceptors: [] })
      try {
        const within = AbortSignal.timeout(5_000)
        await connection.withAbortSignal(within, () => ask(connection))
        return true
      } catch {
        return false
      } finally {
        await connection.close()
      }
    }
    await until(`Temporal in ${this.dir} ${what}; see ${this.log}`, attemptOnce, START_TIMEOUT_MS)
  }
}
