// A pool for queries only: read-only transactions whose statements are sent together, so that a page costs one round trip.
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type RawBuilder,
} from 'kysely'
import type { Pool, PoolClient, QueryResultRow } from 'pg'

import { nameOrg } from './name-org.ts'
import { type DatabaseOptions, openPool } from './open.ts'
import { inOneWrite, sentTogether } from './sent-together.ts'
import { toFault } from './sqlstate.ts'

/** Runs queries in one transaction, which sees one snapshot of the database. */
export interface SnapshotReader {
  ask<Row>(question: RawBuilder<Row>): Promise<Row[]>
  /** The second query depends on the result of the first; undefined: there is no second query. */
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

  /** For one organisation, with a pool whose role sees rows only that way (`inOrg`). */
  in(org: string): SnapshotReader {
    return this.#asking(org)
  }

  /** For a pool whose role sees all rows. */
  everywhere(): SnapshotReader {
    return this.#asking(undefined)
  }

  #asking(org: string | undefined): SnapshotReader {
    return {
      ask: (question) =>
        this.#with(async (client) => {
          const [opened, answer, committed] = inOneWrite(client, () => [
            client.query(opening(org)),
            send(client, question),
            client.query('commit'),
          ])
          await sentTogether([opened, answer, committed])
          return answer
        }),
      askOn: (question, next) =>
        this.#with(async (client) => {
          const [opened, first] = inOneWrite(client, () => [
            client.query(opening(org)),
            send(client, question),
          ])
          await sentTogether([opened, first])
          const more = next(await first)
          const [second, committed] = inOneWrite(client, () => [
            more ? send(client, more) : Promise.resolve([]),
            client.query('commit'),
          ])
          await sentTogether([second, committed])
          return [await first, await second]
        }),
    }
  }

  /** A connection whose transaction failed is not used again. */
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

/** Opens a pool for queries; it connects with the first query. */
export function openReader(options: DatabaseOptions): Reader {
  return new Reader(openPool(options, { pipeline: true }))
}

const opening = (org: string | undefined): string =>
  org === undefined ? BEGIN : `${BEGIN}; ${nameOrg(org)}`

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
