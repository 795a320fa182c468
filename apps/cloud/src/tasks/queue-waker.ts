import { isAlreadyStarted, type NearClient, type TemporalClient } from '@skerry/temporal'
import type { VmId } from '@skerry/vm'

/** The Temporal task queue of the cells' workers. */
export const TASK_QUEUE = 'operations'

export interface QueueWaker {
  /** Wakes the workflow run of this VM's queue, or starts one. Carries no data. */
  wake(vm: VmId): Promise<void>
  /** Starts a run if the queue has none; leaves an existing run alone. */
  ensureRunning(vm: VmId): Promise<void>
  /** Replaces a run that did not react to several wake-ups. */
  restart(vm: VmId): Promise<void>
}

const started = (vm: VmId) =>
  ({
    workflowId: `vm/${vm}`,
    taskQueue: TASK_QUEUE,
    args: [vm],
    // Temporal notices a dead worker after this time.
    workflowTaskTimeout: '5s',
  }) as const

/**
 * A lost wake-up loses nothing: worker/sweep.ts wakes every queue without an active run. Usually a
 * queue has no run yet, and a plain start costs Temporal less than signal-with-start. If this cell's
 * own worker is connected, the response to the start carries the first workflow task (eager start).
 */
export function makeQueueWaker(
  temporal: Pick<TemporalClient, 'within'>,
  near: () => NearClient | undefined = () => undefined,
): QueueWaker {
  const start = async (vm: VmId): Promise<void> => {
    const worker = near()
    const options = { ...started(vm), workflowIdConflictPolicy: 'FAIL' } as const
    await (worker ?? temporal).within((client) =>
      client.workflow.start('vmQueue', { ...options, ...(worker && { requestEagerStart: true }) }),
    )
  }
  /** Returns whether a run existed already. */
  const seat = (vm: VmId): Promise<boolean> =>
    start(vm).then(
      () => false,
      (error: unknown) => {
        if (isAlreadyStarted(error)) return true
        throw error
      },
    )
  return {
    async wake(vm) {
      if (!(await seat(vm))) return
      await temporal.within((client) =>
        client.workflow.signalWithStart('vmQueue', { ...started(vm), signal: 'wake-up' }),
      )
    },
    async ensureRunning(vm) {
      await seat(vm)
    },
    async restart(vm) {
      await temporal.within((client) =>
        client.workflow.start('vmQueue', {
          ...started(vm),
          workflowIdConflictPolicy: 'TERMINATE_EXISTING',
        }),
      )
    },
  }
}
