// Replayed by Temporal: no clock, no chance, no I/O, and nothing of ours but types.
import { proxyActivities } from '@temporalio/workflow'

import type { Reconcilers } from '../reconcile/reconcilers.ts'

// One that fails is not tried for ever: the next one comes soon and reads the world anew.
const passes = proxyActivities<Reconcilers>({
  startToCloseTimeout: '5m',
  heartbeatTimeout: '8s',
  retry: { maximumAttempts: 3, initialInterval: '1s' },
})

/** VMs that are off although they should be on get a task. */
export async function reconcilePower(): Promise<void> {
  await passes.reconcilePower()
}

/** What is owed at a host that is open is paid. */
export async function reconcileDebts(): Promise<void> {
  await passes.reconcileDebts()
}

/** What is counted as placed on a host is what is placed there. */
export async function reconcileCounts(): Promise<void> {
  await passes.reconcileCounts()
}

/** Leases that are over stop, mark or delete what they are of. */
export async function reconcileLeases(): Promise<void> {
  await passes.reconcileLeases()
}

/** What nobody can ask for any more goes. */
export async function keepHouse(): Promise<void> {
  await passes.keepHouse()
}
