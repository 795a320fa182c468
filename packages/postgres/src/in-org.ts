// The tenants' pool, which can only be used for a named organisation.
import { type Kysely, sql, type Transaction } from 'kysely'
import type { PoolClient } from 'pg'

import { NAME_ORG, nameOrg } from './name-org.ts'
import { type DatabaseOptions, openPool, overPool } from './open.ts'
import { inOneWrite, sentTogether } from './sent-together.ts'

/** A pool that is only accessible through `inOrg`. Its role sees only the rows of the organisation that the transaction names. */
export class TenantPool<DB> implements AsyncDisposable {
  readonly #db: Kysely<DB>

  constructor(db: Kysely<DB>) {
    this.#db = db
  }

  static async enter<DB, T>(
    pool: TenantPool<DB>,
    org: string,
    work: (tx: Transaction<DB>) => Promise<T>,
  ): Promise<T> {
    return pool.#db.transaction().execute(async (tx) => {
      await sql.raw(nameOrg(org)).execute(tx)
      return work(tx)
    })
  }

  async destroy(): Promise<void> {
    await this.#db.destroy()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.destroy()
  }
}

export function openTenants<DB>(options: DatabaseOptions): TenantPool<DB> {
  const pool = openPool(options, { pipeline: true })
  pool.on('connect', sendOpeningLater)
  return new TenantPool(overPool<DB>(pool))
}

/**
 * Acts for one organisation in one transaction: policies compare with `nullif(current_setting('app.org', true), '')::uuid`.
 * Nothing of it remains in the connection afterwards.
 */
export async function inOrg<DB, T>(
  pool: TenantPool<DB>,
  org: string,
  work: (tx: Transaction<DB>) => Promise<T>,
): Promise<T> {
  return TenantPool.enter(pool, org, work)
}

const BEGIN = 'begin'

/**
 * Sends `begin` and the name of the organisation with the first statement of the transaction: one write and one round trip instead of
 * three. Should they fail, that statement sees no organisation, so row-level security shows and accepts nothing; and it fails too.
 * Functions that run as their owner are not under row-level security: without an organisation some accept rows of any, so a transaction
 * must not begin with one. They are called with ids that the same transaction has read.
 */
function sendOpeningLater(client: PoolClient): void {
  const send = client.query.bind(client) as (...args: unknown[]) => Promise<unknown>
  let opening: string | undefined
  const query = async (text: string, ...values: unknown[]): Promise<unknown> => {
    if (text === BEGIN || (opening === BEGIN && text.startsWith(NAME_ORG))) {
      opening = opening === undefined ? text : `${opening}; ${text}`
      return { rows: [] }
    }
    if (opening === undefined) return send(text, ...values)
    const first = opening
    opening = undefined
    // A transaction without statements.
    if (text === 'commit' || text === 'rollback') return { rows: [] }
    const sent = inOneWrite(client, () => [send(first), send(text, ...values)] as const)
    await sentTogether(sent)
    return sent[1]
  }
  Object.assign(client, { query })
}
