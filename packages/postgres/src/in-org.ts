// The tenants' pool, which nobody can use without saying for whom.
import { type Kysely, sql, type Transaction } from 'kysely'

import { type DatabaseOptions, openDatabase } from './open.ts'

/** A pool whose only way in is `inOrg`. Its role sees a row only as the organisation that the transaction names. */
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
      // True: it ends with the transaction. A plain SET would still hold for whoever gets this connection next.
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
 * Acts as one organisation, in one transaction: policies compare with `nullif(current_setting('app.org', true), '')::uuid`.
 * Nothing of it is left in the connection afterwards.
 */
export async function inOrg<DB, T>(
  pool: TenantPool<DB>,
  org: string,
  work: (tx: Transaction<DB>) => Promise<T>,
): Promise<T> {
  return TenantPool.enter(pool, org, work)
}
