import { fileURLToPath } from 'node:url'

import { type RunningWorker, runWorker, type TemporalOptions } from '@skerry/temporal'

import { makeActivities, type WorkerWorld } from './activities.ts'

/** Where runs are asked for and taken from. */
export const RUN_QUEUE = 'skerry-workflow'

export interface RunWorkerOptions extends TemporalOptions {
  readonly world: WorkerWorld
  readonly say: (what: string, cause: unknown) => void
  readonly identity?: string
}

/** Takes runs for as long as it is not stopped. `dataConverter` must be the sealing one, the same as that of whoever starts runs. */
export function startRunWorker({ world, ...options }: RunWorkerOptions): RunningWorker {
  return runWorker({
    ...options,
    taskQueue: RUN_QUEUE,
    workflows: { path: fileURLToPath(new URL('../durable/workflows.ts', import.meta.url)) },
    activities: makeActivities(world),
  })
}
