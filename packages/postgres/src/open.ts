// Pools that survive a restart of the database: a dead connection is dropped, the next request gets a new one.
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

import type { Pools } from './pools.ts'
import { hasOldPlan, toFault } from './sqlstate.ts'
import { StatementNames } from './statement-names.ts'

export interface DatabaseOptions {
  /** postgres://user@host:port/database */
  readonly url: string
  /** Maximum number of connections; default: 10. */
  readonly size?: number
  /** The application_name of the connections. */
  readonly applicationName: string
  /** Statement timeout; default: 10 s. */
  readonly statementTimeoutMs?: number
  /** How long to wait for a new or released connection; default: 3 s. */
  readonly connectTimeoutMs?: number
  /** Where and under which name the pool is counted. */
  readonly counted?: { readonly in: Pools; readonly as: string }
}

// An event reader sees nothing after the oldest open transaction, so none may be idle for long.
const IDLE_IN_TRANSACTION_MS = 10_000
/** Extra time after the statement timeout before a connection without a response counts as dead. */
const GRACE_MS = 2_000

/**
 * Opens a pool. It connects with the first query, so the database may be unreachable; queries then fail with a Fault
 * `unavailable`. `destroy` waits for running queries and closes all connections.
 */
export function openDatabase<DB>(options: DatabaseOptions): Kysely<DB> {
  return overPool(openPool(options))
}

export const overPool = <DB>(pool: Pool): Kysely<DB> =>
  new Kysely<DB>({ dialect: new Translated(pool) })

/** `pipeline`: statements are sent without waiting for the result of the one before. */
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
  // The pool drops an idle connection that dies. Without a listener the error would end the process.
  pool.on('error', () => undefined)
  options.counted?.in.add(options.counted.as, pool)
  const names = new StatementNames()
  // A connection that dies in use fails the current query, or the next.
  pool.on('connect', (client) => {
    client.on('error', () => undefined)
    watchQueries(client, names, statementTimeoutMs + GRACE_MS)
  })
  return pool
}

/**
 * Names statements, so that the database parses and plans each once per connection. Breaks a connection whose query gets no
 * response, because the database's own timeout does not fire when it hangs; and one whose plans are for an older schema.
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

/** Translates every driver error here, so that callers do not depend on the driver. */
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

  /** The error that caused the rollback is more useful than one of the rollback. The driver drops a connection that cannot roll back. */
  override async rollbackTransaction(
    connection: Parameters<PostgresDriver['rollbackTransaction']>[0],
  ): Promise<void> {
    await super.rollbackTransaction(connection).catch(() => undefined)
  }
}
