import type { Pool } from 'pg'

export interface PoolCount {
  readonly pool: string
  readonly busy: number
  readonly idle: number
  /** Requests that wait for a connection. */
  readonly waiting: number
}

/** The pools of one program, by name, so that they can be counted. */
export class Pools {
  readonly #all = new Map<string, Pool>()

  add(name: string, pool: Pool): void {
    this.#all.set(name, pool)
  }

  count(): readonly PoolCount[] {
    return [...this.#all].map(([pool, { totalCount, idleCount, waitingCount }]) => ({
      pool,
      busy: totalCount - idleCount,
      idle: idleCount,
      waiting: waitingCount,
    }))
  }
}
