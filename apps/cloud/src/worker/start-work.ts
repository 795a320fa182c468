import { setTimeout as sleep } from 'node:timers/promises'

import { activitySignal, runWorker } from '@skerry/temporal'

import { TASK_QUEUE } from '../bell.ts'
import type { Config } from '../config.ts'
import type { Engines } from '../engines.ts'
import { followHosts } from '../hosts/follow-hosts.ts'
import { recoverHosts } from '../hosts/recover-hosts.ts'
import { operations } from '../operations.ts'
import { reconcilers } from '../reconcile/reconcilers.ts'
import { ensureSchedules } from '../reconcile/schedules.ts'
import type { HostRow } from '../store/hosts.ts'
import { Activities } from './activities.ts'
import { sweep } from './sweep.ts'

const SWEEP_MS = 2000
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
  log: (message: string, cause?: unknown) => void,
): AsyncDisposable {
  const stopping = new AbortController()
  const { signal } = stopping
  const world = { db, ring, hosts: (id: Parameters<typeof links.at>[0]) => links.at(id) }
  const running = () => ({ signal: activitySignal() })
  const verbs = new Activities(world, operations, config.claims ?? CLAIMS, running)
  const { claimTask, runStep, undoStep, turnBack, endTask } = verbs
  const worker = runWorker({
    ...config.temporal,
    taskQueue: TASK_QUEUE,
    identity: config.cell,
    workflows: { path: WORKFLOWS },
    activities: {
      ...{ claimTask, runStep, undoStep, turnBack, endTask },
      ...reconcilers(world, running),
    },
    say: log,
  })
  useWorker(worker)
  const pause = (ms: number, until: AbortSignal) =>
    sleep(ms, undefined, { signal: until }).catch(() => undefined)
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
    again(SCHEDULES_MS, () => ensureSchedules(temporal)),
    followHosts(
      { db, cell: config.cell, log, connect: (row) => links.following(row), pause },
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
