// A real Temporal server for a test or a lab, on loopback, with its data in a PostgreSQL of the lab.
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import {
  temporalCertificates,
  temporalDatabases,
  temporalDynamicSettings,
  temporalPorts,
  temporalSettings,
} from '@skerry/site'
import type { Connection, TLSConfig } from '@temporalio/client'

import { freePorts } from '../network/ports.ts'
import type { Postgres } from '../postgres/postgres.ts'
import { findEngines, lastWords, startDaemon } from '../servers/daemon.ts'
import { killAndWait } from '../system/processes.ts'
import { SLOW_POLL_MS, until } from '../system/wait.ts'
import { temporalPrograms, type TemporalPrograms } from './temporal-build.ts'
import { makeTables } from './temporal-tables.ts'

const START_TIMEOUT_MS = 180_000
/** Suitable for a test. */
const SHARDS = 4
/** The gRPC status code for it. */
const ALREADY_EXISTS = 6
/** The retention of ended runs. The type requires a 64-bit number of a library; a plain number works. */
const DAY = { seconds: 86_400 as never }

export interface TemporalOptions {
  /** Registered at the first start. Default: `skerry`. */
  readonly namespace?: string
  /** Whether it keeps running when this program ends; otherwise it dies with it. */
  readonly outlives?: boolean
  /** The first of its temporalPorts at its first start. Default: free ones. */
  readonly port?: number
  /** The named network on whose loopback it listens, like its PostgreSQL. Its address must be reachable from ours too. */
  readonly netns?: string
  /** The directory of the certificates that `skerry admin temporal-server create` issued. Default: plain calls, for tests of single parts. */
  readonly certificates?: string
}

export interface Temporal extends AsyncDisposable {
  readonly dir: string
  readonly address: string
  readonly namespace: string
  /** The client credentials of its callers; absent if calls are plain. */
  readonly tls?: TLSConfig
  /** The server's current pid. */
  readonly pid: number
  readonly log: string
  readonly isRunning: boolean
  kill9(): Promise<void>
  /** Starts it if it does not run; returns when it accepts calls. */
  start(): Promise<void>
  /** Starts it on the same ports, kills it first if it runs; returns when it accepts calls. */
  restart(): Promise<void>
  /** Kills it, drops its databases and starts it on empty ones: without namespaces, runs and schedules. */
  dropDatabase(): Promise<void>
}

/** Starts a Temporal server that keeps its settings in a directory; one that runs there already is reused. */
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
    const port = options.port ?? (await freePorts(temporalPorts))
    await writeFile(saved, String(port), { mode: 0o600 })
  }
  const port = Number(await readFile(saved, 'utf8'))
  const server = new Server(dir, port, postgres, programs, options)
  if (!existsSync(join(dir, 'schema.done'))) await server.makeTables()
  await server.start()
  await server.register()
  return server
}

/** The server's own certificate: valid for calls between its services, and for clients too. */
function tlsIn(directory: string): TLSConfig {
  const read = (file: string) => readFileSync(join(directory, file))
  const { certificate, key, clients } = temporalCertificates
  return {
    serverNameOverride: 'temporal.skerry',
    serverRootCACertificate: read(clients),
    clientCertPair: { crt: read(certificate), key: read(key) },
  }
}

class Server implements Temporal {
  readonly dir: string
  readonly address: string
  readonly namespace: string
  readonly log: string
  readonly tls?: TLSConfig
  readonly #certificates: string | undefined
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
    { namespace = 'skerry', outlives = false, netns, certificates }: TemporalOptions,
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
    this.#certificates = certificates
    if (certificates !== undefined) this.tls = tlsIn(certificates)
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
    await makeTables(this.#postgres, this.#netns)
    await writeFile(join(this.dir, 'schema.done'), '', { mode: 0o600 })
  }

  async start(): Promise<void> {
    if (this.#running().length === 0) {
      const dynamic = join(this.dir, 'dynamic.yaml')
      const postgres = { port: this.#postgres.port, password: 'any' }
      const certificates = this.#certificates
      const place = { port: this.#port, postgres, dynamic, shards: SHARDS }
      const config = temporalSettings({
        ...place,
        ...(certificates !== undefined && { certificates }),
      })
      const settings = temporalDynamicSettings(certificates !== undefined)
      await writeFile(dynamic, settings, { mode: 0o600 })
      await writeFile(join(this.dir, 'temporal.yaml'), config, { mode: 0o600 })
      startDaemon({
        dir: this.dir,
        log: this.log,
        command: [
          this.#programs.server,
          '--config-file',
          join(this.dir, 'temporal.yaml'),
          '--allow-no-auth',
          'start',
        ],
        outlives: this.#outlives,
        ...(this.#netns !== undefined && { netns: this.#netns }),
      })
    }
    await this.#call('should accept calls', (connection) =>
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
      // Registered is not usable yet: the services reload their list of namespaces once a second.
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

  /** Calls until it succeeds. The client is loaded only here: most users of the lab never need it. */
  async #call(what: string, ask: (connection: Connection) => Promise<unknown>): Promise<void> {
    const client = await import('@temporalio/client')
    const attemptOnce = async () => {
      if (this.#running().length === 0) {
        throw new Error(`Temporal ended in ${this.dir}: ${await lastWords(this.log)}`)
      }
      // A new connection for each attempt: a failed one backs off before it tries again.
      const connection = client.Connection.lazy({
        address: this.address,
        interceptors: [],
        ...(this.tls && { tls: this.tls }),
      })
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
    await until(
      `Temporal in ${this.dir} ${what}; see ${this.log}`,
      attemptOnce,
      START_TIMEOUT_MS,
      SLOW_POLL_MS,
    )
  }
}
