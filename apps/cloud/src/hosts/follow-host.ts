import { Fault, retryableKinds } from '@skerry/fault'
import { isDistrust, type Hello, type HostApi, type SessionLine } from '@skerry/host-api'
import type { HostId, HostOverlay, TaskId, VmId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import { emitEvent } from '../database/events.ts'
import type { CloudTables } from '../database/tables.ts'
import { recordSeen, type VmObservation } from '../inventory/vms.ts'
import { dropPendingUndo, pendingUndosOf } from '../tasks/pending-undo.ts'
import {
  loseHost,
  nextSession,
  recordHello,
  recordListed,
  type Session,
  type HelloVerdict,
} from './hosts.ts'
import { OverlayJoiner } from './join-overlay.ts'

export interface FollowContext {
  readonly db: Kysely<CloudTables>
  readonly cell: string
  readonly signal: AbortSignal
  readonly log: (message: string, cause?: unknown) => void
  /** Waits; returns early when following stops. */
  pause(ms: number): Promise<void>
  /** Called whenever the host has sent something. */
  heard?(): void
  /** Called when either side rejects the other's certificate. */
  distrusted?(why: string): void
}

const unwelcome: Readonly<Record<Exclude<HelloVerdict, 'welcome'>, string>> = {
  replaced: 'replaced by a newer session',
  quarantined: 'the host is in quarantine: an operator has to decide',
  recovering: 'the cloud is recovering from a restore: skerry admin recovery info',
}

/** A host of an older version says nothing of it. */
const overlayOf = ({ overlay }: Partial<Pick<Hello, 'overlay'>>): HostOverlay =>
  overlay ?? { state: 'none', uplinks: [] }

const AGAIN_MS = 1000
/** Observations are written in batches: a host that lists a thousand VMs costs a few statements. */
const BATCH = 200

/** Follows one host, session after session, while this cell has its lease. */
export async function followHost(
  context: FollowContext,
  id: HostId,
  first: Session,
  host: HostApi,
): Promise<void> {
  const { db, cell, signal, log } = context
  let session: Session | undefined = first
  let isSeen = true
  while (!signal.aborted && session) {
    // A session without a hello has not begun and is used again: a host that is off costs no statement.
    let isBegun = false
    try {
      await oneSession(context, id, session, host, () => (isSeen = isBegun = true))
    } catch (error) {
      if (!signal.aborted) log(`host ${id}: ${(error as Error).message}`)
      if (isDistrust(error)) context.distrusted?.(error.message)
    }
    if (isSeen) {
      await loseHost(db, id, session.session).then(
        () => (isSeen = false),
        () => undefined,
      )
    }
    await context.pause(AGAIN_MS)
    if (signal.aborted) return
    if (isBegun) session = await nextSession(db, id, cell).catch(() => session)
  }
}

async function oneSession(
  context: FollowContext,
  id: HostId,
  begun: Session,
  host: HostApi,
  heard: () => void,
): Promise<void> {
  const { db, signal } = context
  const { session } = begun
  let sights: VmObservation[] = []
  const write = async () => {
    const written = sights
    sights = []
    await recordSeen(db, id, written)
  }
  const listed = new Set<VmId>()
  let listing = true
  let greeted = false
  let undone: ReadonlySet<VmId> = new Set()
  const overlay = new OverlayJoiner(context, { id, session }, host)
  const over = new AbortController()
  const following = host.follow(session, AbortSignal.any([signal, over.signal]))
  for await (const lines of together(following, BATCH, over)) {
    context.heard?.()
    for (const line of lines) {
      if (!greeted && line.kind !== 'hello') {
        throw new Error('the first line of the session is not a hello; upgrade vmd on this host')
      }
      if (line.kind === 'hello') {
        greeted = true
        heard()
        const welcome = await recordHello(db, id, begun, line.hello)
        if (welcome !== 'welcome') throw new Error(unwelcome[welcome])
        undone = await executePendingUndos(db, id, host, signal)
        await overlay.reported(overlayOf(line.hello))
      } else if (line.kind === 'vm') {
        if (listing) listed.add(line.id)
        const { id: vmId, seq, vm, stopped } = line
        if (vm) sights.push({ id: vmId, session, seq, vm, ...(stopped && { stopped }) })
      } else if (line.kind === 'listEnd') {
        await write()
        // The list may have been made before the pending undos were executed.
        const left = [...listed].filter((vm) => !undone.has(vm))
        await recordListed(db, id, session, await orphansAmong(db, id, left))
        listing = false
      } else if (line.kind === 'overlay') {
        await overlay.reported(line.overlay)
      } else {
        overlay.look()
      }
    }
    await write()
  }
}

/** Executes, before anything else, the undos that are pending at this host. Returns the VMs concerned. */
export async function executePendingUndos(
  db: Kysely<CloudTables>,
  id: HostId,
  host: HostApi,
  signal: AbortSignal,
): Promise<ReadonlySet<VmId>> {
  const undone = new Set<VmId>()
  for (const pending of await pendingUndosOf(db, id)) {
    const { vm, incarnation, fence } = pending
    const task = `undo-${pending.task}` as TaskId
    const order = { vm, task, key: `${task}:${fence}`, fencingToken: fence, incarnation }
    try {
      const { session, seq, vm: seen } = await host.step(order, pending.goal, signal)
      // The list may be older than this observation.
      if (seen) await recordSeen(db, id, [{ id: vm, session, seq, vm: seen }])
    } catch (error) {
      // A host that rejects an undo will always reject it; it must not stay closed because of that.
      if (!isRefused(error)) throw error
      const { kind: fault, message } = error
      await emitEvent(db, {
        kind: 'undo.refused',
        host: id,
        details: { vm, goal: pending.goal, fault, message },
      })
    }
    await dropPendingUndo(db, pending)
    undone.add(vm)
  }
  return undone
}

const isRefused = (error: unknown): error is Fault =>
  error instanceof Fault && !retryableKinds.has(error.kind) && error.kind !== 'stale'

/** Longer than any host needs to make its list. */
const LISTED_WITHIN = '5 min'

/**
 * Orphans: VMs that are on this host but not placed there. They are reported to operators and never touched. A VM that is being
 * deleted, or was deleted a moment ago, is no orphan: it may have been listed before its deletion.
 */
async function orphansAmong(
  db: Kysely<CloudTables>,
  id: HostId,
  listed: readonly VmId[],
): Promise<readonly VmId[]> {
  if (listed.length === 0) return []
  const known = await db
    .selectFrom('vm')
    .select('id')
    .where(sql<boolean>`id = any(${listed}::uuid[])`)
    .where(
      sql<boolean>`((host = ${id} and deleted_at is null) or (closed
        and coalesce(deleted_at > clock_timestamp() - ${sql.lit(LISTED_WITHIN)}::interval, true)))`,
    )
    .execute()
  const mine = new Set(known.map((vm) => vm.id))
  return listed.filter((vm) => !mine.has(vm))
}

/** Yields all lines that have arrived so far as one batch; waits only for the first. */
async function* together(
  source: AsyncIterable<SessionLine>,
  limit: number,
  over: AbortController,
): AsyncIterable<SessionLine[]> {
  const iterator = source[Symbol.asyncIterator]()
  let next = iterator.next()
  try {
    for (;;) {
      const lines: SessionLine[] = []
      const first = await next
      if (first.done) return
      lines.push(first.value)
      next = iterator.next()
      while (lines.length < limit) {
        const soon = await Promise.race([next, nextTurn()])
        if (soon === undefined || soon.done) break
        lines.push(soon.value)
        next = iterator.next()
      }
      yield lines
    }
  } finally {
    // On an early exit a line is still awaited: the signal ends it, and its result is ignored.
    over.abort()
    next.catch(() => undefined)
    await iterator.return?.()
  }
}

const nextTurn = (): Promise<undefined> =>
  new Promise((resolve) => {
    setImmediate(() => resolve(undefined))
  })
