import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { activitySignal, runWorker, type RunningWorker } from '@skerry/temporal'
import type { HostId, TaskId } from '@skerry/vm'

import { retentionOf, type CloudConfig } from '../config.ts'
import { foldTally } from '../database/tally.ts'
import { followHosts } from '../hosts/follow-hosts.ts'
import type { CellReport } from '../hosts/host-leases.ts'
import type { HostRow } from '../hosts/hosts.ts'
import { recoverHosts } from '../hosts/recover-hosts.ts'
import { operations } from '../operations/vm-operations.ts'
import { reconcilers } from '../reconcile/reconcilers.ts'
import { ensureSchedules } from '../reconcile/schedules.ts'
import { noticeRestore } from '../recovery/recovery.ts'
import { TASK_QUEUE } from '../tasks/queue-waker.ts'
import { noteWaits } from '../tasks/waits.ts'
import { Activities, type ActivityRules } from '../worker/activities.ts'
import { sweep } from '../worker/sweep.ts'
import { TokenSeen } from '../worker/token-seen.ts'
import type { Backends } from './backends.ts'
import type { CellContext } from './cell-context.ts'
import type { Fitness } from './fitness.ts'

const SWEEP_MS = 2000
const FOLD_MS = 1000
/** How often a cell checks PostgreSQL and Temporal for its report. */
const LOOK_MS = 10_000
/** How many open tasks get their wait reason updated with each sweep; the rest comes with the next. */
const WAITS_AT_ONCE = 200
/** The schedules are checked again, because Temporal's database may be lost with all of them. */
const SCHEDULES_MS = 60_000
/** A rare job that failed is retried sooner: a backend that was unreachable may be back. */
const SOON_MS = 5000
const CLAIMS = { perHost: 20, perOrg: 200 } as const
const WORKFLOWS = new URL('../durable/workflows.ts', import.meta.url).pathname

const pause = (ms: number, until: AbortSignal) =>
  sleep(ms, undefined, { signal: until }).catch(() => undefined)

interface WorkOptions
  extends Pick<CellContext, 'log' | 'seal' | 'fitness'>, Pick<ActivityRules, 'began'> {
  /** Updates the conditions of the report. */
  readonly look: () => Promise<void>
  readonly report: () => CellReport
}

/** Carries out operations, repeats lost wake-ups, follows this cell's share of the hosts. */
export function startWork(
  config: CloudConfig,
  { db, temporal, temporalOptions, links, waker, wake, useWorker }: Backends,
  { log, seal, fitness, began, look, report }: WorkOptions,
): AsyncDisposable {
  const stopping = new AbortController()
  const { signal } = stopping
  const context = { db, wake, seal, hosts: (id: Parameters<typeof links.at>[0]) => links.at(id) }
  const running = () => ({ signal: activitySignal() })
  const rules = { ...(config.claims ?? CLAIMS), ...(began && { began }) }
  const verbs = new Activities(context, operations, rules, running)
  const { claimTask, runStep, undoStep, turnBack, endTask } = verbs
  const seen = new TokenSeen(join(config.identity, `seen-${config.cell}`))
  const known = compareSeenToken(db, seen, log, (ms) => pause(ms, signal), signal)
  const worker = runWorker({
    ...temporalOptions,
    taskQueue: TASK_QUEUE,
    identity: config.cell,
    workflows: { path: WORKFLOWS },
    activities: waitingFor(known, {
      claimTask,
      runStep,
      undoStep,
      turnBack,
      endTask,
      ...reconcilers(context, running, retentionOf(config)),
    }),
    // Whether this cell should take work is known at its first heartbeat.
    say: log,
    paused: true,
  })
  useWorker(worker)
  const again = (everyMs: number, work: () => Promise<unknown>) =>
    repeat(everyMs, work, { log, signal })
  const unnoticed = (error: unknown) =>
    log('cannot store the fencing token; this cell may miss a restore of the database', error)
  let looked: TaskId | undefined
  const ask = (row: HostRow) => links.of(row)
  const loops = [
    again(SWEEP_MS, () => sweep(db, waker)),
    again(SWEEP_MS, async () => (looked = await noteWaits(db, looked, WAITS_AT_ONCE))),
    again(SWEEP_MS, () => recoverHosts({ db, cell: config.cell, log, connect: ask }, signal)),
    again(FOLD_MS, () => foldTally(db)),
    again(LOOK_MS, look),
    again(SCHEDULES_MS, () => ensureSchedules(temporal)),
    fitness.watch((ms) => pause(ms, signal), signal),
    followHosts(
      {
        db,
        cell: config.cell,
        log,
        pause,
        fitness: workerSwitch(fitness, worker),
        report,
        letGo: (host) => links.avoid(host),
        reached: (host) => links.reached(host),
        connect: (row) => links.following(row),
        // Storing a token before the last one was compared would hide a restore.
        keep: (number) => known.then(() => seen.keep(number)).catch(unnoticed),
      },
      signal,
    ),
  ]
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort()
      await Promise.allSettled([...loops, worker.stop()])
    },
  }
}

/** A cell that should take no work pauses its worker too. */
const workerSwitch = (fitness: Fitness, worker: Pick<RunningWorker, 'pause' | 'resume'>) => ({
  get isFit() {
    return fitness.isFit
  },
  reaches: (ok: boolean) => fitness.reaches(ok),
  trusts: (host: HostId, why?: string) => fitness.trusts(host, why),
  works: (works: boolean) => (works ? worker.resume() : worker.pause()),
})

/** Compares the token that this cell has seen with the database. Resolves when that is done, or when the cell stops. */
async function compareSeenToken(
  db: Backends['db'],
  seen: TokenSeen,
  log: (message: string, cause?: unknown) => void,
  pause: (ms: number) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const number = await seen.read()
      if (number !== undefined && (await noticeRestore(db, number))) {
        log('the database was restored from a backup: skerry admin recovery info')
      }
      return
    } catch (error) {
      log('cannot check whether the database was restored; no task starts until then', error)
      await pause(SOON_MS)
    }
  }
}

type Activity = (...given: never[]) => Promise<unknown>

/** The same verbs; each waits for `known` before it starts. */
function waitingFor(
  known: Promise<void>,
  verbs: Readonly<Record<string, Activity>>,
): Record<string, Activity> {
  const waits = Object.entries(verbs).map(([name, verb]) => {
    const waiting: Activity = async (...given) => {
      await known
      return verb(...given)
    }
    return [name, waiting] as const
  })
  return Object.fromEntries(waits)
}

/** Repeats a job until it is stopped; sooner after a failure. */
async function repeat(
  everyMs: number,
  work: () => Promise<unknown>,
  { log, signal }: Pick<CellContext, 'log'> & { readonly signal: AbortSignal },
): Promise<void> {
  while (!signal.aborted) {
    let restMs = everyMs
    await work().catch((error: unknown) => {
      log('periodic job failed', error)
      restMs = Math.min(everyMs, SOON_MS)
    })
    await pause(restMs, signal)
  }
}
