// A pool for questions only: read-only transactions whose statements are sent together, so that a page costs one way to the database.
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type RawBuilder,
} from 'kysely'
import type { Pool, PoolClient, QueryResultRow } from 'pg'

import { type DatabaseOptions, openPool } from './open.ts'
import { toFault } from './sqlstate.ts'

/** Asks in one transaction, which sees one state of the database. */
export interface Asking {
  ask<Row>(question: RawBuilder<Row>): Promise<Row[]>
  /** The second question depends on the answer to the first; undefined: there is nothing more to ask. */
  askOn<First, Second>(
    question: RawBuilder<First>,
    next: (rows: First[]) => RawBuilder<Second> | undefined,
  ): Promise<[First[], Second[]]>
}

const BEGIN = 'begin isolation level repeatable read read only'

export class Reader implements AsyncDisposable {
  readonly #pool: Pool

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /** As one organisation, for a pool whose role sees a row only so (`inOrg`). */
  in(org: string): Asking {
    return this.#asking(org)
  }

  /** For a pool whose role sees everything. */
  everywhere(): Asking {
    return this.#asking(undefined)
  }

  #asking(org: string | undefined): Asking {
    return {
      ask: (question) =>
        this.#with(async (client) => {
          const opened = begin(client, org)
          const answer = send(client, question)
          await allOf([...opened, answer, client.query('commit')])
          return answer
        }),
      askOn: (question, next) =>
        this.#with(async (client) => {
          const opened = begin(client, org)
          const first = send(client, question)
          await allOf([...opened, first])
          const more = next(await first)
          const second = more ? send(client, more) : Promise.resolve([])
          await allOf([second, client.query('commit')])
          return [await first, await second]
        }),
    }
  }

  /** A connection in whose transaction something went wrong is not given to anybody else. */
  async #with<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect().catch((error: unknown) => {
      throw toFault(error)
    })
    try {
      const answer = await work(client)
      client.release()
      return answer
    } catch (error) {
      client.release(true)
      throw toFault(error)
    }
  }

  async destroy(): Promise<void> {
    await this.#pool.end()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.destroy()
  }
}

/** Opens a pool for questions; nothing is connected before the first. */
export function openReader(options: DatabaseOptions): Reader {
  return new Reader(openPool(options, { pipeline: true }))
}

/** True: it ends with the transaction, as in `inOrg`. */
const begin = (client: PoolClient, org: string | undefined): Promise<unknown>[] => [
  client.query(BEGIN),
  ...(org === undefined ? [] : [client.query("select set_config('app.org', $1, true)", [org])]),
]

async function send<Row>(client: PoolClient, question: RawBuilder<Row>): Promise<Row[]> {
  const { sql: text, parameters } = question.compile(writer)
  const { rows } = await client.query<QueryResultRow>(text, [...parameters])
  return rows as Row[]
}

/** Turns SQL into text and parameters; it has no connection. */
const writer = new Kysely<never>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
})

/** What was sent together also fails together: nobody is left waiting for an answer that nobody reads. */
async function allOf(sent: readonly Promise<unknown>[]): Promise<void> {
  for (const each of await Promise.allSettled(sent)) {
    if (each.status === 'rejected') throw each.reason
  }
}
