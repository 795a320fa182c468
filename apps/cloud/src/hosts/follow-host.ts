import { Fault, passing } from '@skerry/fault'
import type { HostApi, Told } from '@skerry/host-api'
import type { HostId, TaskId, VmId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import type { Database } from '../store/database.ts'
import { debtsOf, forgive } from '../store/debts.ts'
import { tell } from '../store/events.ts'
import {
  loseHost,
  nextSession,
  recordHello,
  recordListed,
  type Session,
  type Welcome,
} from '../store/hosts.ts'
import { recordSeen, type Sight } from '../store/vms.ts'

export interface Following {
  readonly db: Kysely<Database>
  readonly cell: string
  readonly signal: AbortSignal
  readonly log: (message: string, cause?: unknown) => void
  /** Waits, or ends early when the following is given up. */
  pause(ms: number): Promise<void>
}

const unwelcome: Readonly<Record<Exclude<Welcome, 'welcome'>, string>> = {
  replaced: 'another session has taken the place of this one',
  quarantined: 'it is in quarantine: a person has to decide',
  recovering: 'the cloud recovers from a restore: skerry cloud recover --status',
}

const AGAIN_MS = 1000
/** Sights are written together: a host that lists a thousand VMs costs a few statements. */
const BATCH = 200

/** Follows one host, session after session, for as long as it is this cell's. */
export async function followHost(
  world: Following,
  id: HostId,
  first: Session,
  host: HostApi,
): Promise<void> {
  const { db, cell, signal, log } = world
  let session: Session | undefined = first
  let isSeen = true
  while (!signal.aborted && session) {
    // A session whose hello was never heard is still to begin: a host that is off costs no statement.
    let isBegun = false
    try {
      await oneSession(world, id, session, host, () => (isSeen = isBegun = true))
    } catch (error) {
      if (!signal.aborted) log(`host ${id}: ${(error as Error).message}`)
    }
    if (isSeen) {
      await loseHost(db, id, session.session).then(
        () => (isSeen = false),
        () => undefined,
      )
    }
    await world.pause(AGAIN_MS)
    if (signal.aborted) return
    if (isBegun) session = await nextSession(db, id, cell).catch(() => session)
  }
}

async function oneSession(
  { db, signal }: Following,
  id: HostId,
  begun: Session,
  host: HostApi,
  heard: () => void,
): Promise<void> {
  const { session } = begun
  let sights: Sight[] = []
  const write = async () => {
    const written = sights
    sights = []
    await recordSeen(db, id, written)
  }
  const listed = new Set<VmId>()
  let listing = true
  let paid: ReadonlySet<VmId> = new Set()
  const over = new AbortController()
  const following = host.follow(session, AbortSignal.any([signal, over.signal]))
  for await (const lines of together(following, BATCH, over)) {
    for (const told of lines) {
      if (told.is === 'hello') {
        heard()
        const welcome = await recordHello(db, id, begun, told.hello)
        if (welcome !== 'welcome') throw new Error(unwelcome[welcome])
        paid = await payDebts(db, id, host, signal)
      } else if (told.is === 'vm') {
        if (listing) listed.add(told.id)
        const { id: vmId, seq, vm, stopped } = told
        if (vm) sights.push({ id: vmId, session, seq, vm, ...(stopped && { stopped }) })
      } else if (told.is === 'listed') {
        await write()
        // The list may have been made before the debts were paid.
        const left = [...listed].filter((vm) => !paid.has(vm))
        await recordListed(db, id, session, await straysAmong(db, id, left))
        listing = false
      }
    }
    await write()
  }
}

/** Before anything else: what was left undone here while it was away. Answers with the VMs that it was owed for. */
export async function payDebts(
  db: Kysely<Database>,
  id: HostId,
  host: HostApi,
  signal: AbortSignal,
): Promise<ReadonlySet<VmId>> {
  const paid = new Set<VmId>()
  for (const debt of await debtsOf(db, id)) {
    const { vm, incarnation, number } = debt
    const task = `debt-${debt.task}` as TaskId
    const order = { vm, task, key: `${task}:${number}`, number, incarnation }
    try {
      const { session, seq, vm: seen } = await host.step(order, debt.goal, signal)
      // The list may have been made before: what the host says now is the newer.
      if (seen) await recordSeen(db, id, [{ id: vm, session, seq, vm: seen }])
    } catch (error) {
      // A host that says it cannot be done will say so for ever; it is not kept closed for that.
      if (!isRefused(error)) throw error
      const { kind: fault, message } = error
      await tell(db, {
        kind: 'debt.refused',
        host: id,
        what: { vm, goal: debt.goal, fault, message },
      })
    }
    await forgive(db, debt)
    paid.add(vm)
  }
  return paid
}

const isRefused = (error: unknown): error is Fault =>
  error instanceof Fault && !passing.has(error.kind) && error.kind !== 'stale'

/** Longer than the making of any list takes. */
const LISTED_WITHIN = '5 min'

/**
 * VMs that are there although they are not placed there: told to people, never touched. One that is being deleted, or was a
 * moment ago, may have been listed before it went.
 */
async function straysAmong(
  db: Kysely<Database>,
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

/** All that has come by now, as one; never waits for more than one. */
async function* together(
  source: AsyncIterable<Told>,
  limit: number,
  over: AbortController,
): AsyncIterable<Told[]> {
  const iterator = source[Symbol.asyncIterator]()
  let next = iterator.next()
  try {
    for (;;) {
      const lines: Told[] = []
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
    // Whoever leaves early leaves a line that is waited for: it ends by the signal, and nobody asks how.
    over.abort()
    next.catch(() => undefined)
    await iterator.return?.()
  }
}

const nextTurn = (): Promise<undefined> =>
  new Promise((resolve) => {
    setImmediate(() => resolve(undefined))
  })
