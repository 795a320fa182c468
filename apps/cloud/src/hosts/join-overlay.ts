import { isIP } from 'node:net'

import type { HostApi } from '@skerry/host-api'
import type { HostId, HostOverlay } from '@skerry/vm'
import type { Kysely } from 'kysely'

import { emitEvent } from '../database/events.ts'
import type { CloudTables } from '../database/tables.ts'

/** A session of a cell with a host. The one that follows it next opens another. */
interface HostSession {
  readonly id: HostId
  readonly session: string
}

/**
 * Stores whether VMs of the host can have cards on networks across hosts, with an event when that changes. What a session reports that
 * was replaced is not stored: it may be older.
 */
export async function recordOverlay(
  db: Kysely<CloudTables>,
  { id, session }: HostSession,
  { state, reason, uplinks }: HostOverlay,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const before = await tx
      .selectFrom('host')
      .select(['overlay', 'overlay_reason', 'uplinks'])
      .where('id', '=', id)
      .where('session', '=', session)
      .forNoKeyUpdate()
      .executeTakeFirst()
    const after = { overlay: state, overlay_reason: reason ?? null, uplinks: [...uplinks] }
    if (!before || JSON.stringify(before) === JSON.stringify(after)) return
    await tx.updateTable('host').set(after).where('id', '=', id).execute()
    if (before.overlay === state) return
    const details = { state, ...(reason !== undefined && { why: reason }) }
    await emitEvent(tx, { kind: 'host.overlay', host: id, details })
  })
}

interface ZoneOfHost {
  readonly remote: string | null
  readonly opened: string
  readonly mtu: number
  readonly address: string
}

const zoneOf = (db: Kysely<CloudTables>, id: HostId): Promise<ZoneOfHost | undefined> =>
  db
    .selectFrom('host')
    .innerJoin('network_zone', 'network_zone.id', 'host.zone')
    .select(['network_zone.remote', 'network_zone.opened', 'network_zone.mtu', 'host.address'])
    .where('host.id', '=', id)
    .executeTakeFirst()

/** Sends the address of its zone's databases to a host with Open vSwitch: when its session begins, and when the address changes. */
export class OverlayJoiner {
  readonly #db: Kysely<CloudTables>
  readonly #id: HostId
  readonly #session: string
  readonly #host: Pick<HostApi, 'joinOverlay'>
  readonly #log: (message: string) => void
  #has = false
  #joined = ''
  #joining = false

  constructor(
    { db, log }: { readonly db: Kysely<CloudTables>; readonly log: (message: string) => void },
    { id, session }: HostSession,
    host: Pick<HostApi, 'joinOverlay'>,
  ) {
    this.#db = db
    this.#id = id
    this.#session = session
    this.#host = host
    this.#log = log
  }

  async reported(overlay: HostOverlay): Promise<void> {
    this.#has = overlay.state !== 'none'
    await recordOverlay(this.#db, { id: this.#id, session: this.#session }, overlay)
    this.look()
  }

  /** Returns at once: a host that answers late must not delay its session. What fails is tried again at the next look. */
  look(): void {
    if (!this.#has || this.#joining) return
    this.#joining = true
    this.#join()
      .catch((error: unknown) => {
        this.#log(`host ${this.#id} did not join its zone: ${(error as Error).message}`)
      })
      .finally(() => (this.#joining = false))
  }

  async #join(): Promise<void> {
    const zone = await zoneOf(this.#db, this.#id)
    if (!zone || zone.remote === null || zone.opened === '0') return
    const { remote, opened: fencingToken, mtu, address: tunnelAddress } = zone
    const wanted = JSON.stringify([remote, fencingToken, mtu, tunnelAddress])
    if (wanted === this.#joined) return
    if (isIP(tunnelAddress) === 0) {
      throw new Error(`tunnels need its address, and the cloud knows it as ${tunnelAddress}`)
    }
    await this.#host.joinOverlay({ fencingToken, remote, systemId: this.#id, tunnelAddress, mtu })
    await this.#db
      .updateTable('host')
      .set({ tunnel_address: tunnelAddress })
      .where('id', '=', this.#id)
      .where('session', '=', this.#session)
      .execute()
    this.#joined = wanted
  }
}
