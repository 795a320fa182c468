import { Fault } from '@skerry/fault'
import { ConnectionLost } from '@skerry/ovsdb'
import type { Clock } from '@skerry/service'

import { reportCorrections } from '../database/changes.ts'
import { nightAfter } from './night.ts'
import { CHANGES_MAX, projectAll, projectChanges, type ProjectionContext } from './project-units.ts'
import type { WakeUp } from './wake-up.ts'

/** Looked at without a notification: one may be lost. */
const LOOK_MS = 2_000
/** Everything is compared: what someone changed in OVN's database by hand is put back. */
const FULL_PASS_MS = 10 * 60 * 1000

export interface ChangeContext<DB> extends ProjectionContext<DB> {
  readonly changed: WakeUp
  /** Deletes the rows of hosts that were revoked or declared lost. */
  readonly forgetHosts: () => Promise<void>
  /** The same, if one has left since the last call. */
  readonly forgetLeft: () => Promise<void>
  /** Called after each full pass with the units that could not be projected. */
  readonly compared: (failed: ReadonlySet<string>) => void
  /** Rewrites OVN's databases without their history. */
  readonly compact: () => Promise<void>
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number
  readonly clock: Clock
}

/**
 * Projects changes until the signal is aborted. While PostgreSQL is away nothing changes. Throws a Fault `stale` if a newer server has
 * the zone, and `ConnectionLost` if OVN's database is lost.
 */
export async function followChanges<DB>(
  context: ChangeContext<DB>,
  signal: AbortSignal,
): Promise<void> {
  const { changed, forgetHosts, forgetLeft, compared, compact, now, clock, log } = context
  let nextFull = now() + FULL_PASS_MS
  let night = nightAfter(clock.now())
  while (!signal.aborted) {
    try {
      await forgetLeft()
      let pass = await projectChanges(context)
      while (pass.changes === CHANGES_MAX && !signal.aborted) pass = await projectChanges(context)
      if (now() >= nextFull) {
        const { corrected, failed } = await projectAll(context)
        compared(failed)
        if (corrected.length > 0) {
          log(
            `the projection differed: ${corrected.length} units such as ${corrected[0]} were corrected`,
          )
          await reportCorrections(context.database, context.held, corrected)
        }
        await forgetHosts()
        nextFull = now() + FULL_PASS_MS
      }
      if (clock.now() >= night) {
        night = nightAfter(clock.now())
        await compact()
      }
    } catch (error) {
      if (error instanceof ConnectionLost) throw error
      if (error instanceof Fault && error.kind === 'stale') throw error
      log('changes cannot be projected now', error)
    }
    await changed.sleep(LOOK_MS, signal)
  }
}
