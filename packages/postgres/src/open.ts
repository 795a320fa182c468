// Pools that outlive a restart of the database: a dead connection is dropped, the next request gets a new one.
import type { Socket } from 'node:net'

import {
  Kysely,
  PostgresAdapter,
  PostgresDriver,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely'
import type { DatabaseConnection, Dialect } from 'kysely'
import { Pool, type PoolClient } from 'pg'

import { hasOldPlan, toFault } from './sqlstate.ts'
import { StatementNames } from './statement-names.ts'

export interface DatabaseOptions {
  /** postgres://user@host:port/database */
  readonly url: string
  /** How many connections at most; 10 unless told. */
  readonly size?: number
  /** The name that PostgreSQL shows for our connections. */
  readonly applicationName: string
  /** How long a statement may take; 10 s unless told. */
  readonly statementTimeoutMs?: number
  /** How long to wait for a connection, a new one or one that others give back; 3 s unless told. */
  readonly connectTimeoutMs?: number
}

// An event reader sees nothing behind an open transaction, so none may rest for long.
const IDLE_IN_TRANSACTION_MS = 10_000
/** How much longer than the database itself we wait for its "too long" before we take the connection for dead. */
const GRACE_MS = 2_000

/**
 * Opens a pool. Nothing is connected before the first query, so the database may be away; queries then fail with a Fault
 * `unavailable`. `destroy` waits for what runs and closes all.
 */
export function openDatabase<DB>(options: DatabaseOptions): Kysely<DB> {
  return new Kysely<DB>({ dialect: new Translated(openPool(options)) })
}

/** `pipeline`: statements are sent as they come, without waiting for the answer to the one before. */
export function openPool(options: DatabaseOptions, { pipeline = false } = {}): Pool {
  const { statementTimeoutMs = 10_000 } = options
  const pool = new Pool({
    pipeline,
    connectionString: options.url,
    max: options.size ?? 10,
    application_name: options.applicationName,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 3_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 5_000,
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
  })
  // The pool drops a connection that dies while nobody uses it. Without a listener the error would end the process.
  pool.on('error', () => undefined)
  const names = new StatementNames()
  // One that dies in somebody's hands fails the query that runs, or the next.
  pool.on('connect', (client) => {
    client.on('error', () => undefined)
    watchQueries(client, names, statementTimeoutMs + GRACE_MS)
  })
  return pool
}

/**
 * Names statements, so that the database reads and plans each once per connection. Breaks a connection whose query gets no
 * answer at all, because the database's own time-out does not reach us when it hangs; and one whose plans are of older tables.
 */
function watchQueries(client: PoolClient, names: StatementNames, timeoutMs: number): void {
  const ask = client.query.bind(client) as (...args: unknown[]) => unknown
  const { connection } = client as unknown as { connection: { stream: Socket } }
  const query = (...args: unknown[]): unknown => {
    const answer = ask(...names.named(args))
    if (!(answer instanceof Promise)) return answer
    const timer = setTimeout(() => connection.stream.destroy(), timeoutMs)
    return answer
      .catch((error: unknown) => {
        if (hasOldPlan(error)) connection.stream.destroy()
        throw error
      })
      .finally(() => clearTimeout(timer))
  }
  Object.assign(client, { query })
}

class Translated implements Dialect {
  readonly #pool: Pool

  constructor(pool: Pool) {
    this.#pool = pool
  }

  createDriver(): TranslatingDriver {
    return new TranslatingDriver({ pool: this.#pool })
  }

  createAdapter(): PostgresAdapter {
    return new PostgresAdapter()
  }

  createQueryCompiler(): PostgresQueryCompiler {
    return new PostgresQueryCompiler()
  }

  createIntrospector(db: Kysely<unknown>): PostgresIntrospector {
    return new PostgresIntrospector(db)
  }
}

/** Every error on the way out is translated here, so nobody above sees which driver is below. */
class TranslatingDriver extends PostgresDriver {
  readonly #known = new WeakSet<DatabaseConnection>()

  override async acquireConnection(): Promise<DatabaseConnection> {
    const connection = await super.acquireConnection().catch((error: unknown) => {
      throw toFault(error)
    })
    if (this.#known.has(connection)) return connection
    this.#known.add(connection)
    const execute = connection.executeQuery.bind(connection)
    connection.executeQuery = (query, more) =>
      execute<never>(query, more).catch((error: unknown) => {
        throw toFault(error)
      })
    return connection
  }

  /** Whoever rolls back has an error already, which says more. A connection that cannot even do this is dropped by the driver. */
  override async rollbackTransaction(
    connection: Parameters<PostgresDriver['rollbackTransaction']>[0],
  ): Promise<void> {
    await super.rollbackTransaction(connection).catch(() => undefined)
  }
}
