import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { activitySignal, runWorker } from '@skerry/temporal'

import { TASK_QUEUE } from '../bell.ts'
import type { Given } from '../cell.ts'
import type { Config } from '../config.ts'
import type { Engines } from '../engines.ts'
import { followHosts } from '../hosts/follow-hosts.ts'
import { recoverHosts } from '../hosts/recover-hosts.ts'
import { operations } from '../operations.ts'
import { reconcilers } from '../reconcile/reconcilers.ts'
import { ensureSchedules } from '../reconcile/schedules.ts'
import type { HostRow } from '../store/hosts.ts'
import { noticeRestore } from '../store/recovery.ts'
import { foldTally } from '../store/tally.ts'
import { Activities } from './activities.ts'
import { NumberSeen } from './number-seen.ts'
import { sweep } from './sweep.ts'

const SWEEP_MS = 2000
const FOLD_MS = 1000
/** Temporal's database may be lost with all that was to be done again and again. */
const SCHEDULES_MS = 60_000
/** What is done rarely and failed is tried again sooner: an engine that was away may be back. */
const SOON_MS = 5000
const CLAIMS = { perHost: 20, perOrg: 200 } as const
const WORKFLOWS = new URL('../durable/workflows.ts', import.meta.url).pathname

/** Carries operations out, rings lost bells, follows this cell's share of the hosts. */
export function startWork(
  config: Config,
  { db, temporal, links, bell, ring, useWorker }: Engines,
  { log, seal }: Pick<Given, 'log' | 'seal'>,
): AsyncDisposable {
  const stopping = new AbortController()
  const { signal } = stopping
  const world = { db, ring, seal, hosts: (id: Parameters<typeof links.at>[0]) => links.at(id) }
  const running = () => ({ signal: activitySignal() })
  const verbs = new Activities(world, operations, config.claims ?? CLAIMS, running)
  const { claimTask, runStep, undoStep, turnBack, endTask } = verbs
  const seen = new NumberSeen(join(config.identity, `seen-${config.cell}`))
  const pause = (ms: number, until: AbortSignal) =>
    sleep(ms, undefined, { signal: until }).catch(() => undefined)
  const known = noticed(db, seen, log, (ms) => pause(ms, signal), signal)
  const worker = runWorker({
    ...config.temporal,
    taskQueue: TASK_QUEUE,
    identity: config.cell,
    workflows: { path: WORKFLOWS },
    activities: after(known, {
      ...{ claimTask, runStep, undoStep, turnBack, endTask },
      ...reconcilers(world, running),
    }),
    say: log,
  })
  useWorker(worker)
  const again = async (everyMs: number, work: () => Promise<unknown>): Promise<void> => {
    while (!signal.aborted) {
      let restMs = everyMs
      await work().catch((error: unknown) => {
        log('what is done again and again failed', error)
        restMs = Math.min(everyMs, SOON_MS)
      })
      await pause(restMs, signal)
    }
  }
  const ask = (row: HostRow) => links.of(row)
  const loops = [
    again(SWEEP_MS, () => sweep(db, bell)),
    again(SWEEP_MS, () => recoverHosts({ db, cell: config.cell, log, connect: ask }, signal)),
    again(FOLD_MS, () => foldTally(db)),
    again(SCHEDULES_MS, () => ensureSchedules(temporal)),
    followHosts(
      {
        ...{ db, cell: config.cell, log, pause },
        connect: (row) => links.following(row),
        // A number that was kept before the last one was compared would hide what it tells.
        keep: async (number) => {
          await known
          await seen
            .keep(number)
            .catch((error: unknown) => log('a restore may go unnoticed by this cell', error))
        },
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

/** Compares what this cell has seen with what the database knows. Answers when that is done, or when the cell stops. */
async function noticed(
  db: Engines['db'],
  seen: NumberSeen,
  log: (message: string, cause?: unknown) => void,
  pause: (ms: number) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const number = await seen.read()
      if (number !== undefined && (await noticeRestore(db, number))) {
        log('the database was restored from a backup: skerry cloud recover --status')
      }
      return
    } catch (error) {
      log('nothing is begun until it is known whether the database was restored', error)
      await pause(SOON_MS)
    }
  }
}

type Verb = (...given: never[]) => Promise<unknown>

/** The same verbs; each waits for this before it begins. */
function after(known: Promise<void>, verbs: Readonly<Record<string, Verb>>): Record<string, Verb> {
  const waits = Object.entries(verbs).map(([name, verb]) => {
    const waiting: Verb = async (...given) => {
      await known
      return verb(...given)
    }
    return [name, waiting] as const
  })
  return Object.fromEntries(waits)
}
