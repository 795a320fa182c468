// Carries out the tasks of one VM without Temporal: the same functions, one task after the other.
import { Fault } from '@skerry/fault'
import type { VmId } from '@skerry/vm'

import type { WorkerContext } from '../src/context.ts'
import { carryOut } from '../src/durable/carry-out.ts'
import { operations } from '../src/operations/vm-operations.ts'
import { Activities } from '../src/worker/activities.ts'

/** Carries out all queued tasks of the VM. */
export async function workQueue(context: Omit<WorkerContext, 'wake'>, vm: VmId): Promise<void> {
  const activities = new Activities(
    { ...context, wake: () => undefined },
    operations,
    { perHost: 100, perOrg: 100 },
    () => ({ signal: new AbortController().signal }),
  )
  const next = () => activities.claimTask(vm, `run ${vm}`)
  for (let plan = await next(); plan; plan = await next()) {
    await carryOut(
      plan,
      () => activities,
      (error) => {
        if (!(error instanceof Fault)) throw error
        return error.kind === 'stale' ? 'stale' : { kind: error.kind, message: error.message }
      },
    )
  }
}
