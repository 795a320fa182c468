// One action on several VMs of this machine, with an outcome for each of them.
import { explain, request } from '../../api/client.ts'
import { localPath, startOperation, type LocalOperation } from '../../api/machine.ts'
import { findAction, type ActionName, type VmAction } from '../../model/actions.ts'
import {
  failedIn,
  noOutcomes,
  withOutcome,
  type BulkOutcome,
  type BulkRun,
} from '../../model/machine/bulk-outcomes.ts'
import { taskOfOperation, type MachineVm } from '../../model/machine/machine-vm.ts'
import { en } from '../../text/en.ts'
import { notify } from '../notifications.ts'
import { queryClient } from '../query-client.ts'
import { createStore } from '../store.ts'
import { endOf } from './own-operations.ts'

/** What is being done, or was done last; undefined: the user has closed it. */
export const bulkRun = createStore<BulkRun | undefined>(undefined)

/** vmd works on VMs side by side; a machine that starts many at once is slow for all of them. */
const AT_ONCE = 4

export async function startBulk(name: ActionName, vms: readonly MachineVm[]): Promise<void> {
  const run = noOutcomes(name, vms)
  bulkRun.set(run)
  const isShown = (): boolean => bulkRun.get()?.id === run.id
  let outcomes = run
  const report = (vm: string, outcome: BulkOutcome): void => {
    outcomes = withOutcome(outcomes, vm, outcome)
    if (isShown()) bulkRun.set(outcomes)
  }
  const queue = [...vms]
  const work = async (): Promise<void> => {
    for (let vm = queue.shift(); vm !== undefined; vm = queue.shift()) {
      report(vm.id, { state: 'running' })
      report(vm.id, await actOn(findAction(vm.actions, name)))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  for (const key of ['machine', 'vm', 'tasks']) {
    void queryClient.invalidateQueries({ queryKey: [key] })
  }
  if (isShown()) return
  const failed = failedIn(outcomes).length
  const done = `${en.action[name]}: ${en.vms(vms.length - failed)}`
  if (failed === 0) notify({ tone: 'success', title: done })
  else notify({ tone: 'error', title: `${done}, failed for ${failed}` })
}

async function actOn(action: VmAction | undefined): Promise<BulkOutcome> {
  if (!action) return { state: 'failed', reason: 'the VM does not offer this' }
  try {
    const { href, method, body } = action
    const operation = await startOperation(href, { method, ...(body !== undefined && { body }) })
    return operation ? await outcomeOf(operation) : { state: 'done' }
  } catch (error) {
    return { state: 'failed', reason: explain(error) }
  }
}

async function outcomeOf(operation: LocalOperation): Promise<BulkOutcome> {
  const end = await endOf(taskOfOperation(operation))
  if (end === 'succeeded') return { state: 'done' }
  if (end === 'unknown') return { state: 'failed', reason: 'vmd no longer knows this operation' }
  const ended = await request<LocalOperation>(localPath('operations', operation.id))
  return { state: 'failed', reason: taskOfOperation(ended).message ?? 'vmd gives no reason' }
}
