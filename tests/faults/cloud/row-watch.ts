// Reads the tasks repeatedly: one that has ended stays so, and none goes back.
import { setTimeout as sleep } from 'node:timers/promises'

import { sql, type Kysely } from 'kysely'

import type { CloudTables } from '../../../apps/cloud/src/database/tables.ts'

const LOOK_MS = 250

interface Row {
  readonly id: string
  readonly state: string
  readonly progress: number
}

const ended = new Set(['success', 'error', 'canceled'])

export class RowWatch implements AsyncDisposable {
  readonly wrong: string[] = []
  readonly #db: Kysely<CloudTables>
  readonly #seen = new Map<string, Row>()
  readonly #over = new AbortController()
  readonly #running: Promise<void>

  constructor(db: Kysely<CloudTables>) {
    this.#db = db
    this.#running = this.#run()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    while (!this.#over.signal.aborted) {
      const { rows } = await sql<Row>`select id, state, progress from task`
        .execute(this.#db)
        .catch(() => ({ rows: [] }))
      for (const row of rows) this.#compare(row)
      await sleep(LOOK_MS, undefined, { signal: this.#over.signal }).catch(() => undefined)
    }
  }

  #compare(row: Row): void {
    const before = this.#seen.get(row.id)
    this.#seen.set(row.id, row)
    if (!before) return
    if (ended.has(before.state) && before.state !== row.state) {
      this.wrong.push(`task ${row.id} was ${before.state} and is ${row.state}`)
    }
    if (row.progress < before.progress) {
      this.wrong.push(`task ${row.id} went back from ${before.progress} to ${row.progress}`)
    }
    if (before.state === 'running' && row.state === 'queued') {
      this.wrong.push(`task ${row.id} ran and waits again`)
    }
  }
}
