import type { HostApi } from '@skerry/host-api'
import type { HostId } from '@skerry/vm'
import type { Kysely } from 'kysely'

import type { CloudTables } from '../database/tables.ts'
import { followHost } from './follow-host.ts'
import { releaseHosts, renewHosts, type CellReport } from './host-leases.ts'
import { recordHighest, type HostRow } from './hosts.ts'
import { keepTrying } from './reach.ts'

const BEAT_MS = 2000
const PING_MS = 5000
/** A host that has been silent for this long is left to other cells: longer than a host may be silent in a session. */
const SILENT_MS = 20_000

export interface Followers {
  readonly db: Kysely<CloudTables>
  readonly cell: string
  readonly log: (message: string, cause?: unknown) => void
  connect(host: HostRow): HostApi
  pause(ms: number, signal: AbortSignal): Promise<void>
  /** Receives every fencing token that this cell has committed. */
  keep?(fencingToken: string): Promise<void>
  /** The cell's own health; default: fit. */
  readonly fitness?: FollowerFitness
  /** What administrators can read about this cell; default: nothing. */
  report?(): CellReport
  /** Milliseconds of a monotonic clock; default: the process's. */
  now?(): number
  /** Called with a host that this cell has let go: its requests in progress there end. */
  letGo?(host: HostId): void
  /** Called with a host that sent a line or answered a ping. */
  reached?(host: HostId): void
}

export interface FollowerFitness {
  readonly isFit: boolean
  reaches(ok: boolean): void
  trusts(host: HostId, why?: string): void
  /** Receives at each heartbeat whether this cell should take work. */
  works?(works: boolean): void
}

interface Link {
  readonly stop: AbortController
  readonly host: HostApi
  readonly over: Promise<void>
  session: string
  /** A ping is in flight: a host that does not answer gets no further pings. */
  requested: boolean
  /** When it last sent something, or was taken. */
  heardAt: number
  hasHeard: boolean
}

/** Follows this cell's share of the hosts until the signal is aborted. */
export async function followHosts(context: Followers, signal: AbortSignal): Promise<void> {
  const links = new Map<HostId, Link>()
  const answers = new Map<HostId, string>()
  let beat = 0
  let isNew = true
  const now = () => context.now?.() ?? performance.now()
  const isSilent = ({ heardAt }: Link) => now() - heardAt >= SILENT_MS
  const { fitness } = context
  const trying = keepTrying(
    {
      ...context,
      hears: () => [...links.values()].some((link) => link.hasHeard && !isSilent(link)),
      reaches: (ok) => fitness?.reaches(ok),
      trusts: (host, why) => fitness?.trusts(host, why),
    },
    signal,
  )
  while (!signal.aborted) {
    try {
      // A killed cell of the same name held them, or a restored backup says so: until a host is heard again, its state is unknown.
      if (isNew) await releaseHosts(context.db, context.cell)
      isNew = false
      const silent = new Set([...links].filter(([, link]) => isSilent(link)).map(([id]) => id))
      const report = context.report?.()
      const beatNow = { cell: context.cell, fit: fitness?.isFit ?? true, silent, report }
      const { hosts, fencingToken, works, letGo } = await renewHosts(context.db, beatNow)
      fitness?.works?.(works)
      await context.keep?.(fencingToken)
      keepOnly(links, new Set(hosts.map(({ id }) => id)))
      for (const id of letGo) {
        context.log(
          `host ${id} has been silent for ${SILENT_MS / 1000} s: another cell may follow it`,
        )
        context.letGo?.(id)
      }
      for (const host of hosts) {
        const link = links.get(host.id)
        if (link) link.session = host.session
        else {
          const opened: Link = openLink(context, host, signal, now, () => {
            // Meanwhile the host may have been given back and taken again, with a link of its own.
            if (links.get(host.id) === opened) links.delete(host.id)
          })
          links.set(host.id, opened)
        }
      }
      await recordHighest(context.db, answers)
      answers.clear()
      if (beat % Math.ceil(PING_MS / BEAT_MS) === 0) pingAll(links, fencingToken, answers)
      beat += 1
    } catch (error) {
      // Without a lease this cell must not follow; the links end when another cell opens a session.
      context.log('cannot renew the leases of hosts', error)
    }
    await context.pause(BEAT_MS, signal)
  }
  for (const { stop } of links.values()) stop.abort()
  await Promise.all([...links.values()].map(({ over }) => over))
  await releaseHosts(context.db, context.cell).catch((error: unknown) =>
    context.log('cannot release the hosts; they become free when their leases expire', error),
  )
  // It may wait for a host's answer for seconds; the hosts are free by then.
  await trying
}

function keepOnly(links: Map<HostId, Link>, mine: ReadonlySet<HostId>): void {
  for (const [id, link] of links) {
    if (mine.has(id)) continue
    link.stop.abort()
    links.delete(id)
  }
}

function openLink(
  context: Followers,
  row: HostRow,
  signal: AbortSignal,
  now: () => number,
  ended: () => void,
): Link {
  const stop = new AbortController()
  const until = AbortSignal.any([signal, stop.signal])
  const host = context.connect(row)
  const link = { heardAt: now(), hasHeard: false }
  const following = {
    db: context.db,
    cell: context.cell,
    signal: until,
    log: context.log,
    pause: (ms: number) => context.pause(ms, until),
    heard: () => {
      link.heardAt = now()
      link.hasHeard = true
      context.reached?.(row.id)
      context.fitness?.trusts(row.id)
    },
    distrusted: (why: string) => context.fitness?.trusts(row.id, why),
  }
  const over = followHost(following, row.id, row, host)
    .catch((error: unknown) => context.log(`stopped following host ${row.id}`, error))
    .finally(ended)
  return Object.assign(link, { stop, host, over, session: row.session, requested: false })
}

/**
 * Each ping carries a committed fencing token and returns the highest token on the host's disk. It does not
 * wait for the slowest host: answers are written at the next heartbeat.
 */
function pingAll(
  links: ReadonlyMap<HostId, Link>,
  fencingToken: string,
  answers: Map<HostId, string>,
): void {
  for (const [id, link] of links) {
    if (link.requested) continue
    link.requested = true
    link.host
      .ping(link.session, fencingToken)
      .then(
        ({ highest }) => answers.set(id, highest),
        // The follower notices the silence.
        () => undefined,
      )
      .finally(() => (link.requested = false))
  }
}
