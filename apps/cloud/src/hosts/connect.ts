import { Fault } from '@skerry/fault'
import {
  connectHost,
  sharing,
  type ConnectedHost,
  type HostApi,
  type HostRecord,
  type Told,
} from '@skerry/host-api'
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
  /** The certificate that it shows. */
  readonly cert: string
  readonly api: ConnectedHost
  /** Links with earlier certificates, by which something is still under way. */
  readonly retired: readonly ConnectedHost[]
}

/**
 * This cell's links to hosts: one for each, found by its row, opened when it is needed. The certificate is renewed while we
 * run: whatever is asked from then on shows the new one, what is under way goes on with the one it began with.
 */
export class HostLinks implements Disposable {
  readonly #db: Kysely<Database>
  readonly #identity: () => Identity
  readonly #open = new Map<HostId, Open>()
  #shared: ReturnType<typeof sharing> | undefined

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
    const tls = this.#tls()
    const known = this.#open.get(id)
    if (known?.where === where && known.cert === tls.cert) return known.api
    if (known && known.where !== where) this.close(id)
    const api = connectHost({ address, port, tls, hostId: id })
    const retired = known?.where === where ? retire(known) : []
    this.#open.set(id, { where, cert: tls.cert, api, retired })
    return api
  }

  /** Read once for all links: a context for each would be most of what a cell with many hosts keeps in memory. */
  #tls(): Identity {
    const { key, cert, ca } = this.#identity()
    const known = this.#shared
    if (known?.key === key && known.cert === cert && known.ca === ca) return known as Identity
    return (this.#shared = sharing({ key, cert, ca })) as Identity
  }

  /** A host by its id alone; its row is read again for every question. */
  at(id: HostId): HostApi {
    return findingEachTime(async () => this.of(await this.#find(id)))
  }

  /** A host that is followed: each session finds it anew, and the many pings of a session do not ask for its row. */
  following(first: HostRow): HostApi {
    let row = first
    const api = findingEachTime(async () => {
      row = await this.#find(first.id)
      return this.of(row)
    })
    return { ...api, ping: async (...asked) => this.of(row).ping(...asked) }
  }

  async #find(id: HostId): Promise<HostRow> {
    const row = await findHost(this.#db, id)
    if (!row) throw new Fault('unavailable', `there is no host ${id} any more`)
    return row
  }

  close(id: HostId): void {
    const { api, retired = [] } = this.#open.get(id) ?? {}
    for (const each of [api, ...retired]) each?.[Symbol.dispose]()
    this.#open.delete(id)
  }

  [Symbol.dispose](): void {
    for (const id of this.#open.keys()) this.close(id)
  }
}

/** A link whose certificate is no longer shown: those of its kind that somebody still uses. */
function retire({ api, retired }: Open): readonly ConnectedHost[] {
  api.retire()
  const all = [...retired, api]
  for (const each of all) if (!each.isUsed) each[Symbol.dispose]()
  return all.filter((each) => each.isUsed)
}

/** A host whose link is looked for at every question. */
const findingEachTime = (find: () => Promise<HostApi>): HostApi => ({
  step: async (...asked) => (await find()).step(...asked),
  stop: async (...asked) => (await find()).stop(...asked),
  ping: async (...asked) => (await find()).ping(...asked),
  arm: async (...asked) => (await find()).arm(...asked),
  open: async (...asked) => (await find()).open(...asked),
  takeScreenshot: async (...asked) => (await find()).takeScreenshot(...asked),
  async *follow(session, signal): AsyncIterable<Told> {
    yield* (await find()).follow(session, signal)
  },
  async *records(signal): AsyncIterable<HostRecord> {
    yield* (await find()).records(signal)
  },
})
