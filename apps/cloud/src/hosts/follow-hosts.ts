import type { HostApi } from '@skerry/host-api'
import type { HostId } from '@skerry/vm'
import type { Kysely } from 'kysely'

import type { Database } from '../store/database.ts'
import { recordHighest, releaseHosts, renewHosts, type HostRow } from '../store/hosts.ts'
import { followHost } from './follow-host.ts'

const BEAT_MS = 2000
const PING_MS = 5000

export interface Followers {
  readonly db: Kysely<Database>
  readonly cell: string
  readonly log: (message: string, cause?: unknown) => void
  connect(host: HostRow): HostApi
  pause(ms: number, signal: AbortSignal): Promise<void>
}

interface Link {
  readonly stop: AbortController
  readonly host: HostApi
  readonly over: Promise<void>
  session: string
}

/** Follows this cell's share of the hosts, until the signal says otherwise. */
export async function followHosts(world: Followers, signal: AbortSignal): Promise<void> {
  const links = new Map<HostId, Link>()
  let beat = 0
  while (!signal.aborted) {
    try {
      const { hosts, number } = await renewHosts(world.db, world.cell)
      keepOnly(links, new Set(hosts.map(({ id }) => id)))
      for (const host of hosts) {
        const link = links.get(host.id)
        if (link) link.session = host.session
        else
          links.set(
            host.id,
            openLink(world, host, signal, () => links.delete(host.id)),
          )
      }
      if (beat % Math.ceil(PING_MS / BEAT_MS) === 0) void pingAll(world, links, number)
      beat += 1
    } catch (error) {
      // Without a lease there is no right to follow; the links end when another cell opens a session.
      world.log('cannot renew the hosts', error)
    }
    await world.pause(BEAT_MS, signal)
  }
  for (const { stop } of links.values()) stop.abort()
  await Promise.all([...links.values()].map(({ over }) => over))
  await releaseHosts(world.db, world.cell).catch((error: unknown) =>
    world.log('the hosts are free only when their lease runs out', error),
  )
}

function keepOnly(links: Map<HostId, Link>, mine: ReadonlySet<HostId>): void {
  for (const [id, link] of links) {
    if (mine.has(id)) continue
    link.stop.abort()
    links.delete(id)
  }
}

function openLink(world: Followers, row: HostRow, signal: AbortSignal, ended: () => void): Link {
  const stop = new AbortController()
  const until = AbortSignal.any([signal, stop.signal])
  const host = world.connect(row)
  const following = {
    ...{ db: world.db, cell: world.cell, signal: until, log: world.log },
    pause: (ms: number) => world.pause(ms, until),
  }
  const over = followHost(following, row.id, row, host)
    .catch((error: unknown) => world.log(`host ${row.id} is not followed any more`, error))
    .finally(ended)
  return { stop, host, over, session: row.session }
}

/** Each ping brings a committed number and takes back the highest that is on the host's disk. */
async function pingAll(
  { db }: Followers,
  links: ReadonlyMap<HostId, Link>,
  number: string,
): Promise<void> {
  await Promise.allSettled(
    [...links].map(async ([id, { host, session }]) => {
      const { highest } = await host.ping(session, number)
      await recordHighest(db, id, highest)
    }),
  )
}
