import { fileURLToPath } from 'node:url'

import { type RunningWorker, runWorker, type TemporalOptions } from '@skerry/temporal'

import { makeActivities, type WorkflowWorkerContext } from './activities.ts'

/** The task queue of runs. */
export const RUN_QUEUE = 'skerry-workflow'

export interface RunWorkerOptions extends TemporalOptions {
  readonly context: WorkflowWorkerContext
  readonly say: (what: string, cause: unknown) => void
  readonly identity?: string
}

/** Processes runs until it is stopped. `dataConverter` must be the sealing one, the same as in the server that starts runs. */
export function startRunWorker({ context, ...options }: RunWorkerOptions): RunningWorker {
  return runWorker({
    ...options,
    taskQueue: RUN_QUEUE,
    workflows: { path: fileURLToPath(new URL('../durable/workflows.ts', import.meta.url)) },
    activities: makeActivities(context),
  })
}
