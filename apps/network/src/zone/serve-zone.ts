// Holds a zone when no other server does, and keeps its projection current. A server that loses the zone lets its databases live:
// hosts go on with what was true until they hear of a newer server.
import { Fault } from '@skerry/fault'
import { ConnectionLost } from '@skerry/ovsdb'
import type { Clock } from '@skerry/service'

import {
  holdZone,
  keepLease,
  openZone,
  releaseZone,
  type HeldZone,
  type LeaseContext,
} from '../database/lease.ts'
import { followChanges } from './follow-changes.ts'
import { projectAll } from './project-units.ts'
import { fillProjection, type Projection, type ZoneContext } from './projection.ts'
import type { WakeUp } from './wake-up.ts'

export interface ServedZone<DB> extends ZoneContext<DB>, LeaseContext<DB> {
  readonly zone: string
  /** The address of the projection for hosts, such as ssl:192.0.2.1:6642. */
  readonly remote: string
  readonly changed: WakeUp
  readonly clock: Clock
  /** What this server does now, for its health. `open`: it holds the zone, and hosts can connect. */
  readonly state: (ok: boolean, message: string, open?: boolean) => void
}

const RETRY_MS = 1_000
/** After a term that failed, longer each time: another server that waits for the zone looks every second and takes it. */
const FAILED_MS = 3_000
const FAILED_MAX_MS = 30_000

export async function serveZone<DB>(context: ServedZone<DB>, stop: AbortSignal): Promise<void> {
  const { state, pause, log } = context
  let projection: Projection | undefined
  let last: HeldZone | undefined
  let reported = ''
  let failedMs = FAILED_MS
  const report = (error: unknown) => {
    const message = error instanceof Error ? error.message : String(error)
    // It tries again and again; the same reason is logged once.
    if (message !== reported) log('the zone cannot be served now', error)
    reported = message
    state(false, message)
  }
  const dispose = async () => {
    await projection?.[Symbol.asyncDispose]()
    projection = undefined
  }
  while (!stop.aborted) {
    let waitMs = RETRY_MS
    try {
      const held = await holdZone(context, context.zone)
      if (held) {
        last = held
        projection = await useProjection(context, held, projection, stop)
      } else state(true, 'another network server holds the zone; this one waits')
    } catch (error) {
      if (error instanceof Ended) {
        projection = error.projection
        if (error.isBroken) await dispose()
        if (last && !stop.aborted) await release(context, last)
        waitMs = error.wasOpen ? FAILED_MS : failedMs
        failedMs = Math.min(waitMs * 2, FAILED_MAX_MS)
      }
      if (!stop.aborted) report(error instanceof Ended ? error.cause : error)
    }
    await pause(waitMs, stop)
  }
  await dispose()
  if (last) await release(context, last)
}

/** If the database is away, the lease ends by itself. */
async function release<DB>({ database }: ServedZone<DB>, held: HeldZone): Promise<void> {
  await releaseZone(database, held).catch(() => undefined)
}

/** A term ended by an error, with the projection that is left. */
class Ended extends Error {
  readonly projection: Projection | undefined
  readonly isBroken: boolean
  /** Hosts were served in it. */
  readonly wasOpen: boolean

  constructor(projection: Projection | undefined, cause: unknown, wasOpen: boolean) {
    super('the term ended', { cause })
    this.projection = projection
    this.wasOpen = wasOpen
    this.isBroken = cause instanceof ConnectionLost || (projection?.isBroken ?? false)
  }
}

/** Serves the zone until the lease is lost or the server stops. Returns the projection that is left. */
async function useProjection<DB>(
  context: ServedZone<DB>,
  held: HeldZone,
  earlier: Projection | undefined,
  stop: AbortSignal,
): Promise<Projection | undefined> {
  const { log } = context
  const over = new AbortController()
  const signal = AbortSignal.any([over.signal, stop])
  const leased = keepLease(context, held, signal).then(() => over.abort())
  let current = earlier
  let wasOpen = false
  try {
    const projection = await currentProjection(context, held, earlier, signal)
    if (signal.aborted) {
      // Taken over before it was open: it has never served anyone.
      if (projection !== earlier) await projection[Symbol.asyncDispose]()
      return current
    }
    if (earlier !== undefined && projection !== earlier) {
      // Both listen on the same port. Guests do not notice the moment without a database.
      await earlier[Symbol.asyncDispose]()
    }
    current = projection
    if (!projection.isOpen) await projection.open()
    if (!(await openZone(context.database, held, context.remote))) {
      throw new Fault('stale', 'another network server holds the zone')
    }
    log(`the zone is open at ${context.remote} with token ${held.token}`)
    sayOpen(context, projection)
    wasOpen = true
    const failed = projection.engines.failed.then((fault) => Promise.reject(fault))
    const { engines, writer, forgetHosts, forgetLeft } = projection
    const compact = () => engines.compact()
    const compared = (lacking: ReadonlySet<string>) => {
      keepMissing(projection, lacking)
      sayOpen(context, projection)
    }
    const acts = { forgetHosts, forgetLeft, compared, compact }
    const following = followChanges({ ...context, ...acts, held, writer }, signal)
    await Promise.race([following, failed])
    return current
  } catch (error) {
    throw new Ended(current, error, wasOpen)
  } finally {
    over.abort()
    await leased
  }
}

/** Open, and not healthy while units have no rows at all: their guests have no network. */
function sayOpen<DB>({ state, remote }: ServedZone<DB>, { missing }: Projection): void {
  const [first] = missing
  const lacking = `without ${missing.size} units that failed, such as ${first}: see the log`
  const isWhole = missing.size === 0
  state(isWhole, `the zone is open at ${remote}${isWhole ? '' : `, ${lacking}`}`, true)
}

function keepMissing({ missing }: Projection, failed: ReadonlySet<string>): void {
  for (const unit of missing) if (!failed.has(unit)) missing.delete(unit)
}

/** The same token as before: the databases that are running are still the newest. */
async function currentProjection<DB>(
  context: ServedZone<DB>,
  held: HeldZone,
  earlier: Projection | undefined,
  signal: AbortSignal,
): Promise<Projection> {
  context.state(false, 'the projection is being filled')
  if (earlier?.held.token !== held.token) return fillProjection(context, held, signal)
  try {
    const { failed } = await projectAll({ ...context, held, writer: earlier.writer })
    keepMissing(earlier, failed)
  } catch (error) {
    if (error instanceof ConnectionLost) throw error
    // The pass is repeated while the zone is served.
    context.log('the projection cannot be compared now', error)
  }
  return earlier
}
