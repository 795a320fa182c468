import { isAlreadyStarted, type NearClient, type TemporalClient } from '@skerry/temporal'
import type { VmId } from '@skerry/vm'

/** Where the cells' workers look for work. */
export const TASK_QUEUE = 'operations'

export interface Bell {
  /** "Look at this VM's queue." Carries nothing. */
  ring(vm: VmId): Promise<void>
  /** The same where nobody sits at the queue; who sits there is left alone. */
  seat(vm: VmId): Promise<void>
  /** Rung in vain too often: whoever sits there does not hear, and another takes the place. */
  replace(vm: VmId): Promise<void>
}

const started = (vm: VmId) =>
  ({
    workflowId: `vm/${vm}`,
    taskQueue: TASK_QUEUE,
    args: [vm],
    // A worker that died is noticed after this.
    workflowTaskTimeout: '5s',
  }) as const

/**
 * A lost bell loses nothing: worker/sweep.ts rings for every queue that nobody looks at. Mostly nobody
 * sits at the queue yet, and to start a run costs Temporal less than to signal it too. Over the
 * connection of this cell's own worker, if that is up, the run begins here with the same answer.
 */
export function makeBell(
  temporal: Pick<TemporalClient, 'within'>,
  near: () => NearClient | undefined = () => undefined,
): Bell {
  const start = async (vm: VmId): Promise<void> => {
    const worker = near()
    const options = { ...started(vm), workflowIdConflictPolicy: 'FAIL' } as const
    await (worker ?? temporal).within((client) =>
      client.workflow.start('vmQueue', { ...options, ...(worker && { requestEagerStart: true }) }),
    )
  }
  /** Whether somebody sat there before. */
  const seat = (vm: VmId): Promise<boolean> =>
    start(vm).then(
      () => false,
      (error: unknown) => {
        if (isAlreadyStarted(error)) return true
        throw error
      },
    )
  return {
    async ring(vm) {
      if (!(await seat(vm))) return
      await temporal.within((client) =>
        client.workflow.signalWithStart('vmQueue', { ...started(vm), signal: 'bell' }),
      )
    },
    async seat(vm) {
      await seat(vm)
    },
    async replace(vm) {
      await temporal.within((client) =>
        client.workflow.start('vmQueue', {
          ...started(vm),
          workflowIdConflictPolicy: 'TERMINATE_EXISTING',
        }),
      )
    },
  }
}
