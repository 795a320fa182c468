import { Fault } from '@skerry/fault'
import type { Goal } from '@skerry/host-api'

import { hostStep } from '../host-step.ts'
import { operation, type At, type Step } from '../operation.ts'
import { reconfigureParams, type Reconfigured } from '../params/reconfigure.ts'
import { columnsOf, reserveSizes, sizesBefore, type Sizes } from '../store/sizes.ts'
import { writeClaimed } from '../store/vms.ts'
import { deedOf } from './create.ts'

const asked = ({ task }: At): Reconfigured => (task.input as Reconfigured | null) ?? {}
const wanted = (at: At): Sizes => ({ ...sizesBefore(at.vm), ...asked(at) })

const defined = (at: At, sizes: Sizes): Goal => ({
  be: 'defined',
  deed: { ...deedOf(at), ...sizes },
})

const reserve: Step = {
  name: 'reserve',
  run: (at) => reserveSizes(at.world.db, { vm: at.vm.id, number: at.order.number }, asked(at)),
  async undo({ world, vm, order }) {
    if (vm.sizes_before === null) return
    const before = { ...columnsOf(vm.sizes_before), sizes_before: null }
    await writeClaimed(world.db, vm.id, order.number, before)
  },
}

/** All but the disk, which can be given back. */
const change = hostStep(
  'change',
  (at) => defined(at, { ...wanted(at), diskMiB: sizesBefore(at.vm).diskMiB }),
  (at) => defined(at, sizesBefore(at.vm)),
)

const grown = hostStep('grow', (at) => defined(at, wanted(at)), {
  none: 'a disk only grows',
})

/** A disk only grows: where it may have grown, what it was is what it may be now. */
const grow: Step = {
  ...grown,
  async run(at) {
    const { world, vm, order } = at
    await grown.run(at)
    await writeClaimed(world.db, vm.id, order.number, {
      ...columnsOf(wanted(at)),
      sizes_before: null,
    })
  },
  async undo(at) {
    const { world, vm, order, task } = at
    if (vm.sizes_before === null) return
    const { committed } = await world.db
      .selectFrom('task')
      .select('committed')
      .where('id', '=', task.id)
      .executeTakeFirstOrThrow()
    if (!committed) return
    const before = { ...vm.sizes_before, diskMiB: wanted(at).diskMiB }
    await writeClaimed(world.db, vm.id, order.number, { sizes_before: JSON.stringify(before) })
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
      throw new Fault('invalid', `the disk of VM ${vm.name} has ${vm.disk_mib} MiB and only grows`)
    }
    if (diskMiB > vm.disk_mib && vm.snapshot !== null) {
      throw new Fault('conflict', `VM ${vm.name} has a snapshot of its disk as it is`, {
        hint: 'remove it first',
      })
    }
  },
  from: ['POWERED_OFF'],
  task: { name: 'vappUpdateVm', doing: 'Updating', done: 'Updated' },
  withinSeconds: 600,
  noReturn: 'grow',
  doc: 'Gives the VM other processors, memory or disk, while it is off. A disk only grows.',
  steps: [reserve, change, grow],
})
