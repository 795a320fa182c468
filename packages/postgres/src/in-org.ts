// The tenants' pool, which can only be used for a named organisation.
import { type Kysely, sql, type Transaction } from 'kysely'

import { type DatabaseOptions, openDatabase } from './open.ts'

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
      // True: the setting ends with the transaction. A plain SET would stay for the next user of this connection.
      await sql`select set_config('app.org', ${org}, true)`.execute(tx)
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
  return new TenantPool(openDatabase<DB>(options))
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
