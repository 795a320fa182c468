import { Fault } from '@skerry/fault'
import {
  connectHost,
  sharing,
  type ConnectedHost,
  type HostApi,
  type HostRecord,
  type SessionLine,
} from '@skerry/host-api'
import type { HostId } from '@skerry/vm'
import type { Kysely } from 'kysely'

import type { CloudTables } from '../database/tables.ts'
import { findHost, type HostRow } from './hosts.ts'

export interface Identity {
  readonly key: string
  readonly cert: string
  readonly ca: string
}

interface Open {
  readonly where: string
  /** The client certificate of this link. */
  readonly cert: string
  readonly api: ConnectedHost
  /** Links with earlier certificates that still have requests in progress. */
  readonly retired: readonly ConnectedHost[]
}

/**
 * This cell's links to hosts: one per host, addressed by its row, opened on demand. The certificate is renewed at run time:
 * new requests use the new one, requests in progress keep the one they started with.
 */
export class HostLinks implements Disposable {
  readonly #db: Kysely<CloudTables>
  readonly #identity: () => Identity
  readonly #open = new Map<HostId, Open>()
  /** Hosts that this cell has left to other cells. */
  readonly #avoided = new Set<HostId>()
  #shared: ReturnType<typeof sharing> | undefined

  constructor(db: Kysely<CloudTables>, identity: () => Identity) {
    this.#db = db
    this.#identity = identity
  }

  /** The host of this row, at the address in the row. */
  of({ id, address, port, state }: HostRow): HostApi {
    if (state !== 'joined') {
      this.close(id)
      throw new Fault('unavailable', `host ${id} is ${state}: it accepts no requests`)
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

  /** One TLS context for all links: one per link would take most of the memory of a cell with many hosts. */
  #tls(): Identity {
    const { key, cert, ca } = this.#identity()
    const known = this.#shared
    if (known?.key === key && known.cert === cert && known.ca === ca) return known as Identity
    return (this.#shared = sharing({ key, cert, ca })) as Identity
  }

  /** A host by its id alone; its row is read again for every request. */
  at(id: HostId): HostApi {
    return findingEachTime(async () => {
      if (this.#avoided.has(id)) {
        throw new Fault(
          'unavailable',
          `this cell cannot reach host ${id}; another cell may reach it`,
        )
      }
      return this.of(await this.#find(id))
    })
  }

  /** Ends the requests in progress at this host and makes new ones fail at once, so that another cell is tried. */
  avoid(id: HostId): void {
    this.#avoided.add(id)
    this.close(id)
  }

  /** Called when the host sent a line or answered a ping. */
  reached(id: HostId): void {
    this.#avoided.delete(id)
  }

  /** A host that is followed: each session reads its row again, but the many pings of a session do not. */
  following(first: HostRow): HostApi {
    let row = first
    const api = findingEachTime(async () => {
      row = await this.#find(first.id)
      return this.of(row)
    })
    return { ...api, ping: async (...requested) => this.of(row).ping(...requested) }
  }

  async #find(id: HostId): Promise<HostRow> {
    const row = await findHost(this.#db, id)
    if (!row) throw new Fault('unavailable', `host not found: ${id}`)
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

/** Retires a link after a certificate renewal. Returns the retired links that are still in use. */
function retire({ api, retired }: Open): readonly ConnectedHost[] {
  api.retire()
  const all = [...retired, api]
  for (const each of all) if (!each.isUsed) each[Symbol.dispose]()
  return all.filter((each) => each.isUsed)
}

/** A host whose link is looked up for every request. */
const findingEachTime = (find: () => Promise<HostApi>): HostApi => ({
  step: async (...requested) => (await find()).step(...requested),
  stop: async (...requested) => (await find()).stop(...requested),
  ping: async (...requested) => (await find()).ping(...requested),
  arm: async (...requested) => (await find()).arm(...requested),
  open: async (...requested) => (await find()).open(...requested),
  takeScreenshot: async (...requested) => (await find()).takeScreenshot(...requested),
  readUsage: async (...requested) => (await find()).readUsage(...requested),
  joinOverlay: async (...requested) => (await find()).joinOverlay(...requested),
  async *follow(session, signal): AsyncIterable<SessionLine> {
    yield* (await find()).follow(session, signal)
  },
  async *records(signal): AsyncIterable<HostRecord> {
    yield* (await find()).records(signal)
  },
})
