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
  /** Takes every number that was committed here. */
  keep?(number: string): Promise<void>
}

interface Link {
  readonly stop: AbortController
  readonly host: HostApi
  readonly over: Promise<void>
  session: string
  /** A ping is on its way: a host that does not answer is not asked again and again. */
  asked: boolean
}

/** Follows this cell's share of the hosts, until the signal says otherwise. */
export async function followHosts(world: Followers, signal: AbortSignal): Promise<void> {
  const links = new Map<HostId, Link>()
  const answers = new Map<HostId, string>()
  let beat = 0
  let isNew = true
  while (!signal.aborted) {
    try {
      // A killed cell of the same name held them, or a backup says so: until a host was heard anew, nobody knows what it has.
      if (isNew) await releaseHosts(world.db, world.cell)
      isNew = false
      const { hosts, number } = await renewHosts(world.db, world.cell)
      await world.keep?.(number)
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
      await recordHighest(world.db, answers)
      answers.clear()
      if (beat % Math.ceil(PING_MS / BEAT_MS) === 0) pingAll(links, number, answers)
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
  return { stop, host, over, session: row.session, asked: false }
}

/**
 * Each ping brings a committed number and takes back the highest that is on the host's disk. Nobody
 * waits for the slowest: what has been answered is written down at the next beat.
 */
function pingAll(
  links: ReadonlyMap<HostId, Link>,
  number: string,
  answers: Map<HostId, string>,
): void {
  for (const [id, link] of links) {
    if (link.asked) continue
    link.asked = true
    link.host
      .ping(link.session, number)
      .then(
        ({ highest }) => answers.set(id, highest),
        // Whoever follows it notices the silence.
        () => undefined,
      )
      .finally(() => (link.asked = false))
  }
}
