// Replayed by Temporal: no clock, no randomness, no I/O, and no imports of our own except types.
import { proxyActivities } from '@temporalio/workflow'

import type { Reconcilers } from '../reconcile/reconcilers.ts'

// A failing pass is not retried for ever: the next one comes soon and reads the current state again.
const passes = proxyActivities<Reconcilers>({
  startToCloseTimeout: '5m',
  heartbeatTimeout: '8s',
  retry: { maximumAttempts: 3, initialInterval: '1s' },
})

/** Submits a task for each VM that is off but should be on. */
export async function reconcilePower(): Promise<void> {
  await passes.reconcilePower()
}

/** Executes pending undos at hosts that are reachable. */
export async function reconcilePendingUndo(): Promise<void> {
  await passes.reconcilePendingUndo()
}

/** Corrects the placement counters of hosts. */
export async function reconcileCounts(): Promise<void> {
  await passes.reconcileCounts()
}

/** Gives edge gateways other hosts for those that left, and up to three. */
export async function reconcileEdgeGroups(): Promise<void> {
  await passes.reconcileEdgeGroups()
}

/** Stops, marks or deletes vApps whose leases have expired. */
export async function reconcileLeases(): Promise<void> {
  await passes.reconcileLeases()
}

/** Sums up what organisations used in the hours that are over. */
export async function foldUsage(): Promise<void> {
  await passes.foldUsage()
}

/** Takes the access of users away who have left, according to their identity servers. */
export async function reconcilePeople(): Promise<void> {
  await passes.reconcilePeople()
}

/** Deletes expired rows. */
export async function deleteExpired(): Promise<void> {
  await passes.deleteExpired()
}
