import { Fault } from '@skerry/fault'
import type { Goal } from '@skerry/host-api'

import type { Sizes } from '../database/tables.ts'
import { writeClaimed } from '../inventory/vms.ts'
import { reconfigureParams, type Reconfigured } from '../params/reconfigure.ts'
import { operation, type StepContext, type Step } from '../tasks/operation.ts'
import { specOf } from './create.ts'
import { hostStep } from './host-step.ts'
import { columnsOf, reserveSizes, sizesBefore } from './sizes.ts'

const requested = ({ task }: StepContext): Reconfigured => (task.input as Reconfigured | null) ?? {}
const wanted = (at: StepContext): Sizes => ({ ...sizesBefore(at.vm), ...requested(at) })

const defined = async (at: StepContext, sizes: Sizes): Promise<Goal> => ({
  goal: 'defined',
  spec: { ...(await specOf(at)), ...sizes },
})

const reserve: Step = {
  name: 'reserve',
  rows: true,
  run: (at) =>
    reserveSizes(
      at.context.db,
      { vm: at.vm.id, fencingToken: at.order.fencingToken },
      requested(at),
    ),
  async undo({ context, vm, order }) {
    if (vm.sizes_before === null) return
    const before = { ...columnsOf(vm.sizes_before), sizes_before: null }
    await writeClaimed(context.db, vm.id, order.fencingToken, before)
  },
}

/** Changes all sizes except the disk; these changes can be undone. */
const change = hostStep(
  'change',
  (at) => defined(at, { ...wanted(at), diskMiB: sizesBefore(at.vm).diskMiB }),
  (at) => defined(at, sizesBefore(at.vm)),
)

const grown = hostStep('grow', (at) => defined(at, wanted(at)), {
  none: 'a disk cannot shrink',
})

/** A disk cannot shrink: if it may have grown, the undo assumes the new size. */
const grow: Step = {
  ...grown,
  async run(at) {
    const { context, vm, order } = at
    await grown.run(at)
    await writeClaimed(context.db, vm.id, order.fencingToken, {
      ...columnsOf(wanted(at)),
      sizes_before: null,
    })
  },
  async undo(at) {
    const { context, vm, order, task } = at
    if (vm.sizes_before === null) return
    const { past_no_return: committed } = await context.db
      .selectFrom('task')
      .select('past_no_return')
      .where('id', '=', task.id)
      .executeTakeFirstOrThrow()
    if (!committed) return
    const before = { ...vm.sizes_before, diskMiB: wanted(at).diskMiB }
    await writeClaimed(context.db, vm.id, order.fencingToken, {
      sizes_before: JSON.stringify(before),
    })
  },
}

export const reconfigure = operation<Reconfigured>({
  name: 'reconfigureVm',
  permission: 'vm:edit',
  since: '5.1',
  action: { path: 'action/reconfigureVm', rel: 'reconfigureVm', document: 'vm' },
  takes: reconfigureParams,
  check(vm, { diskMiB = vm.disk_mib }) {
    if (diskMiB < vm.disk_mib) {
      throw new Fault(
        'invalid',
        `the disk of VM ${vm.name} has ${vm.disk_mib} MiB and cannot shrink`,
      )
    }
    if (diskMiB > vm.disk_mib && vm.snapshot !== null) {
      throw new Fault('conflict', `VM ${vm.name} has a snapshot, so its disk cannot grow`, {
        hint: 'remove the snapshot first',
      })
    }
  },
  stores: 'nothing',
  forVapp: { none: 'the document describes one VM' },
  from: ['POWERED_OFF'],
  task: { name: 'vappUpdateVm', doing: 'Updating', done: 'Updated' },
  withinSeconds: 600,
  noReturn: 'grow',
  doc: 'Changes the processors, memory or disk of the VM, which must be off. A disk cannot shrink.',
  steps: [reserve, change, grow],
})
