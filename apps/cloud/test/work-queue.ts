// What Temporal would do for one VM, without Temporal: the same functions, one task after the other.
import { Fault } from '@skerry/fault'
import type { VmId } from '@skerry/vm'

import { carryOut } from '../src/durable/carry-out.ts'
import { operations } from '../src/operations.ts'
import { Activities } from '../src/worker/activities.ts'
import type { StepWorld } from '../src/world.ts'

/** Carries out all that waits in the VM's queue. */
export async function workQueue(world: Omit<StepWorld, 'ring'>, vm: VmId): Promise<void> {
  const activities = new Activities(
    { ...world, ring: () => undefined },
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
