import { sql } from 'kysely'

import { placedNowhere, writeClaimed } from '../inventory/vms.ts'
import { operation, type Step } from '../tasks/operation.ts'
import { hostStep } from './host-step.ts'

const gone = hostStep('gone', { goal: 'gone' }, { none: 'deleted disks cannot be restored' })

/**
 * A VM that was never placed is on no host, and a lost host is not called. A deleted VM uses no capacity and cannot be observed.
 */
const clear: Step = {
  ...gone,
  async run(at) {
    const { context, vm, order } = at
    if (vm.host === null) return
    if (vm.lost_reason !== 'LOST') await gone.run(at)
    await writeClaimed(context.db, vm.id, order.fencingToken, {
      ...placedNowhere,
      status: 'RESOLVED',
    })
  },
}

/** A trigger deletes its network cards. */
const forget: Step = {
  name: 'forget',
  rows: true,
  run: ({ context, vm, order }) =>
    writeClaimed(context.db, vm.id, order.fencingToken, {
      deleted_at: sql<Date>`clock_timestamp()`,
    }),
  undo: { none: 'its disks are already deleted' },
}

export const deleteVm = operation({
  name: 'delete',
  kind: 'delete',
  permission: 'vm:edit',
  stores: 'nothing',
  bulk: true,
  forVapp: { order: 'last to first', stopsOnFailure: false },
  from: ['POWERED_OFF', 'SUSPENDED', 'RESOLVED', 'FAILED_CREATION'],
  task: { name: 'vdcDeleteVapp', doing: 'Deleting', done: 'Deleted' },
  withinSeconds: 600,
  noReturn: 'gone',
  doc: 'Deletes the VM and its disks. No operation can be queued after it.',
  steps: [clear, forget],
})
