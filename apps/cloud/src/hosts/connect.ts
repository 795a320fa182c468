import { Fault } from '@skerry/fault'
import { connectHost, type HostApi, type HostRecord, type Told } from '@skerry/host-api'
import type { HostId } from '@skerry/vm'
import type { Kysely } from 'kysely'

import type { Database } from '../store/database.ts'
import { findHost, type HostRow } from '../store/hosts.ts'

export interface Identity {
  readonly key: string
  readonly cert: string
  readonly ca: string
}

interface Open {
  readonly where: string
  readonly api: HostApi & Disposable
}

/** This cell's links to hosts: one for each, found by its row, opened when it is needed. */
export class HostLinks implements Disposable {
  readonly #db: Kysely<Database>
  readonly #identity: () => Identity
  readonly #open = new Map<HostId, Open>()

  constructor(db: Kysely<Database>, identity: () => Identity) {
    this.#db = db
    this.#identity = identity
  }

  /** The host of this row, wherever its row says that it is now. */
  of({ id, address, port, state }: HostRow): HostApi {
    if (state !== 'joined') {
      this.close(id)
      throw new Fault('unavailable', `host ${id} is ${state}: nothing is sent to it`)
    }
    const where = `${address}:${port}`
    const known = this.#open.get(id)
    if (known?.where === where) return known.api
    known?.api[Symbol.dispose]()
    const api = connectHost({ address, port, tls: this.#identity(), hostId: id })
    this.#open.set(id, { where, api })
    return api
  }

  /** A host by its id alone; its row is read again for every question. */
  at(id: HostId): HostApi {
    const find = async (): Promise<HostApi> => {
      const row = await findHost(this.#db, id)
      if (!row) throw new Fault('unavailable', `there is no host ${id} any more`)
      return this.of(row)
    }
    return {
      step: async (...asked) => (await find()).step(...asked),
      stop: async (...asked) => (await find()).stop(...asked),
      ping: async (...asked) => (await find()).ping(...asked),
      arm: async (...asked) => (await find()).arm(...asked),
      open: async (...asked) => (await find()).open(...asked),
      async *follow(session, signal): AsyncIterable<Told> {
        yield* (await find()).follow(session, signal)
      },
      async *records(signal): AsyncIterable<HostRecord> {
        yield* (await find()).records(signal)
      },
    }
  }

  close(id: HostId): void {
    this.#open.get(id)?.api[Symbol.dispose]()
    this.#open.delete(id)
  }

  /** From now on with another certificate. */
  [Symbol.dispose](): void {
    for (const id of this.#open.keys()) this.close(id)
  }
}
