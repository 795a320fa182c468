import { sql } from 'kysely'

import { hostStep } from '../host-step.ts'
import { operation, type Step } from '../operation.ts'
import { nowhere, writeClaimed } from '../store/vms.ts'

const gone = hostStep('gone', { be: 'gone' }, { none: 'disks that were deleted stay deleted' })

/**
 * A VM that was never placed is nowhere to be deleted from, and a lost host is not asked. One that is gone takes no room and
 * cannot be seen.
 */
const clear: Step = {
  ...gone,
  async run(at) {
    const { world, vm, order } = at
    if (vm.host === null) return
    if (vm.fate !== 'LOST') await gone.run(at)
    await writeClaimed(world.db, vm.id, order.number, { ...nowhere, status: 'RESOLVED' })
  },
}

const forget: Step = {
  name: 'forget',
  run: ({ world, vm, order }) =>
    writeClaimed(world.db, vm.id, order.number, { deleted_at: sql<Date>`clock_timestamp()` }),
  undo: { none: 'its disks are gone by now' },
}

export const deleteVm = operation({
  name: 'delete',
  permission: 'vm:edit',
  from: ['POWERED_OFF', 'SUSPENDED', 'RESOLVED', 'FAILED_CREATION'],
  task: { name: 'vdcDeleteVapp', doing: 'Deleting', done: 'Deleted' },
  withinSeconds: 600,
  noReturn: 'gone',
  closes: true,
  doc: 'Deletes the VM and its disks. Nothing can be queued behind it.',
  steps: [clear, forget],
})
