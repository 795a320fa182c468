import type { TemporalClient } from '@skerry/temporal'
import type { VmId } from '@skerry/vm'

/** Where the cells' workers look for work. */
export const TASK_QUEUE = 'operations'

export interface Bell {
  /** "Look at this VM's queue." Carries nothing. */
  ring(vm: VmId): Promise<void>
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

/** A lost bell loses nothing: worker/sweep.ts rings for every queue that nobody looks at. */
export function makeBell(temporal: Pick<TemporalClient, 'within'>): Bell {
  return {
    async ring(vm) {
      await temporal.within((client) =>
        client.workflow.signalWithStart('vmQueue', { ...started(vm), signal: 'bell' }),
      )
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
