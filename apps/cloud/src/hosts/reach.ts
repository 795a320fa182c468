import { Fault } from '@skerry/fault'
import { isDistrust, type HostApi } from '@skerry/host-api'
import type { HostId } from '@skerry/vm'
import type { Kysely } from 'kysely'

import type { CloudTables } from '../database/tables.ts'
import { hostsHeardByOthers, hostsToTryAgain, recordTried } from './host-leases.ts'
import type { HostRow } from './hosts.ts'

const EVERY_MS = 5000
const ANSWER_MS = 5000
/** How many hosts of other cells are pinged by a cell that hears none. */
const SAMPLE = 3

export interface ReachContext {
  readonly db: Kysely<CloudTables>
  readonly cell: string
  readonly log: (message: string, cause?: unknown) => void
  connect(host: HostRow): HostApi
  pause(ms: number, signal: AbortSignal): Promise<void>
  /** Whether any host was heard recently. */
  hears(): boolean
  /** Receives whether this cell reaches a host that other cells hear. */
  reaches(ok: boolean): void
  trusts(host: HostId, why?: string): void
  /** Called with a host that answered. */
  reached?(host: HostId): void
}

/**
 * Pings hosts that this cell does not follow: those that it stands back from, shortly before that period ends, and some of
 * other cells' hosts while it hears none at all. Failures are retried until the signal is aborted.
 */
export async function keepTrying(context: ReachContext, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await tryOnce(context).catch((error: unknown) =>
      context.log('cannot ping hosts of other cells', error),
    )
    await context.pause(EVERY_MS, signal)
  }
}

async function tryOnce(context: ReachContext): Promise<void> {
  const { db, cell } = context
  const again = (await hostsToTryAgain(db, cell)).map(async (row) =>
    recordTried(db, cell, row.id, await doesAnswer(context, row)),
  )
  await Promise.all([...again, lookAround(context)])
}

async function lookAround(context: ReachContext): Promise<void> {
  if (context.hears()) return context.reaches(true)
  const heard = await hostsHeardByOthers(context.db, context.cell, SAMPLE)
  const answered = await Promise.all(heard.map((row) => doesAnswer(context, row)))
  context.reaches(context.hears() || heard.length === 0 || answered.includes(true))
}

/** No session has the number 0, so a reachable host answers with `stale` and does nothing else. */
async function doesAnswer(context: ReachContext, row: HostRow): Promise<boolean> {
  const over = new AbortController()
  const late = context.pause(ANSWER_MS, over.signal).then(() => false)
  try {
    const requested = context.connect(row).ping('0', '0')
    const answered = await Promise.race([requested.then(() => true), late])
    if (answered) markAccepted(context, row.id)
    return answered
  } catch (error) {
    const answered = error instanceof Fault && error.kind === 'stale'
    if (answered) markAccepted(context, row.id)
    else if (isDistrust(error)) context.trusts(row.id, error.message)
    return answered
  } finally {
    over.abort()
  }
}

function markAccepted(context: ReachContext, host: HostId): void {
  context.trusts(host)
  context.reached?.(host)
}
